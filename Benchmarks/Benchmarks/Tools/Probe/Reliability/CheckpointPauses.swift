import Foundation
import Samples
import Vellum

/// The longest wait of a record during a checkpoint in the background.
enum CheckpointPauses {
    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let folder = try workspace.folder("checkpoints")
        let factory = ArchivesFactory(directory: folder)
        let store = try factory.store(
            for: Person.self,
            memoryLimit: 1.megaByte,
            diskLimit: 8.gigaByte
        )
        try store.record(contentsOf: (0..<50_000).map(Person.init))
        try store.flush()
        let writer = Worker { number in try store.record(Person(number * 7919 % 200_000)) }
        Thread.sleep(forTimeInterval: workspace.isQuick ? 4 : 20)
        let records = writer.stop()
        try factory.close()
        return [
            Figure(
                title:
                    "Record in a loop, a checkpoint every few hundred, median of \(records.count)",
                value: records.median / 1e6,
                unit: "ms"
            ),
            Figure(title: "… its p99.9", value: records.p999 / 1e6, unit: "ms", limit: 1),
            Figure(title: "… its maximum", value: records.maximum / 1e6, unit: "ms", limit: 10),
        ]
    }
}
