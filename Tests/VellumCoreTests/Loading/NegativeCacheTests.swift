import TestThreads
import Testing

@testable import VellumCore

@Suite(.ownThreads)
struct NegativeCacheTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    private func item(for milliseconds: Int64, version: UInt64 = 1) -> NegativeCache.Item {
        .init(
            answer: .nothing,
            since: now,
            until: now.advanced(byMilliseconds: milliseconds),
            version: version
        )
    }

    @Test func anItemIsValidFromItsCreationToItsEnd() {
        let item = item(for: 10)
        #expect(item.isValid(at: now) && item.isValid(at: now.advanced(byMilliseconds: 9)))
        #expect(
            !item.isValid(at: now.advanced(byMilliseconds: 10))
                && !item.isValid(at: now.advanced(byMilliseconds: -1))
        )
    }

    @Test func aReplacedItemIsReturnedOnce() {
        var answers = NegativeCache()
        #expect(answers.insert(item(for: 10), forKey: "a") == [])
        #expect(answers.insert(item(for: 10, version: 2), forKey: "a") == ["a"])
        #expect(answers.remove("a", version: 1) == false)
        #expect(answers.remove("a", version: 2) == true)
        #expect(answers.count == 0)
    }

    @Test func theNumberOfItemsIsLimitedAndExpiredOnesAreRemovedFirst() {
        var answers = NegativeCache()
        var gone = 0
        for number in 0..<NegativeCache.mostKeys {
            let isDead = number % 2 == 0
            gone += answers.insert(item(for: isDead ? 0 : 10), forKey: EntryKey("\(number)")).count
        }
        #expect(gone == 0)
        #expect(
            answers.insert(item(for: 10), forKey: "another").count == NegativeCache.mostKeys / 2
        )
        #expect(
            answers.item("1") != nil && answers.item("2") == nil && answers.item("another") != nil
        )
        for number in 0..<2000 {
            gone += answers.insert(item(for: 10), forKey: EntryKey("more \(number)")).count
        }
        #expect(answers.count <= NegativeCache.mostKeys)
        #expect(answers.count + gone == 2000 + NegativeCache.mostKeys / 2 + 1)
    }
}
