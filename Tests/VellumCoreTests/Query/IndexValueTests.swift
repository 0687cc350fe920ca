import Foundation
import TestThreads
import Testing

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct IndexValueTests {
    static let numbers: [Double] = [
        .nan, -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -.leastNonzeroMagnitude, 0,
        .leastNonzeroMagnitude, 1, 1.nextUp, 1.5,
        .greatestFiniteMagnitude, .infinity,
    ]

    @Test func numbersKeepTheirOrderAndNaNComesFirst() throws {
        let values = try Self.numbers.map { try #require($0.indexValue) }
        #expect(values == values.sorted())
        #expect(Set(values).count == values.count)
        #expect((-0.0).indexValue == 0.0.indexValue)
        #expect((-Double.nan).indexValue == Double.incomparableIndexValue)
        #expect(Float(0.1).indexValue == Double(Float(0.1)).indexValue)
    }

    @Test func integersKeepTheirOrderUpToTheirLimits() throws {
        let signed: [Int64] = [.min, -1, 0, 1, .max]
        #expect(try signed.map { try #require($0.indexValue) }.isStrictlyAscending)
        let unsigned: [UInt64] = [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
        #expect(try unsigned.map { try #require($0.indexValue) }.isStrictlyAscending)
        let large: [Int128] = [.min, -1, 0, 1, .max]
        #expect(try large.map { try #require($0.indexValue) }.isStrictlyAscending)
        let vast: [UInt128] = [0, 1, UInt128(UInt64.max) + 1, .max]
        #expect(try vast.map { try #require($0.indexValue) }.isStrictlyAscending)
    }

    static let strings: [String] = [
        "", "a", "a\u{0}", "a\u{0}b", "ab", "b", "e\u{301}", "é", "z", "ﬁ", "가", "\u{1100}\u{1161}",
        "🙂", "\r\n", "\r", "é́",
    ]

    @Test func stringsKeepSwiftsOrderAndEquality() throws {
        for left in Self.strings {
            for right in Self.strings {
                let (leftValue, rightValue) = (
                    try #require(left.indexValue), try #require(right.indexValue)
                )
                #expect(
                    (left == right) == (leftValue == rightValue),
                    "\(left.debugDescription) \(right.debugDescription)"
                )
                #expect(
                    (left < right) == (leftValue < rightValue),
                    "\(left.debugDescription) \(right.debugDescription)"
                )
            }
        }
    }

    /// P54: Foundation's and Swift's Unicode tables may have different versions.
    @Test func aStringWithCharactersNewerThanTheTablesHasNoIndexValue() {
        #expect("a\u{378}".indexValue == nil)  // Unassigned so far.
        #expect("a\u{301}".indexValue != nil)
        #expect("🙂".indexValue != nil)
        #expect("\u{E000}".indexValue != nil)
    }

    @Test func datesAreIndexedWithoutRounding() throws {
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
        let next = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
        #expect(try #require(date.indexValue) < #require(next.indexValue))
    }

    @Test func uuidsKeepTheirOrder() throws {
        let identifiers = (0..<50).map { _ in UUID() }.sorted()
        #expect(try identifiers.map { try #require($0.indexValue) }.isStrictlyAscending)
    }

    @Test func nullComesBeforeEverything() throws {
        let (number, text): (Int?, String?) = (nil, nil)
        let (least, empty): (Int?, String?) = (.min, "")
        let values = [number.indexValue, text.indexValue]
        #expect(values == [.null, .null])
        #expect(try .null < #require(least.indexValue))
        #expect(try .null < #require(empty.indexValue))
    }
}

extension [IndexValue] {
    fileprivate var isStrictlyAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
