import Foundation
import Samples
import Vellum

/// The length of the write-ahead log with one reader and one writer in a loop.
enum LogGrowth {
    static func measure(_ workspace: Workspace) throws {
        let folder = try workspace.folder("log")
        let factory = ArchivesFactory(directory: folder)
        // Too little memory, so that reads go to the disk.
        let store = try factory.store(
            for: Person.self,
            memoryLimit: 1.kiloByte,
            diskLimit: 8.gigaByte
        )
        try store.record(contentsOf: (0..<entries).map(Person.init))

        let log = folder.appendingPathComponent("Archives.sqlite-wal").path
        let writer = Worker { number in try store.record(Person(number % (2 * entries))) }
        let reader = Worker { number in
            _ = try store.access(archiveWithKey: Person.key(number * 7_919 % entries))
        }
        var longest = 0.0
        let end = Date().addingTimeInterval(workspace.isQuick ? 3 : 10)
        while Date() < end {
            let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
            longest = max(longest, Double(size ?? 0) / 1_048_576)
            usleep(1000)
        }
        let (recorded, read) = (writer.stop(), reader.stop())
        try factory.close()

        try workspace.write(
            [
                Figure(
                    title: "Longest -wal under a reader in a loop and a writer in a loop",
                    value: longest,
                    unit: "MiB",
                    limit: 8
                ),
                Figure(
                    title: "… a record meanwhile, median of \(recorded.count)",
                    value: recorded.median / 1000,
                    unit: "µs"
                ),
                Figure(title: "… its p99.9", value: recorded.p999 / 1000, unit: "µs"),
                Figure(title: "… its maximum", value: recorded.maximum / 1000, unit: "µs"),
                Figure(
                    title: "… a disk hit meanwhile, median of \(read.count)",
                    value: read.median / 1000,
                    unit: "µs"
                ),
                Figure(title: "… its p99.9", value: read.p999 / 1000, unit: "µs"),
                Figure(title: "… its maximum", value: read.maximum / 1000, unit: "µs"),
            ],
            named: "1 log"
        )
    }

    private static let entries = 20_000
}
