import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.timeLimit(.minutes(60)))
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
                                _ = cache.fill(1, forKey: key, cost: 10, row: 1, validity: .forever, ticket: ticket, at: now)
                            }
                        case 5..<8:
                            _ = cache.store(
                                2, forKey: key, cost: .random(in: 0..<60, using: &random), stamp: cache.stamp(at: now), row: 1,
                                validity: .forever, wasPresent: true)
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
