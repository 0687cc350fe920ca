import Synchronization
import Testing
import VellumCore
import VellumTestSupport

/// The parts of a memory cache are evicted as one: in exact order of use, whatever threads use it.
@Suite(.timeLimit(.minutes(1)))
struct OrderOfUseTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    /// The order in which the entries go, the oldest first.
    private func evictOneByOne(_ cache: MemoryCache<Int>) -> [Int] {
        var order: [Int] = []
        while cache.totals().bytes > 0 { order += cache.trim(toBytes: cache.totals().bytes - 1).payloads }
        return order
    }

    private func store(_ number: Int, in cache: MemoryCache<Int>) -> [Int] {
        let item = MemoryCache<Int>.Item(payload: number, cost: 1, stamp: cache.stamp(at: now), entryID: Int64(number + 1))
        return cache.store(item, forKey: EntryKey("\(number)")).payloads
    }

    private func isHit(_ number: Int, in cache: MemoryCache<Int>) -> Bool {
        var notifiesDisk = false
        return cache.use(EntryKey("\(number)"), at: now, notifiesDisk: &notifiesDisk) != nil
    }

    /// Beside a list of numbers, the most recently used last.
    @Test(arguments: UInt64(0)..<12)
    func theLeastRecentlyUsedOfAllPartsIsEvicted(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...60, using: &random)
        let cache = MemoryCache<Int>(capacity: try Capacity(DataSize(bytes: .max), entries: limit))
        var model: [Int] = []
        for _ in 0..<4000 {
            let number = Int.random(in: 0..<100, using: &random)
            let index = model.firstIndex(of: number)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                #expect(isHit(number, in: cache) == (index != nil))
                if let index { model.append(model.remove(at: index)) }
            case 4..<7:
                var gone: [Int] = []
                if let index { gone.append(model.remove(at: index)) }
                model.append(number)
                if model.count > limit { gone.append(model.removeFirst()) }
                #expect(store(number, in: cache) == gone)
            default:
                #expect(cache.remove(EntryKey("\(number)")).payloads == (index == nil ? [] : [number]))
                if let index { model.remove(at: index) }
            }
            #expect(cache.totals().entries == model.count)
        }
        cache.checkInvariants()
        #expect(cache.newest().map(\.item.payload) == model.reversed())
        #expect(evictOneByOne(cache) == model)
    }

    /// If all hits of an entry had ended before a hit of another began, it goes first.
    @Test(arguments: UInt64(0)..<6)
    func hitsOfSeveralThreadsAreInTheOrderInWhichTheyHappened(_ seed: UInt64) throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        let count = 200
        for number in 0..<count { _ = store(number, in: cache) }
        let clock = Turns()
        let threads = (0..<4).map { thread in
            OnThread {
                var random = SeededGenerator(seed: seed &* 4 &+ UInt64(thread))
                var last = [(begin: Int, end: Int)](repeating: (0, 0), count: count)
                for _ in 0..<5000 {
                    let number = Int.random(in: 0..<count, using: &random)
                    let begin = clock.next()
                    let found = isHit(number, in: cache)
                    precondition(found, "Nothing is evicted.")
                    last[number] = (begin, clock.next())
                }
                return last
            }
        }
        // The last hit of an entry began no earlier than the last that began, and ended no later than the last that ended.
        var hits = [(begin: Int, end: Int)](repeating: (0, 0), count: count)
        for last in threads.map({ $0.result() }) {
            for number in 0..<count {
                hits[number] = (max(hits[number].begin, last[number].begin), max(hits[number].end, last[number].end))
            }
        }
        let order = evictOneByOne(cache)
        #expect(order.count == count)
        var latest = 0
        for number in order {
            #expect(hits[number].end >= latest, "\(number) went after an entry whose last hit began later (seed \(seed)).")
            latest = max(latest, hits[number].begin)
        }
    }

    /// Hits of the same entries again and again do not keep the uses of others from the disk.
    @Test func touchesOfEveryPartAreTakenInTurn() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        let count = 400
        for number in 0..<count { _ = store(number, in: cache) }
        for number in 0..<count { #expect(isHit(number, in: cache)) }
        var taken: Set<Int64> = []
        for _ in 0..<count where taken.count < count {
            let touches = cache.takeTouches(limit: 10)
            cache.finishTouches(written: true)
            taken.formUnion(touches.map(\.entryID))
            for touch in touches { #expect(isHit(Int(touch.entryID) - 1, in: cache)) }
        }
        #expect(taken.count == count)
    }

    /// Threads that insert, hit and remove in a full cache leave it within its limits, and exceed them by what the others insert at most.
    @Test func severalThreadsKeepTheLimits() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(50.byte, entries: 40))
        let count = 4
        let threads = (0..<count).map { thread in
            OnThread {
                var random = SeededGenerator(seed: UInt64(thread))
                var (evicted, most) = (0, 0)
                for _ in 0..<5000 {
                    let number = Int.random(in: 0..<100, using: &random)
                    evicted += isHit(number, in: cache) ? 0 : store(number, in: cache).count
                    most = max(most, cache.totals().entries)
                }
                return (evicted: evicted, most: most)
            }
        }
        let results = threads.map { $0.result() }
        let evicted = results.reduce(0) { $0 + $1.evicted }
        for result in results { #expect(result.most <= 40 + count - 1) }
        cache.checkInvariants()
        #expect(cache.totals().entries == 40)
        #expect(evicted > 0)
    }

    /// Numbers the beginnings and ends of hits.
    private final class Turns: Sendable {
        private let last = Atomic(0)

        func next() -> Int { last.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
    }
}
