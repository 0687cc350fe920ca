import Foundation
import Samples
import Vellum

/// The prototype of a journal beside the same store: bursts, new keys, and records over old values.
enum JournalTimes {
    static func measure(_ workspace: Workspace) throws -> [Figure] {
        var figures: [Figure] = []
        for (name, count, total) in cases(isQuick: workspace.isQuick) {
            var sides: [Bool: [Side]] = [:]
            // In turns, each on a new copy of nothing, so that neither gets a file that the other has grown.
            for round in 0..<(count > 100_000 ? 2 : 4) {
                for hasJournal in round % 2 == 0 ? [false, true] : [true, false] {
                    sides[hasJournal, default: []].append(try measure(workspace, hasJournal, count, total))
                }
            }
            guard let plain = sides[false], let journaled = sides[true] else { continue }
            func median(_ sides: [Side], _ figure: (Side) -> Double) -> Double { Distribution(sides.map(figure)).median }
            func add(_ what: String, _ unit: String, _ figure: (Side) -> Double) {
                let (old, new) = (median(plain, figure), median(journaled, figure))
                figures.append(Figure(title: "\(name), \(what)", value: old, unit: unit))
                figures.append(Figure(title: "… with a journal", value: new, unit: unit))
                figures.append(Figure(title: "… times faster", value: old / new, unit: "×"))
            }
            add("a record", "µs") { $0.perRecord }
            add("a record, and all are in the store", "µs") { $0.perRecordInStore }
            add("p99.9", "µs") { $0.times.p999 }
            add("maximum", "µs") { $0.times.maximum }
        }
        return figures
    }

    /// How many entries are there before (0: every key is new), and how many are recorded.
    private static func cases(isQuick: Bool) -> [(name: String, count: Int, total: Int)] {
        let small = [("Burst of 10,000 new keys", 0, 10_000), ("New keys", 0, 200_000), ("Over 20 k", 20_000, 100_000)]
        return isQuick ? small : small + [("Over 1 M", 1_000_000, 100_000)]
    }

    private struct Side {
        var perRecord: Double
        var perRecordInStore: Double
        var times: Distribution
    }

    private static func measure(_ workspace: Workspace, _ hasJournal: Bool, _ count: Int, _ total: Int) throws -> Side {
        let folder = try workspace.folder("journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder)
        let store = try factory.store(for: JournaledStore.Record.self, memoryLimit: 1.megaByte, diskLimit: 8.gigaBytes)
        for start in stride(from: 0, to: count, by: 10_000) {
            try store.record(contentsOf: (start..<start + 10_000).map { try record($0) })
        }
        try store.flush()
        let journal = hasJournal ? try JournaledStore(store, in: folder) : nil
        var times: [Double] = []
        times.reserveCapacity(total)
        let clock = ContinuousClock()
        let began = clock.now
        for turn in 0..<total {
            let start = DispatchTime.now().uptimeNanoseconds
            let record = try record(count == 0 ? turn : turn &* 7919 % count)
            if let journal { try journal.record(record) } else { try store.record(record) }
            times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000)
        }
        let acknowledged = clock.now - began
        try journal?.wait()
        let stored = clock.now - began
        guard try store.count() == max(count, count == 0 ? total : 0) else { throw CocoaError(.fileReadCorruptFile) }
        try journal?.close()
        try factory.close()
        func microseconds(_ duration: Duration) -> Double { duration / .microseconds(1) / Double(total) }
        return Side(perRecord: microseconds(acknowledged), perRecordInStore: microseconds(stored), times: Distribution(times))
    }

    private static func record(_ number: Int) throws -> JournaledStore.Record {
        let reading = HitTimes.Reading(number)
        return .init(key: reading.id, bytes: try reading.archive())
    }
}
