import Benchmark
import Samples
import Vellum

/// The same work among many objects, among few and among very many: its time must not grow with the
/// entries that it does not concern.
enum GrowthComparison {
    static let works: [Work] = [.growthHit, .growthRecord, .growthOne, .growthRange, .growth]

    /// - Parameter scales: The number that has a limit first, then the one that it is compared
    ///   with.
    static func make(_ work: Work, _ scales: [Scale]) -> Comparison {
        func names(_ side: String) -> [String] {
            scales.map { $0 == scales[0] ? side : "\(side), \($0.title)" }
        }
        let isQuery = question(work, amongst: scales[0]) != nil
        return Comparison(
            work: work,
            subject: Resident.title,
            scale: scales[0],
            sides: names("Vellum").enumerated().map { ($1, $0 == 1 ? 1.5 : nil) }
                + (isQuery ? names("SQL by hand").map { ($0, nil) } : []),
            rounds: 3000,
            seconds: 5
        ) { workspace in
            var (round, turns, byHand, factories) = (0, [Turn](), [Turn](), [ArchivesFactory]())
            for scale in scales {
                let folder = try StoreFixture<Resident>(workspace: workspace, count: scale.rawValue)
                    .folder(.vellum)
                let factory = ArchivesFactory(directory: folder)
                let store = try factory.store(
                    for: Resident.self,
                    memoryLimit: 1.megaByte,
                    diskLimit: .everything
                )
                factories.append(factory)
                func resident() -> Resident {
                    .make(round * 7_919 % scale.rawValue, of: scale.rawValue)
                }
                if let question = question(work, amongst: scale) {
                    let query = try QueryByHand<Resident>(
                        folder.appendingPathComponent("Archives.sqlite").path,
                        question.sql
                    )
                    turns.append(
                        Turn { blackHole(try question.ask(store, question.operand(round))) }
                    )
                    byHand.append(
                        Turn {
                            blackHole(
                                try query.values { question.bind($0, question.operand(round)) }
                            )
                        }
                    )
                } else if work == .growthHit {
                    var key = ""
                    turns.append(
                        Turn(prepare: { key = resident().id }) {
                            blackHole(try store.access(archiveWithKey: key))
                        }
                    )
                } else {
                    var value = resident()
                    turns.append(Turn(prepare: { value = resident() }) { try store.record(value) })
                }
            }
            return Course(turns: turns + byHand) {
                round = $0
            } end: {
                for factory in factories { try factory.close() }
            }
        }
    }

    private static func question(_ work: Work, amongst scale: Scale) -> Question<Resident>? {
        let asked: [Work: Work] = [
            .growthOne: .queryOne, .growthRange: .queryRange, .growth: .queryTop,
        ]
        return Resident.questions(amongst: scale.rawValue).first { $0.work == asked[work] }
    }
}
