import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct MemoryTierConcurrencyTests {
    /// Fails under ThreadSanitizer, or by its invariants, if the lock is removed.
    @Test func theListStaysConsistentUnderManyThreads() async throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(1000, entries: 50))
        let now = WallInstant(rawValue: 1_767_225_600_000)
        await withTaskGroup { group in
            for worker in UInt64(0)..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: worker)
                    for _ in 0..<5000 {
                        let key = EntryKey("\(Int.random(in: 0..<100, using: &random))")
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0..<5:
                            var notifiesDisk = false
                            if cache.use(key, at: now, notifiesDisk: &notifiesDisk) == nil {
                                let ticket = cache.ticket(forMissed: key)
                                _ = cache.fill(
                                    .init(payload: 1, cost: 10, entryID: 1),
                                    forKey: key,
                                    ticket: ticket,
                                    at: now
                                )
                            }
                        case 5..<8:
                            let cost = Int.random(in: 0..<60, using: &random)
                            _ = cache.store(
                                .init(
                                    payload: 2,
                                    cost: cost,
                                    stamp: cache.stamp(at: now),
                                    entryID: 1,
                                    isDirty: true
                                ),
                                forKey: key
                            )
                        case 8: _ = cache.remove(key)
                        default: _ = cache.takeTouches(limit: 10)
                        }
                    }
                }
            }
        }
        cache.checkInvariants()
        #expect(cache.totals().bytes <= 1000 && cache.totals().entries <= 50)
    }
}
