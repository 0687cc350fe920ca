import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum

/// Sums, averages, least and greatest values and groups: by an index and by decoding, with the same results.
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
                .index(\.group, \.count), .index(\.small), .index(\.huge), .index(\.ratio), .index(\.share), .index(\.name),
                .index(\.nick), .index(\.day), .index(\.code), .index(\.blob), .index(\.isMarked), .index(\.kind), .index(\.level),
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

        var predicate: Predicate<Sample>? { self == .decoding ? #Predicate { $0.note.contains("ot") } : nil }
    }

    let archives = TemporaryArchives()

    /// Returns an archive of an object for each value.
    private func store<Value>(
        _ values: [Value], _ way: Way = .index, _ property: WritableKeyPath<Sample, Value>
    ) throws -> ArchiveStore<Sample> {
        let store = try archives.factory.store(for: Sample.self)
        try store.record(
            contentsOf: values.enumerated().map { number, value in
                var sample = Sample(primaryKey: "\(number)", label: way == .incompleteIndex && number == 0 ? "x\u{378}" : "")
                sample[keyPath: property] = value
                return sample
            })
        return store
    }

    private func isSame(_ left: Double?, _ right: Double?) -> Bool { left == right || left?.isNaN == true && right?.isNaN == true }

    // MARK: Sums

    @Test(
        arguments: Way.allCases,
        [([], 0), ([5], 5), ([1, -2, 3], 2), ([.max, 1, -1], .max), ([.max, .max, .min, .min, 2], 0), ([.min, -1, 1], .min)]
            as [([Int], Int)])
    func aSumOfIntegersHasNoIntermediateOverflow(_ way: Way, _ example: ([Int], Int)) throws {
        let store = try store(example.0, way, \.count)
        #expect(try store.sum(of: \.count, where: way.predicate) == example.1)
        #expect(try store.sum(of: \.wide, where: way.predicate) == Int128(example.1) * 4)
    }

    @Test(arguments: Way.allCases, [[.max, 1], [.min, -1], [.max, .max, .max]] as [[Int]])
    func aSumThatItsTypeCannotHoldIsAnError(_ way: Way, _ numbers: [Int]) throws {
        let store = try store(numbers, way, \.count)
        let error = #expect(throws: VellumError.self) { try store.sum(of: \.count, where: way.predicate) }
        #expect(error?.code == .failedQuery && error?.message.contains("Int") == true)
        let average = numbers.reduce(Int128(0)) { $0 + Int128($1) }
        #expect(try store.average(of: \.count, where: way.predicate) == Double(average) / Double(numbers.count))
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
        ([], 0), ([-0.0, -0.0], 0), ([0.1, 0.2, 0.3], 0.6), ([0.1, 0.2], 0.3.nextUp), (Array(repeating: 0.1, count: 10), 1),
        ([1e16, 1, -1e16], 1), ([1e300, 1, -1e300], 1), ([1, 0x1p-53], 1), ([1, 0x1p-53, 0x1p-1074], (1.0).nextUp),
        ([-1, -0x1p-53, -0x1p-1074], (-1.0).nextDown), ([(1.0).nextUp, 0x1p-53], (1.0).nextUp.nextUp),
        ([Double.leastNonzeroMagnitude, Double.leastNonzeroMagnitude, Double.leastNonzeroMagnitude], 3 * Double.leastNonzeroMagnitude),
        ([.leastNormalMagnitude, -Double.leastNonzeroMagnitude], .leastNormalMagnitude.nextDown),
        ([greatest, greatest, -greatest], greatest),
        ([greatest, greatest], .infinity), ([-greatest, -greatest], -.infinity), ([greatest, 0x1p969], greatest),
        ([greatest, 0x1p970], .infinity), ([.infinity, 1], .infinity), ([.infinity, -greatest, -greatest], .infinity),
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
        // The nearest Double of the second lies in the middle of two Floats, above which the sum is.
        for (numbers, sum) in [
            ([0.1, nil, 0.2], 0.3), ([1, 0x1p-24, 0x1p-80], Float(1).nextUp), ([greatest, greatest, -greatest], greatest),
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
        ] as [([Double], Double?, Double?)])
    func nanIsTheLeastOrGreatestOnlyAmongItsLike(_ way: Way, _ example: ([Double], Double?, Double?)) throws {
        let store = try store(example.0, way, \.ratio)
        let (least, greatest) = (try store.min(of: \.ratio, where: way.predicate), try store.max(of: \.ratio, where: way.predicate))
        #expect(isSame(least, example.1) && isSame(greatest, example.2), "\(least as Any) \(greatest as Any)")
    }

    @Test(arguments: Way.allCases)
    func eachOrderedTypeHasALeastAndAGreatestValue(_ way: Way) throws {
        func check<Value: Comparable>(
            _ property: any WritableKeyPath<Sample, Value> & Sendable, _ values: [Value], _ least: Value, _ greatest: Value
        ) throws {
            let store = try store(values, way, property)
            #expect(try store.min(of: property, where: way.predicate) == least)
            #expect(try store.max(of: property, where: way.predicate) == greatest)
            try store.deleteAll()
        }
        func check<Value: Comparable>(
            optional property: any WritableKeyPath<Sample, Value?> & Sendable, _ values: [Value?], _ least: Value?, _ greatest: Value?
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
            \.day, [0.5, -1, 1e9].map { Date(timeIntervalSinceReferenceDate: $0) }, Date(timeIntervalSinceReferenceDate: -1),
            Date(timeIntervalSinceReferenceDate: 1e9))
        let codes = (0..<3).map { UUID(uuid: ($0 * 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, $0)) }
        try check(\.code, [codes[1], codes[2], codes[0]], codes[0], codes[2])
        try check(optional: \.small, [nil, 5, -128, nil], -128, 5)
        try check(optional: \.nick, [nil], nil, nil)
        try check(optional: \.nick, ["", nil, "z"], "", "z")
        try check(optional: \.share, [nil, .nan, 1], 1, 1)

        let wide = try store([.min, 3, .max], way, \.count)
        #expect(try wide.min(of: \.wide, where: way.predicate) == Int128(Int.min) * 4)
        #expect(try wide.max(of: \.wide, where: way.predicate) == Int128(Int.max) * 4)
    }

    // MARK: Groups

    @Test(arguments: Way.allCases)
    func objectsAreCountedByEachTypeOfProperty(_ way: Way) throws {
        func check<Value: Hashable>(_ property: any WritableKeyPath<Sample, Value> & Sendable, _ values: [Value]) throws {
            let store = try store(values, way, property)
            #expect(try store.count(by: property, where: way.predicate) == values.reduce(into: [:]) { $0[$1, default: 0] += 1 })
            try store.deleteAll()
        }
        try check(\.group, [])
        try check(\.group, ["a", "b", "a", "e\u{301}", "\u{E9}"])
        try check(\.count, [1, .min, 1, .max])
        try check(\.small, [nil, 1, nil, -128])
        try check(\.huge, [0, .max, .max])
        try check(\.ratio, [0, -0.0, .infinity, 1])
        try check(\.share, [nil, 0.5, 0.5])
        try check(\.nick, [nil, "", "a", nil])
        try check(\.day, [.distantPast, .distantPast, .distantFuture])
        try check(\.code, [UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))])
        try check(\.blob, [Data(), Data([0]), Data()])
        try check(\.isMarked, [true, false, true])
        try check(\.kind, [.plain, .odd, .odd])
        try check(\.level, [nil, .low, .high, nil])
        try check(\.note, ["not", "note", "not"])
    }

    @Test(arguments: Way.allCases)
    func allNaNsAreOneKey(_ way: Way) throws {
        let counts = try store([.nan, 1, -.nan, .nan], way, \.ratio).count(by: \.ratio, where: way.predicate)
        #expect(counts.count == 2 && counts[1] == 1)
        #expect(counts.first { $0.key.isNaN }?.value == 3)
    }

    // MARK: By an index

    @Test func anIndexAnswersWithoutDecoding() throws {
        let store = try store([3, 1, 2], .index, \.count)
        let aggregates: [(ArchiveAggregate, PartialKeyPath<Sample>)] = [
            (.sum, \.count), (.average, \.count), (.min, \.count), (.max, \.count), (.count, \.count), (.sum, \.small), (.sum, \.huge),
            (.sum, \.ratio), (.average, \.share), (.min, \.share), (.max, \.nick), (.count, \.nick), (.min, \.day), (.max, \.code),
            (.count, \.kind), (.count, \.level), (.count, \.blob), (.count, \.isMarked), (.min, \.wide), (.max, \.wide),
        ]
        for predicate in [nil, #Predicate<Sample> { $0.group == "g" && $0.huge < 9 }, #Predicate { $0.tags.contains("t") }] {
            for (aggregate, property) in aggregates {
                let explanation = try store.explain(aggregate, of: property, where: predicate)
                #expect(explanation.decodedObjects == 0 && explanation.usesIndex && explanation.results == 1, "\(explanation)")
                #expect(explanation.remaining.isEmpty && explanation.pushedDown.last?.hasPrefix("\(aggregate) of") == true)
            }
            #expect(try store.sum(of: \.count, where: predicate) == 6)
            #expect(try store.min(of: \.ratio, where: predicate) == 0)
            #expect(try store.count(by: \.count, where: predicate) == [1: 1, 2: 1, 3: 1])
        }
        let sum = try store.explain(.sum, of: \.count, where: #Predicate { $0.group == "secret" })
        #expect(sum.statement == "SELECT exact_sum(c.c1) FROM columns_1 c WHERE c.c0 = ?")
        #expect(sum.access.contains { $0.contains("COVERING INDEX") })
    }

    @Test func whatNoIndexDeterminesIsDecoded() throws {
        let store = try store([3, 1, 2], .index, \.count)
        let undetermined: [(ArchiveAggregate, PartialKeyPath<Sample>, Predicate<Sample>?)] = [
            (.max, \.note, nil), (.count, \.note, nil), (.sum, \.wide, nil), (.sum, \.count, #Predicate { $0.note == "note" }),
            (.min, \.count, #Predicate { $0.group == "g" && $0.note == "note" }),
        ]
        for (aggregate, property, predicate) in undetermined {
            let explanation = try store.explain(aggregate, of: property, where: predicate)
            #expect(explanation.decodedObjects == 3 && explanation.remaining.last?.hasPrefix("\(aggregate) of") == true)
        }
        #expect(try store.sum(of: \.wide) == 24)
        #expect(try store.max(of: \.note) == "note")
        try store.record(Sample(primaryKey: "uncovered", count: 4, label: "x\u{378}"))
        #expect(try store.sum(of: \.count) == 10)
        #expect(try store.explain(.sum, of: \.count).decodedObjects == 4)
    }

    @Test func aStringFromAnIndexIsInNormalForm() throws {
        let store = try store(["e\u{301}"], .index, \.name)
        #expect(try store.min(of: \.name)?.unicodeScalars.count == 1)
        #expect(try store.max(of: \.name)?.unicodeScalars.count == 1)
        #expect(try store.count(by: \.name).keys.first?.unicodeScalars.count == 1)
    }

    // MARK: The same objects as a count

    private func expectSums(_ store: ArchiveStore<Sample>, _ expected: Int, by index: Bool? = nil) throws {
        for way in [Way.index, .decoding] {
            #expect(try store.sum(of: \.count, where: way.predicate) == expected)
            #expect(try store.count(by: \.group, where: way.predicate).values.reduce(0, +) == expected)
            #expect(try store.average(of: \.count, where: way.predicate) == (expected == 0 ? nil : 1))
            #expect(try store.max(of: \.count, where: way.predicate) == (expected == 0 ? nil : 1))
        }
        #expect(try store.count(where: #Predicate { $0.group == "g" }) == expected)
        if let index { #expect(try store.explain(.sum, of: \.count).usesIndex == index) }
    }

    @Test func expiredObjectsAreLeftOut() throws {
        let store = try store([1, 1], .index, \.count)
        try store.record(Sample(primaryKey: "expires", count: 1), expiration: .after(.seconds(60)))
        try store.record(Sample(primaryKey: "unused", count: 1), expiration: .unused(for: .seconds(60)))
        try expectSums(store, 4, by: true)
        archives.clock.advance(bySeconds: 40)
        #expect(try store.access(archiveWithKey: "unused") != nil)
        archives.clock.advance(bySeconds: 40)
        try expectSums(store, 3, by: true)
        archives.clock.advance(bySeconds: 400)
        try expectSums(store, 2, by: true)
    }

    @Test func objectsThatOnlyMemoryHasAreIncluded() throws {
        let store = try archives.factory.store(for: Sample.self, diskLimit: 1000)
        try store.record(Sample(primaryKey: "small", count: 1))
        try expectSums(store, 1, by: true)
        try store.record(Sample(primaryKey: "large", count: 1, blob: Data(repeating: 7, count: 5000)))
        try expectSums(store, 2, by: false)
    }

    @Test func relaxedWritesAreIncluded() throws {
        let store = try archives.anotherFactory(durability: .relaxed).store(for: Sample.self)
        for number in 0..<5 { try store.record(Sample(primaryKey: "\(number)", count: 1)) }
        try expectSums(store, 5)
    }

    @Test func aggregatesDoNotAffectTheEvictionOrder() throws {
        let size = try Sample(primaryKey: "0", count: 1).archive().count
        let store = try archives.factory.store(for: Sample.self, memoryLimit: 1.byte, diskLimit: DataSize(bytes: size * 3))
        for number in 0..<3 { try store.record(Sample(primaryKey: "\(number)", count: 1)) }
        for way in [Way.index, .decoding] {
            #expect(try store.sum(of: \.count, where: way.predicate) == 3)
            #expect(try store.count(by: \.primaryKey, where: #Predicate { $0.primaryKey == "0" }) == ["0": 1])
        }
        try store.record(Sample(primaryKey: "3", count: 1))
        #expect(try store.count(by: \.primaryKey).keys.sorted() == ["1", "2", "3"])
    }

    /// An object that can be encoded, but decoded only if it is whole.
    private struct Vase: IndexedArchivable, ArchiveCodable {
        static let archiveName = "Vase"
        var primaryKey: String { "\(number)" }
        var number: Int
        var height = 1
        var isWhole: Bool

        init(_ number: Int, isWhole: Bool) { (self.number, self.isWhole) = (number, isWhole) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            isWhole = try container.decode(Bool.self, forKey: .isWhole)
            guard isWhole else { throw CocoaError(.coderReadCorrupt) }
            number = try container.decode(Int.self, forKey: .number)
            height = try container.decode(Int.self, forKey: .height)
        }

        static var archiveIndexes: [ArchiveIndex<Vase>] { [.index(\.number)] }
    }

    @Test func anObjectThatCannotBeDecodedIsAnErrorUnlessItIsSkippedOrNotDecoded() throws {
        let store = try archives.factory.store(for: Vase.self, memoryLimit: 1.byte)
        for number in 1...3 { try store.record(Vase(number, isWhole: number < 3)) }
        #expect(try store.sum(of: \.number) == 6)
        #expect(try store.sum(of: \.height, undecodable: .skip) == 2)
        #expect(try store.count(by: \.height, undecodable: .skip) == [1: 2])
        for call in [{ _ = try store.sum(of: \.height) }, { _ = try store.max(of: \.height) }, { _ = try store.count(by: \.height) }] {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .notDecodable)
        }
    }

    // MARK: Misuse

    @Test func aPredicateThatThrowsIsAnErrorWithoutData() throws {
        let store = try store([nil, "secret"], .index, \.nick)
        let throwing = #Predicate<Sample> { $0.nick! > "secret-operand" }
        let calls: [() throws -> Void] = [
            { _ = try store.sum(of: \.count, where: throwing) }, { _ = try store.average(of: \.ratio, where: throwing) },
            { _ = try store.min(of: \.name, where: throwing) }, { _ = try store.count(by: \.group, where: throwing) },
            { _ = try store.explain(.sum, of: \.count, where: throwing) },
        ]
        for call in calls {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .failedQuery && error?.description.contains("secret") == false)
        }
    }

    @Test func aClosedStoreIsAnError() throws {
        let store = try store([1], .index, \.count)
        try store.close()
        let calls: [() throws -> Void] = [
            { _ = try store.sum(of: \.count) }, { _ = try store.average(of: \.ratio) }, { _ = try store.min(of: \.name) },
            { _ = try store.max(of: \.name) }, { _ = try store.count(by: \.group) }, { _ = try store.explain(.max, of: \.group) },
        ]
        for call in calls {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .closed)
        }
    }

    @Test(arguments: [true, false])
    func anAggregateBesideAWriterSeesItsTransactionsWhole(_ isIndexed: Bool) async throws {
        let store = try archives.factory.store(for: Sample.self, memoryLimit: 1.byte)
        try store.record(contentsOf: (0..<20).map { Sample(primaryKey: "\($0)", count: 1) })
        let predicate = isIndexed ? nil : Way.decoding.predicate
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 2..<40 { try store.record(contentsOf: (0..<20).map { Sample(primaryKey: "\($0)", count: round) }) }
            }
            group.addTask {
                for _ in 0..<40 {
                    let sum = try store.sum(of: \.count, where: predicate)
                    #expect(sum.isMultiple(of: 20))
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.average(of: \.count, where: predicate) == 39)
    }
}
