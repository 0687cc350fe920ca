import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum

/// Sums, averages, least and greatest values and groups: by an index and by decoding, with the same
/// results.
@Suite(.ownThreads)
struct AggregateTests {
    struct Sample: ArchiveCodable, IndexedArchivable {
        enum Kind: String, Codable { case plain, odd = "é" }
        enum Level: Int, Codable { case low = -1, high = 5 }

        var primaryKey = ""
        var group = "g"
        var count = 0
        var small: Int8?
        var huge: UInt64 = 0
        var ratio = 0.0
        var share: Float?
        var name = ""
        var nick: String?
        var day = Date(timeIntervalSinceReferenceDate: 0)
        var code = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        var blob = Data()
        var isMarked = false
        var kind = Kind.plain
        var level: Level?
        var tags = ["t"]
        /// Its order is uncertain in some objects, which the index then does not cover.
        var label = ""
        /// Not indexed.
        var note = "note"

        var wide: Int128 { Int128(count) * 4 }

        static var archiveIndexes: [ArchiveIndex<Sample>] {
            [
                .index(\.group, \.count), .index(\.small), .index(\.huge), .index(\.ratio),
                .index(\.share), .index(\.name),
                .index(\.nick), .index(\.day), .index(\.code), .index(\.blob), .index(\.isMarked),
                .index(\.kind), .index(\.level),
                .each(\.tags), .index(\.label), .index(\.wide),
            ]
        }
    }

    /// How the objects are found.
    enum Way: CaseIterable {
        /// By an index that covers each.
        case index
        /// By an index that does not cover one of them.
        case incompleteIndex
        /// By a condition that no index answers.
        case decoding

        var predicate: Predicate<Sample>? {
            self == .decoding ? #Predicate { $0.note.contains("ot") } : nil
        }
    }

    let archives = TemporaryArchives()

    /// Returns an archive of an object for each value.
    func store<Value>(
        _ values: [Value],
        _ way: Way = .index,
        _ property: WritableKeyPath<Sample, Value>
    ) throws -> ArchiveStore<Sample> {
        let store = try archives.factory.store(for: Sample.self)
        try store.record(
            contentsOf: values.enumerated().map { number, value in
                var sample = Sample(
                    primaryKey: "\(number)",
                    label: way == .incompleteIndex && number == 0 ? "x\u{378}" : ""
                )
                sample[keyPath: property] = value
                return sample
            }
        )
        return store
    }

    private func isSame(_ left: Double?, _ right: Double?) -> Bool {
        left == right || left?.isNaN == true && right?.isNaN == true
    }

    // MARK: Sums

    @Test(
        arguments: Way.allCases,
        [
            ([], 0), ([5], 5), ([1, -2, 3], 2), ([.max, 1, -1], .max),
            ([.max, .max, .min, .min, 2], 0), ([.min, -1, 1], .min),
        ]
            as [([Int], Int)]
    )
    func aSumOfIntegersHasNoIntermediateOverflow(_ way: Way, _ example: ([Int], Int)) throws {
        let store = try store(example.0, way, \.count)
        #expect(try store.sum(of: \.count, where: way.predicate) == example.1)
        #expect(try store.sum(of: \.wide, where: way.predicate) == Int128(example.1) * 4)
    }

    @Test(arguments: Way.allCases, [[.max, 1], [.min, -1], [.max, .max, .max]] as [[Int]])
    func aSumThatItsTypeCannotHoldIsAnError(_ way: Way, _ numbers: [Int]) throws {
        let store = try store(numbers, way, \.count)
        let error = #expect(throws: VellumError.self) {
            try store.sum(of: \.count, where: way.predicate)
        }
        #expect(error?.code == .failedQuery && error?.message.contains("Int") == true)
        let average = numbers.reduce(Int128(0)) { $0 + Int128($1) }
        #expect(
            try store.average(of: \.count, where: way.predicate) == Double(average)
                / Double(numbers.count)
        )
    }

    @Test(arguments: Way.allCases)
    func eachTypeOfIntegerHasItsOwnBounds(_ way: Way) throws {
        let small = try store([100, nil, 27, -1], way, \.small)
        #expect(try small.sum(of: \.small, where: way.predicate) == 126)
        #expect(try small.average(of: \.small, where: way.predicate) == 42)
        try small.record(Sample(primaryKey: "more", small: 2))
        #expect(throws: VellumError.self) { try small.sum(of: \.small, where: way.predicate) }
        try small.deleteAll()

        let huge = try store([UInt64.max - 1, 1], way, \.huge)
        #expect(try huge.sum(of: \.huge, where: way.predicate) == .max)
        try huge.record(Sample(primaryKey: "more", huge: 1))
        #expect(throws: VellumError.self) { try huge.sum(of: \.huge, where: way.predicate) }
        #expect(try huge.average(of: \.huge, where: way.predicate) == 0x1p64 / 3)
    }

    static let greatest = Double.greatestFiniteMagnitude
    static let sums: [([Double], Double)] = [
        ([], 0), ([-0.0, -0.0], 0), ([0.1, 0.2, 0.3], 0.6), ([0.1, 0.2], 0.3.nextUp),
        (Array(repeating: 0.1, count: 10), 1),
        ([1e16, 1, -1e16], 1), ([1e300, 1, -1e300], 1), ([1, 0x1p-53], 1),
        ([1, 0x1p-53, 0x1p-1074], (1.0).nextUp),
        ([-1, -0x1p-53, -0x1p-1074], (-1.0).nextDown),
        ([(1.0).nextUp, 0x1p-53], (1.0).nextUp.nextUp),
        (
            [
                Double.leastNonzeroMagnitude, Double.leastNonzeroMagnitude,
                Double.leastNonzeroMagnitude,
            ], 3 * Double.leastNonzeroMagnitude
        ),
        ([.leastNormalMagnitude, -Double.leastNonzeroMagnitude], .leastNormalMagnitude.nextDown),
        ([greatest, greatest, -greatest], greatest),
        ([greatest, greatest], .infinity), ([-greatest, -greatest], -.infinity),
        ([greatest, 0x1p969], greatest),
        ([greatest, 0x1p970], .infinity), ([.infinity, 1], .infinity),
        ([.infinity, -greatest, -greatest], .infinity),
        ([.infinity, -.infinity], .nan), ([.nan, 1], .nan), ([.nan, .infinity], .nan),
    ]

    @Test(arguments: Way.allCases, sums)
    func aSumOfNumbersIsRoundedOnce(_ way: Way, _ example: ([Double], Double)) throws {
        for numbers in [example.0, example.0.reversed()] {
            let store = try store(numbers, way, \.ratio)
            let sum = try store.sum(of: \.ratio, where: way.predicate)
            #expect(isSame(sum, example.1) && (sum != 0 || sum.sign == .plus), "\(sum)")
            let average = try store.average(of: \.ratio, where: way.predicate)
            #expect(isSame(average, numbers.isEmpty ? nil : example.1 / Double(numbers.count)))
            try store.deleteAll()
        }
    }

    @Test(arguments: Way.allCases)
    func aSumOfFloatsIsRoundedOnceToFloat(_ way: Way) throws {
        let greatest = Float.greatestFiniteMagnitude
        // The nearest Double of the second lies in the middle of two Floats, above which the sum
        // is.
        for (numbers, sum) in [
            ([0.1, nil, 0.2], 0.3), ([1, 0x1p-24, 0x1p-80], Float(1).nextUp),
            ([greatest, greatest, -greatest], greatest),
            ([greatest, greatest], .infinity),
            ([nil], 0),
        ] as [([Float?], Float)] {
            let store = try store(numbers, way, \.share)
            #expect(try store.sum(of: \.share, where: way.predicate) == sum)
            let count = numbers.count { $0 != nil }
            let average = try store.average(of: \.share, where: way.predicate)
            #expect((average == nil) == (count == 0))
            try store.deleteAll()
        }
    }

    // MARK: Least and greatest

    @Test(
        arguments: Way.allCases,
        [
            ([], nil, nil), ([1, -1, 5], -1, 5), ([.nan, 2, 1], 1, 2), ([.nan, .nan], .nan, .nan),
            ([.infinity, .nan, -.infinity], -.infinity, .infinity),
            ([-0.0, 0], 0, 0), ([.nan, .infinity], .infinity, .infinity),
        ] as [([Double], Double?, Double?)]
    )
    func nanIsTheLeastOrGreatestOnlyAmongItsLike(
        _ way: Way,
        _ example: ([Double], Double?, Double?)
    ) throws {
        let store = try store(example.0, way, \.ratio)
        let (least, greatest) = (
            try store.min(of: \.ratio, where: way.predicate),
            try store.max(of: \.ratio, where: way.predicate)
        )
        #expect(
            isSame(least, example.1) && isSame(greatest, example.2),
            "\(least as Any) \(greatest as Any)"
        )
    }

    @Test(arguments: Way.allCases)
    func eachOrderedTypeHasALeastAndAGreatestValue(_ way: Way) throws {
        func check<Value: Comparable>(
            _ property: any WritableKeyPath<Sample, Value> & Sendable,
            _ values: [Value],
            _ least: Value,
            _ greatest: Value
        ) throws {
            let store = try store(values, way, property)
            #expect(try store.min(of: property, where: way.predicate) == least)
            #expect(try store.max(of: property, where: way.predicate) == greatest)
            try store.deleteAll()
        }
        func check<Value: Comparable>(
            optional property: any WritableKeyPath<Sample, Value?> & Sendable,
            _ values: [Value?],
            _ least: Value?,
            _ greatest: Value?
        ) throws {
            let store = try store(values, way, property)
            #expect(try store.min(of: property, where: way.predicate) == least)
            #expect(try store.max(of: property, where: way.predicate) == greatest)
            try store.deleteAll()
        }
        try check(\.count, [3, .min, .max, 0], .min, .max)
        try check(\.huge, [1, .max, UInt64(Int64.max) + 1], 1, .max)
        try check(\.name, ["b", "e\u{301}", "a", "\u{1F600}"], "a", "\u{1F600}")
        try check(\.name, ["e\u{301}"], "\u{E9}", "\u{E9}")
        try check(
            \.day,
            [0.5, -1, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) },
            Date(timeIntervalSinceReferenceDate: -1),
            Date(timeIntervalSinceReferenceDate: 1e9)
        )
        let codes = (0..<3).map {
            UUID(uuid: ($0 * 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, $0))
        }
        try check(\.code, [codes[1], codes[2], codes[0]], codes[0], codes[2])
        try check(optional: \.small, [nil, 5, -128, nil], -128, 5)
        try check(optional: \.nick, [nil], nil, nil)
        try check(optional: \.nick, ["", nil, "z"], "", "z")
        try check(optional: \.share, [nil, .nan, 1], 1, 1)

        let wide = try store([.min, 3, .max], way, \.count)
        #expect(try wide.min(of: \.wide, where: way.predicate) == Int128(Int.min) * 4)
        #expect(try wide.max(of: \.wide, where: way.predicate) == Int128(Int.max) * 4)
    }
}
