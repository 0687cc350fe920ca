import Benchmark
import Foundation
import Samples
import Vellum

/// A query that an index answers, compared with hand-written SQL on the same file.
enum QueryComparison<Value: QuerySubject> {
    static func make(_ question: Question<Value>, _ scale: Scale) -> Comparison {
        Comparison(
            work: question.work,
            subject: Value.title,
            scale: scale,
            sides: [
                ("Vellum", nil), ("SQL by hand", question.work == .queryOne ? 1.5 : 1.3),
                ("GRDB", nil),
            ],
            rounds: 3000,
            seconds: 5
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            let folder = try fixture.folder(.vellum)
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Value.self,
                memoryLimit: 1.megaByte,
                diskLimit: .everything
            )
            let byHand = try QueryByHand<Value>(
                folder.appendingPathComponent(StoreFixture<Value>.Kind.vellum.file).path,
                question.sql
            )
            let peer = try Peer<Value>(try fixture.path(.grdb), .crashSafe)

            var operand = Operand()
            let sides: [() throws -> Answer<Value>] = [
                { try question.ask(store, operand) },
                {
                    let bind = { (statement: RawStatement) in question.bind(statement, operand) }
                    return question.work == .queryCount
                        ? .count(try byHand.count(bind)) : .values(try byHand.values(bind))
                },
                { try peer.pool.read { try question.peer($0, operand) } },
            ]
            // Before the measurement: all sides find the same number.
            var found = 0
            for round in 0..<20 {
                operand = question.operand(round)
                let counts = try sides.map { try $0().count }
                precondition(Set(counts).count == 1, "\(question.work): \(counts) for \(operand)")
                found += counts[0]
            }
            precondition(found > 0, "\(question.work) finds nothing.")
            return Course(turns: sides.map { side in Turn { blackHole(try side()) } }) { round in
                operand = question.operand(round)
            } end: {
                try factory.close()
                try peer.close()
            }
        }
    }
}
