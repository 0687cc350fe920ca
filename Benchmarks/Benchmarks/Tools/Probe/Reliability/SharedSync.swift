import Foundation
import Samples
import Vellum

/// Power-safe records of eight callers at once beside those of one: they share the sync that they wait for.
enum SharedSync {
    static func measure(_ desk: Desk) throws -> [Figure] {
        let rates = try [1, 8].map { callers in
            // By turns, and the median: a disk has moods.
            try Distribution((0..<3).map { try rate(of: callers, desk, $0) }).median
        }
        return [
            Figure(title: "Power-safe records of one caller", value: rates[0], unit: "/s"),
            Figure(title: "… of eight at once", value: rates[1], unit: "/s"),
            Figure(title: "… the rate of one beside that of eight", value: rates[0] / rates[1], unit: "x", limit: 0.25),
        ]
    }

    /// Records a second.
    private static func rate(of callers: Int, _ desk: Desk, _ round: Int) throws -> Double {
        let folder = try desk.folder("sync-\(callers)-\(round)")
        let factory = ArchivesFactory(directory: folder, durability: .powerSafe)
        let store = try factory.store(for: Person.self, memoryLimit: 1.megaByte, diskLimit: 1.gigaByte)
        try store.record(Person(-1))
        let begin = Date()
        let workers = (0..<callers).map { caller in
            Worker { number in try store.record(Person(caller * 1_000_000 + number)) }
        }
        Thread.sleep(forTimeInterval: desk.isQuick ? 1 : 3)
        let count = workers.reduce(0) { $0 + $1.stop().count }
        let seconds = Date().timeIntervalSince(begin)
        try factory.close()
        try FileManager.default.removeItem(at: folder)
        return Double(count) / seconds
    }
}
