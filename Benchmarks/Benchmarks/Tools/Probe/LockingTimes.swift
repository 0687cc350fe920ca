import Foundation
import Samples
import Vellum

/// Records, hits of the disk and misses of a file that is shared, and of one that its process keeps locked, in turns: the time of the processor on
/// the calling thread, which other programs disturb least.
enum LockingTimes {
    private static let (count, rounds) = (20_000, 5)

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        var times: [String: [Double]] = [:]
        for round in 0..<rounds {
            let modes: [LockingMode] = round % 2 == 0 ? [.shared, .exclusive] : [.exclusive, .shared]
            for mode in modes {
                try measure(workspace, mode) { times["\($0) \(mode)", default: []].append($1) }
            }
        }
        let decode = Distribution(times["decode shared"] ?? []).median
        var figures = [Figure(title: "The decode of one object", value: decode, unit: "µs")]
        for work in ["a new key", "over what is there", "a hit of the disk", "a miss"] {
            let shared = Distribution(times["\(work) shared"] ?? []).median
            let exclusive = Distribution(times["\(work) exclusive"] ?? []).median
            figures.append(Figure(title: "A shared file: \(work)", value: shared, unit: "µs"))
            figures.append(Figure(title: "… kept locked", value: exclusive, unit: "µs", limit: work == "a miss" ? 0.5 : nil))
            figures.append(Figure(title: "… of the shared one", value: exclusive / shared, unit: "×"))
            guard work == "a hit of the disk" else { continue }
            // The time of a point read by SQLite alone: `speed.md`, 2.
            figures.append(Figure(title: "… shared, of 2.7 µs and a decode", value: shared / (2.7 + decode), unit: "×", limit: 1.2))
            figures.append(Figure(title: "… kept locked, of 1 µs and a decode", value: exclusive / (1 + decode), unit: "×", limit: 1.5))
        }
        return figures
    }

    private static func measure(_ workspace: Workspace, _ mode: LockingMode, _ report: (String, Double) -> Void) throws {
        let folder = try workspace.folder("locking-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder)
        factory.lockingMode = mode
        let store = try factory.store(for: HitTimes.Reading.self, memoryLimit: 2.kiloByte, diskLimit: 1.gigaByte)
        func time(_ work: String, _ body: (Int) throws -> Void) rethrows {
            let start = processorTime
            for number in 0..<count { try body(number &* 7919 % count) }
            report(work, (processorTime - start) * 1e6 / Double(count))
        }
        try time("a new key") { try store.record(HitTimes.Reading($0)) }
        try time("over what is there") { try store.record(HitTimes.Reading($0)) }
        try store.flush()
        let found = { (number: Int) in try store.access(archiveWithKey: HitTimes.Reading.key(number)) != nil }
        for number in 0..<count { _ = try found(number) }
        try time("a hit of the disk") { guard try found($0) else { throw CocoaError(.fileReadCorruptFile) } }
        try time("a miss") { guard try !found(count + $0) else { throw CocoaError(.fileReadCorruptFile) } }
        let data = try HitTimes.Reading(1).archive()
        try time("decode") { _ in _ = try HitTimes.Reading.deArchive(fromData: data) }
        try factory.close()
    }

    /// Of this thread, in seconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
