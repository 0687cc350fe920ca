import Benchmark
import Samples
import Vellum

/// The same query among many objects and among few: its time must not grow with the entries that the index skips.
enum GrowthComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .growth, subject: Resident.title, scale: scale,
            sides: [("Vellum", nil), ("Vellum, 10 k", 2), ("SQL by hand", nil), ("SQL by hand, 10 k", nil)],
            rounds: 3000, seconds: 5
        ) { workspace in
            var turns: [Turn] = []
            var byHand: [Turn] = []
            var factories: [ArchivesFactory] = []
            for count in [scale.rawValue, Scale.tenThousand.rawValue] {
                let folder = try StoreFixture<Resident>(workspace: workspace, count: count).folder(.vellum)
                let factory = ArchivesFactory(directory: folder)
                let store = try factory.store(for: Resident.self, memoryLimit: 1.megaByte, diskLimit: .everything)
                let top = Resident.top
                let query = try QueryByHand<Resident>(folder.appendingPathComponent("Archives.sqlite").path, top.sql)
                turns.append(Turn { blackHole(try top.ask(store, Operand())) })
                byHand.append(Turn { blackHole(try query.values { _ in }) })
                factories.append(factory)
            }
            return Course(
                turns: turns + byHand,
                end: {
                    for factory in factories { try factory.close() }
                })
        }
    }
}
