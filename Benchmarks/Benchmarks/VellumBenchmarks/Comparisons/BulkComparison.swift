import Foundation
import Samples
import Vellum

/// A thousand records in one transaction.
enum BulkComparison<Value: Subject> {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .bulk,
            subject: Value.title,
            scale: scale,
            sides: [
                ("Vellum", nil), ("same statements", 1.2), ("leanest table", nil), ("GRDB", nil),
            ],
            batch: 1000,
            rounds: 200,
            seconds: 8
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            let (folder, copy) = (try fixture.folder(.vellum), try fixture.path(.vellum, "same"))
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Value.self,
                memoryLimit: 16.megaByte,
                diskLimit: .everything
            )
            let same = try SameSchema<Value>(copy, .crashSafe)
            let lean = try LeanTable<Value>(try fixture.path(.lean), .crashSafe)
            let peer = try Peer<Value>(try fixture.path(.grdb), .crashSafe)

            let fresh = Scatter.fresh()
            var values: [Value] = []
            let turns = [
                Turn { try store.record(contentsOf: values) }, Turn { try same.record(values) },
                Turn { try lean.record(values) },
                Turn { try peer.record(values) },
            ]
            return Course(turns: turns) { round in
                values = (0..<1000).map { Value.make(fresh + round * 1000 + $0) }
            } end: {
                try factory.close()
                same.close()
                lean.close()
                try peer.close()
            }
        }
    }
}
