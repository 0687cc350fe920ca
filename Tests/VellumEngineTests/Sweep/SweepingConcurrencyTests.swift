import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Reclaiming expired entries while writers, readers and the clock are active.
@Suite(.ownThreads)
struct SweepingConcurrencyTests {
    @Test(arguments: [Durability.relaxed, .crashSafe])
    func sweepingDuringReadsAndWritesKeepsValidEntries(_ durability: Durability) async throws {
        let setup = try Setup()
        let store = try setup.store(memory: 20.kiloByte, durability: durability)
        let file = try setup.open()
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for _ in 0..<120 {
                        let key = EntryKey("\(worker) \(Int.random(in: 0..<50, using: &random))")
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0:
                            try store.record(
                                Data(1, count: 200),
                                forKey: key,
                                expiration: .after(.seconds(Int.random(in: 0...20)))
                            )
                        case 1:
                            try store.record(
                                Data(1, count: 200),
                                forKey: key,
                                expiration: .unused(for: .seconds(5))
                            )
                        case 2: _ = try store.value(forKey: key)
                        default:
                            // Only this thread writes this key, and it never expires.
                            let own = EntryKey("kept \(worker)")
                            try store.record(Data(2, count: 100), forKey: own)
                            #expect(try store.value(forKey: own) != nil)
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 {
                    setup.clock.advance(by: .seconds(1))
                    file.sweepEverything()
                }
            }
            try await group.waitForAll()
        }
        setup.clock.advance(by: .seconds(100))
        file.sweepEverything()
        #expect(Set(try store.keys().map(\.normalized)) == Set((0..<4).map { "kept \($0)" }))
        #expect(try store.statistics().disk == StorageUsage(entries: 4, bytes: 400))
        // Where one worker ended long before another, the other's entries have evicted its own.
        for worker in 0..<4 { _ = try store.value(forKey: EntryKey("kept \(worker)")) }
        #expect(try store.statistics().memory == StorageUsage(entries: 4, bytes: 400))
        #expect(try file.verify().isIntact)
    }
}
