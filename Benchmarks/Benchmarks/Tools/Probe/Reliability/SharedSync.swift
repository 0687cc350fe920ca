import Foundation
import Samples
import Vellum

/// Power-safe records of eight concurrent callers compared with one: concurrent callers share a
/// sync.
enum SharedSync {
    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let rates = try [1, 8].map { callers in
            // Alternately, and the median, because the speed of a disk varies.
            try Distribution((0..<3).map { try rate(of: callers, workspace, $0) }).median
        }
        return [
            Figure(title: "Power-safe records of one caller", value: rates[0], unit: "/s"),
            Figure(title: "… of eight at once", value: rates[1], unit: "/s"),
            Figure(
                title: "… the rate of one beside that of eight",
                value: rates[0] / rates[1],
                unit: "x",
                limit: 0.25
            ),
        ]
    }

    /// Records per second.
    private static func rate(of callers: Int, _ workspace: Workspace, _ round: Int) throws -> Double
    {
        let folder = try workspace.folder("sync-\(callers)-\(round)")
        let factory = ArchivesFactory(directory: folder, durability: .powerSafe)
        let store = try factory.store(
            for: Person.self,
            memoryLimit: 1.megaByte,
            diskLimit: 1.gigaByte
        )
        try store.record(Person(-1))
        let begin = Date()
        let workers = (0..<callers).map { caller in
            Worker { number in try store.record(Person(caller * 1_000_000 + number)) }
        }
        Thread.sleep(forTimeInterval: workspace.isQuick ? 1 : 3)
        let count = workers.reduce(0) { $0 + $1.stop().count }
        let seconds = Date().timeIntervalSince(begin)
        try factory.close()
        try FileManager.default.removeItem(at: folder)
        return Double(count) / seconds
    }
}
