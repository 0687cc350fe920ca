import Synchronization
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// A memory cache evicts in exact order of use, as far as C4 says so.
@Suite(.ownThreads)
struct OrderOfUseTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    /// The order in which the entries go, the oldest first.
    private func evictOneByOne(_ cache: MemoryCache<Int>) -> [Int] {
        var order: [Int] = []
        while cache.totals().bytes > 0 {
            order += cache.trim(toBytes: cache.totals().bytes - 1).payloads
        }
        return order
    }

    private func store(_ number: Int, in cache: MemoryCache<Int>) -> [Int] {
        let item = MemoryCache<Int>.Item(
            payload: number,
            cost: 1,
            stamp: cache.stamp(at: now),
            entryID: Int64(number + 1)
        )
        return cache.store(item, forKey: EntryKey("\(number)")).payloads
    }

    private func isHit(_ number: Int, in cache: MemoryCache<Int>) -> Bool {
        var notifiesDisk = false
        return cache.use(EntryKey("\(number)"), at: now, notifiesDisk: &notifiesDisk) != nil
    }

    /// Beside a list of numbers, the most recently used last.
    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 3)))
    func theLeastRecentlyUsedIsEvicted(_ seed: UInt64) throws {
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
                #expect(
                    cache.remove(EntryKey("\(number)")).payloads == (index == nil ? [] : [number])
                )
                if let index { model.remove(at: index) }
            }
            #expect(cache.totals().entries == model.count)
        }
        cache.checkInvariants()
        #expect(cache.newest().map(\.item.payload) == model.reversed())
        #expect(evictOneByOne(cache) == model)
    }

    /// Among threads: if all uses of an entry had ended in a tick of the clock before one in which
    /// another was used, it goes first.
    @Test(arguments: 0..<UInt64(LongRun.number(4, usually: 2)))
    func usesOfSeveralThreadsAreInTheOrderOfTheTicks(_ seed: UInt64) throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        let count = 200
        for number in 0..<count { _ = store(number, in: cache) }
        let clock = Ticks()
        let threads = (0..<4).map { thread in
            OnThread {
                var random = SeededGenerator(seed: seed &* 4 &+ UInt64(thread))
                var last = [(begin: Int, end: Int)](repeating: (0, 0), count: count)
                for _ in 0..<5000 {
                    if Int.random(in: 0..<4, using: &random) == 0 { clock.advance() }
                    let number = Int.random(in: 0..<count, using: &random)
                    let begin = clock.now
                    var notifiesDisk = false
                    let found = cache.use(
                        EntryKey("\(number)"),
                        at: self.now.advanced(byMilliseconds: Int64(begin)),
                        notifiesDisk: &notifiesDisk
                    )
                    precondition(found == number, "Nothing is evicted.")
                    last[number] = (begin, clock.now)
                }
                return last
            }
        }
        var uses = [(begin: Int, end: Int)](repeating: (0, 0), count: count)
        for last in threads.map({ $0.result() }) {
            for number in 0..<count {
                uses[number] = (
                    max(uses[number].begin, last[number].begin),
                    max(uses[number].end, last[number].end)
                )
            }
        }
        let order = evictOneByOne(cache)
        #expect(order.count == count)
        var latest = 0
        for number in order {
            #expect(
                uses[number].end >= latest,
                "\(number) went after an entry that was used in a later tick (seed \(seed))."
            )
            latest = max(latest, uses[number].begin)
        }
    }

    /// What one thread used last stays longest, whatever others use in the same tick.
    @Test func theUsesOfOneThreadAreInOrderBesideThoseOfOthers() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        let count = 400
        for number in 0..<count { _ = store(number, in: cache) }
        let threads = (0..<4).map { thread in
            OnThread {
                var random = SeededGenerator(seed: UInt64(thread))
                // Each has a quarter of the entries.
                var order = (0..<count / 4).map { $0 * 4 + thread }
                for _ in 0..<5000 {
                    let number = order.remove(at: Int.random(in: 0..<order.count, using: &random))
                    let found = self.isHit(number, in: cache)
                    precondition(found, "Nothing is evicted.")
                    order.append(number)
                }
                return order
            }
        }
        let orders = threads.map { $0.result() }
        let evicted = evictOneByOne(cache)
        for (thread, order) in orders.enumerated() {
            #expect(evicted.filter { $0 % 4 == thread } == order)
        }
    }

    /// Between two uses of different threads something was stored: then their order is exact, too.
    @Test func whatWasUsedAfterAWriteStaysLonger() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        for number in 0..<10 { _ = store(number, in: cache) }
        let numbers = [3, 1, 4, 5, 9, 2, 6, 8, 7, 0]
        for number in numbers {
            #expect(OnThread { self.isHit(number, in: cache) }.result())
            _ = store(100 + number, in: cache)
        }
        let order = evictOneByOne(cache)
        #expect(order.filter { $0 < 100 } == numbers)
        // Each use is also later than what was stored before it.
        for (written, used) in zip(numbers, numbers.dropFirst()) {
            #expect(
                order.firstIndex(of: 100 + written) ?? .max < order.firstIndex(of: used) ?? .min
            )
        }
    }

    /// However many entries have been used since one was evicted, the next one to go is the least
    /// recently used.
    @Test func anEvictionAfterManyUsesFindsTheOldest() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(DataSize(bytes: .max), entries: 1000))
        for number in 0..<1001 { _ = store(number, in: cache) }
        for number in (501...1000).reversed() { #expect(isHit(number, in: cache)) }
        for number in 1...500 { #expect(isHit(number, in: cache)) }
        #expect(store(1001, in: cache) == [1000])
        #expect(store(1002, in: cache) == [999])
    }

    /// A write takes its stamp before it is on disk, and stores its value after that.
    @Test func aUseDuringAWriteStaysTheLastUse() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        for number in 0..<3 { _ = store(number, in: cache) }
        let item = MemoryCache<Int>.Item(
            payload: 0,
            cost: 1,
            stamp: cache.stamp(at: now),
            entryID: 1,
            isDirty: true
        )
        #expect(isHit(1, in: cache) && isHit(0, in: cache))
        let used = cache.peek("0")?.stamp
        _ = cache.store(item, forKey: "0")
        #expect(cache.peek("0")?.stamp == used && cache.peek("0")?.isDirty == true)
        #expect(evictOneByOne(cache) == [2, 1, 0])
    }

    /// Uses that are noted and not taken fill no memory: entries that come and go are noted once.
    @Test func notedUsesOfEntriesThatAreGoneAreForgotten() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(DataSize(bytes: .max), entries: 10))
        for number in 0..<LongRun.number(20_000, usually: 8000) {
            let item = MemoryCache<Int>.Item(
                payload: number,
                cost: 1,
                stamp: cache.stamp(at: now),
                entryID: Int64(number % 50 + 1),
                isDirty: true
            )
            _ = cache.store(item, forKey: EntryKey("\(number % 50)"))
            #expect(isHit(number % 50, in: cache))
        }
        // Those that are there, and those that were evicted with a use that is not written.
        #expect(cache.pendingTouchCount <= 2 * 10 + 4096 + 256 + 50)
        #expect(cache.pendingTouches().count <= 60)
    }

    /// Hits of the same entries again and again do not keep the uses of others from the disk.
    @Test func touchesAreTakenInTurn() throws {
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

    /// Threads that insert, hit and remove in a full cache leave it within its limits, and never
    /// exceed them.
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
        for result in results { #expect(result.most <= 40) }
        cache.checkInvariants()
        #expect(cache.totals().entries == 40)
        #expect(evicted > 0)
    }

    /// A clock that the test's threads set forward.
    private final class Ticks: Sendable {
        private let tick = Atomic(0)
        var now: Int { tick.load(ordering: .sequentiallyConsistent) }
        func advance() { tick.add(1, ordering: .sequentiallyConsistent) }
    }
}
