import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct QueryPipelineTests {
    private final class Numbers {
        var left: ArraySlice<Int>
        var taken = 0

        init(_ numbers: [Int]) { left = numbers[...] }

        var pipeline: QueryPipeline<Int> {
            QueryPipeline { () throws(VellumError) in
                self.left.popFirst().map {
                    self.taken += 1
                    return QueryItem(
                        value: $0,
                        origin: QueryOrigin(key: "", entryID: Int64($0), revision: 0)
                    )
                }
            }
        }
    }

    private func all(_ pipeline: QueryPipeline<Int>) throws -> [Int] {
        var values: [Int] = []
        while let item = try pipeline.next() { values.append(item.value) }
        return values
    }

    private let byLastDigit = Ordering<Int>(isDescending: false) { $0 % 10 - $1 % 10 }

    @Test func aLimitStopsTheScan() throws {
        let numbers = Numbers(Array(0..<1000))
        let even = ValueCondition<Int>.test(Test { $0 % 2 == 0 })
        #expect(try all(numbers.pipeline.executing([.filter(even), .limit(3)])) == [0, 2, 4])
        #expect(numbers.taken == 5)
    }

    @Test(arguments: [0, 1, 7, 63, 64, 65, 200, 1000, 2000, Int.max])
    func aSortWithALimitReturnsTheFirstOfTheFullSort(_ count: Int) throws {
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: count))
        let numbers = (0..<1000).map { _ in Int.random(in: 0..<500, using: &random) }
        let sorted = numbers.enumerated().sorted {
            ($0.element % 10, $0.offset) < ($1.element % 10, $1.offset)
        }.map(\.element)
        let steps: [QueryDescription<Int>.Step] = [.sort([byLastDigit]), .limit(count)]
        #expect(try all(Numbers(numbers).pipeline.executing(steps)) == Array(sorted.prefix(count)))
    }

    @Test func aSortIsStable() throws {
        #expect(
            try all(Numbers([11, 21, 1, 20, 10]).pipeline.executing([.sort([byLastDigit])])) == [
                20, 10, 11, 21, 1,
            ]
        )
    }

    @Test func stepsRunInOrder() throws {
        let small = ValueCondition<Int>.test(Test { $0 < 5 })
        #expect(
            try all(Numbers([9, 1, 8, 2]).pipeline.executing([.limit(2), .filter(small)])) == [1]
        )
        #expect(
            try all(Numbers([9, 1, 8, 2]).pipeline.executing([.filter(small), .limit(2)])) == [
                1, 2,
            ]
        )
        #expect(
            try all(Numbers([9, 1, 8, 2]).pipeline.executing([.skip(1), .limit(2)])) == [1, 8]
        )
        #expect(try all(Numbers([9, 1]).pipeline.executing([.skip(5)])) == [])
    }

    @Test func aThrowingConditionFailsTheQuery() {
        struct Odd: Error {}
        let throwing = ValueCondition<Int>.test(Test { _ in throw Odd() })
        #expect(throws: VellumError.self) {
            try all(Numbers([1]).pipeline.executing([.filter(throwing)]))
        }
    }
}
