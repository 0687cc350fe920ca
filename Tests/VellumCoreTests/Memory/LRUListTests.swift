import Testing
import VellumCore
import VellumTestSupport

@Suite(.timeLimit(.minutes(60)))
struct LRUListTests {
    private typealias List = LRUList<String, Int, Void>

    private func item(_ payload: Int, cost: Int = 1) -> List.Item { List.Item(payload: payload, cost: cost, metadata: ()) }

    @Test func theLastInsertedIsTheNewestAndTheFirstTheOldest() {
        var list = List()
        for number in 1...5 { _ = list.insert(item(number), forKey: "\(number)") }
        #expect(list.newest(.max).map(\.item.payload) == [5, 4, 3, 2, 1])
        #expect(list.newest(2).map(\.item.payload) == [5, 4])
        #expect(list.oldestKey == "1")
    }

    @Test func insertingAgainReplacesAndMovesToTheFront() {
        var list = List()
        for number in 1...3 { _ = list.insert(item(number, cost: 10), forKey: "\(number)") }
        #expect(list.insert(item(9, cost: 1), forKey: "1").old?.payload == 1)
        #expect(list.newest(.max).map(\.item.payload) == [9, 3, 2])
        #expect(list.totalCost == 21)
        list.checkInvariants()
    }

    /// P8: count and cost match the contents after any operations.
    @Test(arguments: UInt64(0)..<10)
    func theListStaysConsistentAfterRandomOperations(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = List()
        var model: [(key: String, cost: Int)] = []
        for number in 1...2000 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let cost = Int.random(in: 0..<100, using: &random)
                _ = list.insert(item(number, cost: cost), forKey: key)
                model.removeAll { $0.key == key }
                model.insert((key, cost), at: 0)
            case 6..<9:
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
            #expect(list.newest(.max).map(\.key) == model.map(\.key))
            #expect(list.totalCost == model.reduce(0) { $0 + $1.cost })
        }
    }

    /// P30: links are indices, so releasing does not recurse.
    @Test func aMillionEntriesAreReleasedWithoutRecursion() {
        var list = List()
        for number in 0..<1_000_000 { _ = list.insert(item(number), forKey: "\(number)") }
        #expect(list.count == 1_000_000)
        #expect(list.removeAll().count == 1_000_000)
        #expect(list.count == 0 && list.totalCost == 0)
    }
}
