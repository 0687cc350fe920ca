import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct LRUListTests {
    /// A list, which is not copyable, as what can be passed to an expectation. Its hash makes some
    /// keys collide.
    private final class List {
        typealias Item = LRUList<String, Int, Void>.Item
        private var list = LRUList<String, Int, Void>()

        private static func hash(_ key: String) -> UInt64 {
            UInt64(key.utf8.reduce(0) { $0 &* 31 &+ UInt32($1) } % 5000 &* 0x9E37_79B9) << 32
        }

        var count: Int { list.count }
        var totalCost: Int { list.totalCost }

        func slot(of key: String) -> Int32? { list.slot(of: key, hash: Self.hash(key)) }
        func newest(_ limit: Int = .max) -> [(key: String, item: Item)] { list.newest(limit) }
        func insert(_ item: Item, forKey key: String) -> Item? {
            list.insert(item, forKey: key, hash: Self.hash(key)).old
        }
        func remove(_ key: String) -> Item? { slot(of: key).flatMap { list.remove($0)?.item } }
        func removeAll() -> [Int] { list.removeAll().map(\.payload) }
        func use(_ slot: Int32, _ stamp: UseStamp) { _ = list.use(slot, stamp, marksDirty: false) }
        func checkInvariants() { list.checkInvariants() }

        /// - Parameter pause: What others do between two turns.
        /// - Returns: The key, and how many turns it took.
        func oldest(pause: () -> Void) -> (key: String?, turns: Int) {
            var pace = LRUList<String, Int, Void>.Pace()
            for turn in 1...1000 {
                pace.begin(count)
                if let slot = list.oldest(&pace) { return (list.key(slot), turn) }
                pause()
            }
            return (nil, 1000)
        }

        func oldest() -> String? {
            var pace = LRUList<String, Int, Void>.Pace()
            while count > 0 {
                pace.begin(count)
                if let slot = list.oldest(&pace) { return list.key(slot) }
            }
            return nil
        }
    }

    /// - Parameter time: When it was used.
    private func item(_ payload: Int, at time: Int, cost: Int = 1) -> List.Item {
        List.Item(
            payload: payload,
            cost: cost,
            stamp: UseStamp(rawValue: Int64(time)),
            metadata: ()
        )
    }

    @Test func theLastUsedIsTheNewestAndTheFirstTheOldest() throws {
        let list = List()
        for number in 1...5 { _ = list.insert(item(number, at: number), forKey: "\(number)") }
        #expect(list.newest().map(\.item.payload) == [5, 4, 3, 2, 1])
        #expect(list.newest(2).map(\.item.payload) == [5, 4])
        #expect(list.oldest() == "1")
        list.use(try #require(list.slot(of: "1")), UseStamp(rawValue: 6))
        #expect(list.newest(2).map(\.item.payload) == [1, 5])
        #expect(list.oldest() == "2")
    }

    @Test func insertingAgainReplaces() {
        let list = List()
        for number in 1...3 {
            _ = list.insert(item(number, at: number, cost: 10), forKey: "\(number)")
        }
        #expect(list.insert(item(9, at: 4, cost: 1), forKey: "1")?.payload == 1)
        #expect(list.newest().map(\.item.payload) == [9, 3, 2])
        #expect(list.totalCost == 21)
        list.checkInvariants()
    }

    /// P8: count and cost match the contents after any operations.
    @Test(arguments: 0..<UInt64(LongRun.number(6, usually: 3)))
    func theListStaysConsistentAfterRandomOperations(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let list = List()
        var model: [(key: String, cost: Int)] = []
        // Lists that never look for the oldest keep no order.
        let evicts = seed % 3 > 0
        for number in 1...800 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let cost = Int.random(in: 0..<100, using: &random)
                _ = list.insert(item(number, at: number, cost: cost), forKey: key)
                model.removeAll { $0.key == key }
                model.insert((key, cost), at: 0)
            case 4..<6:
                guard let slot = list.slot(of: key),
                    let index = model.firstIndex(where: { $0.key == key })
                else { continue }
                list.use(slot, UseStamp(rawValue: Int64(number)))
                model.insert(model.remove(at: index), at: 0)
            case 6 where evicts:
                let oldest = list.oldest()
                #expect(oldest == model.last?.key)
                if let oldest, Bool.random(using: &random) {
                    #expect(list.remove(oldest)?.cost == model.popLast()?.cost)
                }
            case 7..<9:
                let removed = list.remove(key)
                #expect((removed != nil) == model.contains { $0.key == key })
                model.removeAll { $0.key == key }
            default:
                if Int.random(in: 0..<50, using: &random) == 0 {
                    #expect(list.removeAll().count == model.count)
                    model = []
                }
            }
            list.checkInvariants()
            #expect(list.newest().map(\.key) == model.map(\.key))
            #expect(list.totalCost == model.reduce(0) { $0 + $1.cost })
        }
    }

    /// Readers that use all entries between any two turns do not keep an eviction from ending.
    @Test func theOldestIsFoundAlthoughAllAreUsedBetweenTheTurns() {
        let list = List()
        let count = 1000
        var time = 0
        func useAll() {
            for number in 0..<count {
                time += 1
                if let slot = list.slot(of: "\(number)") {
                    list.use(slot, UseStamp(rawValue: Int64(time)))
                }
            }
        }
        for number in 0..<count { _ = list.insert(item(number, at: number), forKey: "\(number)") }
        #expect(list.oldest() == "0")
        time = count
        useAll()
        let (key, turns) = list.oldest(pause: useAll)
        #expect(key != nil && turns > 1 && turns <= count / 64 + 2)
    }

    /// P30: links are indices, so releasing does not recurse.
    @Test func manyEntriesAreReleasedWithoutRecursion() {
        let list = List()
        for number in 0..<100_000 { _ = list.insert(item(number, at: number), forKey: "\(number)") }
        #expect(list.count == 100_000)
        #expect(list.removeAll().count == 100_000)
        #expect(list.count == 0 && list.totalCost == 0)
    }
}
