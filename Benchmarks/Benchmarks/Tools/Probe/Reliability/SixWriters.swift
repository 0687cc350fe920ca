import Foundation
import Samples
import Vellum

/// The longest write-ahead log while six processes record values of 50 KB without a pause.
enum SixWriters {
    struct Page: ArchiveCodable {
        static let archiveName = "Page"
        var primaryKey: String { name }
        var name: String
        var content: Data
    }

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let folder = try workspace.folder("six-writers")
        defer { try? FileManager.default.removeItem(at: folder) }
        let seconds = workspace.isQuick ? 4 : 15
        let children = try (0..<6).map { number in
            let child = Process()
            child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            child.arguments = ["flood", folder.path, "\(number)", "\(seconds)"]
            try child.run()
            return child
        }
        let log = folder.appendingPathComponent("Archives.sqlite-wal").path
        var longest = 0.0
        while children.contains(where: \.isRunning) {
            let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
            longest = max(longest, Double(size ?? 0) / 1_048_576)
            usleep(2000)
        }
        return [
            Figure(
                title: "Longest -wal under six processes that record 50 KB in a loop",
                value: longest,
                unit: "MiB",
                limit: 8
            )
        ]
    }

    /// The child's process.
    static func flood(_ arguments: [String]) throws {
        let store = try ArchivesFactory(directory: URL(fileURLWithPath: arguments[0]))
            .store(for: Page.self, memoryLimit: 1.kiloByte, diskLimit: 1.gigaByte)
        let end = Date().addingTimeInterval(Double(arguments[2]) ?? 1)
        var count = 0
        while Date() < end {
            count += 1
            try store.record(
                Page(
                    name: "\(arguments[1]) \(count % 50)",
                    content: Data(repeating: UInt8(count & 255), count: 50_000)
                )
            )
        }
    }
}
