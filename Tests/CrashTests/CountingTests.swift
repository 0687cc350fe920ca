import CrashScript
import Foundation
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Updates of several processes, one of which is killed again and again.
@Suite(.ownThreads(.longSuite))
struct CountingTests {
    /// Four processes with two threads each.
    @Test func eachAcknowledgedUpdateCountsOnce() throws {
        let folder = try TemporaryDirectory()
        let seed = ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 6
        var random = SeededGenerator(seed: seed)
        let staying = try (0..<3).map { try Spawned(["count", folder.url.path, "stays\($0)"]) }
        for child in staying { #expect(child.line() == "begins") }
        for number in 0..<Tally.count(600, sample: 5) {
            let child = try Spawned(["count", folder.url.path, "killed\(number)"])
            #expect(child.line() == "begins")
            child.kill(afterMicroseconds: Int.random(in: 0...60_000, using: &random))
            #expect(child.end().end == .killed(SIGKILL))
        }
        try Counting.stop(in: folder.url)
        for child in staying {
            let (end, lines) = child.end()
            #expect(end == .exited(0), "\(lines)")
        }

        let acknowledged = try Counting.acknowledged(in: folder.url)
        let store = try ArchivesFactory(directory: folder.url).store(for: Counts.self)
        var total = 0
        for number in 0..<Counts.keys {
            let counts = try store.access(archiveWithKey: "\(number)") ?? Counts(key: "")
            #expect(counts.total == counts.by.values.reduce(0, +))
            for (name, all) in acknowledged {
                let found = counts.by[name, default: 0]
                // One that was killed may not have learned of its last.
                #expect(
                    found == all[number] || (name.hasPrefix("killed") && found == all[number] + 1),
                    "\(name), key \(number)"
                )
            }
            total += counts.total
        }
        print("FIGURES updates=\(total) of=\(acknowledged.count)")
        #expect(total > 0)
        try store.close()
    }
}
