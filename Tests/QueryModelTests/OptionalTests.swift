import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// A condition on an optional property matches the objects for which Swift's own operators are
/// true, in both languages, with an index and without: for each type that an index holds, and for
/// some that it does not.
@Suite(.ownThreads)
struct OptionalTests {
    // MARK: Types that only have equality

    @Test func optionalBooleansCompareAsInSwift() throws {
        try compare([true, false]) { Rules(equality: $0, $1, $2) }
    }

    @Test func optionalStructsCompareAsInSwift() throws {
        let places = [Place(city: "Bern"), Place(city: "Bern", floor: 1), Place(city: "")]
        try compare(places, isIndexed: false) { Rules(equality: $0, $1, $2) }
    }

    @Test func optionalRawValuesCompareAsInSwift() throws {
        try compare(Suit.allCases) { Rules(equality: $0, $1, $2) }
        try compare(Grade.allCases) { Rules(equality: $0, $1, $2) }
        try compare(["", "a", "e\u{301}"].map(Tag.init(rawValue:))) { Rules(equality: $0, $1, $2) }
    }

    // MARK: Types that have an order

    @Test func optionalSignedIntegersCompareAsInSwift() throws {
        try compare(Nasty.integers) { Rules(order: $0, $1, $2) }
        try compare([Int8.min, -1, 0, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare([Int16.min, -1, 0, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare([Int32.min, -1, 0, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare([Int64.min, -1, 0, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare([Int128.min, -1, 0, 1, .max]) { Rules(order: $0, $1, $2) }
    }

    @Test func optionalUnsignedIntegersCompareAsInSwift() throws {
        try compare([UInt.min, 1, UInt(Int.max), UInt(Int.max) + 1, .max]) {
            Rules(order: $0, $1, $2)
        }
        try compare([UInt8.min, 1, 127, 128, .max]) { Rules(order: $0, $1, $2) }
        try compare([UInt16.min, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare([UInt32.min, 1, .max]) { Rules(order: $0, $1, $2) }
        try compare(Nasty.unsigned) { Rules(order: $0, $1, $2) }
        try compare([UInt128.min, 1, UInt128(UInt64.max) + 1, .max]) { Rules(order: $0, $1, $2) }
    }

    @Test func optionalNumbersCompareAsInSwift() throws {
        try compare(Nasty.numbers) { Rules(order: $0, $1, $2) }
        try compare(Nasty.numbers.map(Float.init)) { Rules(order: $0, $1, $2) }
    }

    @Test func optionalDatesAndIdentifiersCompareAsInSwift() throws {
        try compare(Nasty.dates) { Rules(order: $0, $1, $2) }
        try compare(Nasty.codes) { Rules(order: $0, $1, $2) }
    }

    @Test func optionalRawValuesWithAnOrderOfTheirOwnCompareAsInSwift() throws {
        try compare(Rank.allCases) { Rules(order: $0, $1, $2) }
    }

    // MARK: Collections

    @Test func optionalStringsCompareAsInSwift() throws {
        try compare(Nasty.strings) { optional, operand, other in
            var rules = Rules(order: optional, operand, other, precedes: { $0.isBefore($1) })
            rules.addCollection(["a", "e\u{301}", "\r\n"])
            rules.addStrings(operand)
            return rules
        }
    }

    @Test func optionalDataCompareAsInSwift() throws {
        try compare(Nasty.blobs) { optional, operand, other in
            var rules = Rules(equality: optional, operand, other)
            rules.addCollection([0, 0xFF, 0x61])
            rules.addElement(0)
            return rules
        }
    }

    @Test func optionalListsCompareAsInSwift() throws {
        try compare([[], [1], [1, 2], [2, 2, 3], [.min, .max]]) { optional, operand, other in
            var rules = Rules(equality: optional, operand, other)
            rules.addCollection([1, 2, .max])
            rules.addElement(2)
            return rules
        }
        try compare([[], [1.0], [.infinity, 1], [-0.0]]) { optional, operand, other in
            var rules = Rules(equality: optional, operand, other)
            rules.addCollection([1, .nan, 0])
            rules.addElement(.nan)
            return rules
        }
    }

    // MARK: Comparing

    /// - Parameters:
    ///   - operands: Values of the property, and what it is compared with.
    ///   - isIndexed: Whether the index answers any of the rules.
    ///   - rules: Returns the rules for an operand that may be `nil` and for two that are not.
    private func compare<Property>(
        _ operands: [Property],
        isIndexed: Bool = true,
        rules: (Property?, Property, Property) -> Rules<Property>
    ) throws {
        for seed in 0..<UInt64(LongRun.number(2, usually: 1)) {
            var random = SeededGenerator(seed: seed)
            let holders = (0..<24).map {
                Holder(key: "key \($0)", value: $0 == 0 ? nil : operands.randomOrNil(&random))
            }
            var stores = try DifferentialStores(holders)
            let columns = try #require(try indexCatalog(of: Holder<Property>.self)).columns
            var answeredByIndex = 0
            // Three: of the versions of the changing archive, the third has no index.
            for turn in 0..<LongRun.number(4, usually: 3) {
                try stores.raiseVersion()
                let optional = turn == 0 ? nil : operands.randomOrNil(&random)
                let (operand, other) = (operands.random(&random), operands.random(&random))
                for rule in rules(optional, operand, other).list {
                    let query = QueryDescription([.filter(rule.condition)])
                    let expected = holders.filter { rule.matches($0.value) }
                    let words =
                        """
                        \(Property.self)?: \(rule.words) of \(optional as Any), \(operand), \
                        \(other), seed \(seed)
                        """
                    #expect(
                        try query.results(of: holders).map(\.key) == expected.map(\.key),
                        "\(words)"
                    )
                    if let complaint = try stores.complaint(
                        query,
                        expected,
                        asksMore: turn % 2 == 1
                    ) {
                        Issue.record("\(words): \(complaint)")
                    }
                    if QueryPlan(query, columns).isFullyPushed { answeredByIndex += 1 }
                }
            }
            #expect(answeredByIndex > 0 || !isIndexed, "\(Property.self)?")
        }
    }
}

// MARK: Objects

extension OptionalTests {
    struct Place: Codable, Hashable, Sendable {
        var city: String
        var floor: Int?
    }

    enum Suit: String, Codable, CaseIterable {
        case clubs, hearts
        case none = ""
    }

    /// A type that is indexable, but not as an optional.
    enum Grade: Int, Codable, CaseIterable, IndexableValue { case low = -1, middle, high }

    struct Tag: RawRepresentable, Codable, Hashable, Sendable {
        var rawValue: String
    }

    /// Its order is not that of its raw values.
    enum Rank: Int, Codable, CaseIterable, Comparable {
        case first = 3
        case second = 2
        case third = 1

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue > right.rawValue }
    }

    /// An object with an optional property.
    struct Holder<Property: Codable & Equatable & Sendable>: ArchiveCodable, IndexedArchivable {
        static var archiveName: String { "holder" }
        var primaryKey: String { key }
        var key: String
        var value: Property?

        static var archiveIndexes: [ArchiveIndex<Holder>] {
            if Property.self is Place.Type { return [.index(\.key)] }
            guard let list = Property.self as? any IndexableList.Type else {
                return [.index(\.value, \.key)]
            }
            return list.index(of: \Holder.value as PartialKeyPath<Holder>).map { [$0] } ?? []
        }
    }
}

/// A list whose elements an index holds.
private protocol IndexableList {
    static func index<Root>(of property: PartialKeyPath<Root>) -> ArchiveIndex<Root>?
}

extension Array: IndexableList where Element: IndexableScalar {
    fileprivate static func index<Root>(of property: PartialKeyPath<Root>) -> ArchiveIndex<Root>? {
        (property as? KeyPath<Root, [Element]?>).map { .each($0) }
    }
}

// MARK: Rules

extension OptionalTests {
    /// A condition, and a Swift expression that is true for the same values.
    struct Rule<Property: Codable & Equatable & Sendable> {
        var words: String
        var condition: ValueCondition<Holder<Property>>
        var matches: (Property?) -> Bool
    }

    /// Every finder and predicate that compiles on the type.
    struct Rules<Property: Codable & Equatable & Sendable> {
        typealias Object = Holder<Property>

        private(set) var list: [Rule<Property>] = []

        mutating func finder(
            _ words: String,
            _ find: (QueryFinder<Object>) -> QueryFinder<Object>,
            matches: @escaping (Property?) -> Bool
        ) {
            list.append(
                Rule(
                    words: words,
                    condition: .all(find(QueryFinder()).conditions),
                    matches: matches
                )
            )
        }

        mutating func predicate(
            _ words: String,
            _ predicate: Predicate<Object>,
            matches: @escaping (Property?) -> Bool
        ) {
            list.append(Rule(words: words, condition: Condition(predicate), matches: matches))
        }

        // swift-format-ignore: NeverForceUnwrap
        init(equality x: Property?, _ y: Property, _ z: Property) {
            finder("isNil", { $0.value(.isNil()) }) { $0 == nil }
            finder("isNotNil", { $0.value(.isNotNil()) }) { $0 != nil }
            finder("isEqual(with:) nil", { $0.value(.isEqual(with: nil)) }) { $0 == nil }
            finder("isNotEqual(with:) nil", { $0.value(.isNotEqual(with: nil)) }) { $0 != nil }
            finder("isEqual nil", { $0.value(.isEqual(nil)) }) { $0 == nil }
            finder("isNotEqual nil", { $0.value(.isNotEqual(nil)) }) { $0 != nil }
            finder("isEqual(with:) optional", { $0.value(.isEqual(with: x)) }) { $0 == x }
            finder("isNotEqual(with:) optional", { $0.value(.isNotEqual(with: x)) }) { $0 != x }
            finder("isEqual optional", { $0.value(.isEqual(x)) }) { $0 == x }
            finder("isNotEqual optional", { $0.value(.isNotEqual(x)) }) { $0 != x }
            finder("isEqual(with:)", { $0.value(.isEqual(with: y)) }) { $0 == y }
            finder("isNotEqual(with:)", { $0.value(.isNotEqual(with: y)) }) { $0 != y }
            finder("isEqual", { $0.value(.isEqual(y)) }) { $0 == y }
            finder("isNotEqual", { $0.value(.isNotEqual(y)) }) { $0 != y }
            finder("isNotEqual twice", { $0.value(.isNotEqual(y)).value(.isNotEqual(z)) }) {
                $0 != y && $0 != z
            }
            finder("isNotEqual, isNotNil", { $0.value(.isNotEqual(y)).value(.isNotNil()) }) {
                $0 != y && $0 != nil
            }
            finder("isValid", { $0.value(.isValid { $0 != y }) }) { $0 != y }

            predicate("== nil", #Predicate { $0.value == nil }) { $0 == nil }
            predicate("nil != ", #Predicate { nil != $0.value }) { $0 != nil }
            predicate("== optional", #Predicate { $0.value == x }) { $0 == x }
            predicate("!= optional", #Predicate { $0.value != x }) { $0 != x }
            predicate("optional !=", #Predicate { x != $0.value }) { $0 != x }
            predicate("!(== optional)", #Predicate { !($0.value == x) }) { $0 != x }
            predicate("!(!= optional)", #Predicate { !($0.value != x) }) { $0 == x }
            predicate("==", #Predicate { $0.value == y }) { $0 == y }
            predicate("!=", #Predicate { $0.value != y }) { $0 != y }
            predicate("!= or ==", #Predicate { $0.value != y || $0.value == z }) {
                $0 != y || $0 == z
            }
            predicate("!= and !=", #Predicate { $0.value != y && $0.value != z }) {
                $0 != y && $0 != z
            }
            predicate("?? ==", #Predicate { ($0.value ?? y) == z }) { ($0 ?? y) == z }
            predicate("?? !=", #Predicate { ($0.value ?? y) != z }) { ($0 ?? y) != z }
            predicate("! !=", #Predicate { $0.value != nil && $0.value! != y }) {
                $0.map { $0 != y } ?? false
            }
            predicate(
                "if let !=",
                #Predicate { if let value = $0.value { value != y } else { false } }
            ) { $0.map { $0 != y } ?? false }
            predicate(
                "if let != else true",
                #Predicate { if let value = $0.value { value != y } else { true } }
            ) { $0 != y }
        }
    }
}

extension OptionalTests.Rules where Property: Comparable {
    /// - Parameter precedes: The documented order of the type. Swift's own is wrong for some
    ///   strings.
    // swift-format-ignore: NeverForceUnwrap
    init(
        order x: Property?,
        _ y: Property,
        _ z: Property,
        precedes: @escaping (Property, Property) -> Bool = { $0 < $1 }
    ) {
        self.init(equality: x, y, z)
        finder("less", { $0.value(.less(than: y)) }) { $0.map { precedes($0, y) } ?? false }
        finder("greater", { $0.value(.greater(than: y)) }) { $0.map { precedes(y, $0) } ?? false }
        finder("lessOrEqual", { $0.value(.lessOrEqual(with: y)) }) {
            $0.map { precedes($0, y) || $0 == y } ?? false
        }
        finder("greaterOrEqual", { $0.value(.greaterOrEqual(with: y)) }) {
            $0.map { precedes(y, $0) || $0 == y } ?? false
        }

        predicate("if let <", #Predicate { if let value = $0.value { value < y } else { false } }) {
            $0.map { precedes($0, y) } ?? false
        }
        predicate("flatMap >", #Predicate { $0.value.flatMap { $0 > y } == true }) {
            $0.map { precedes(y, $0) } ?? false
        }
        predicate("! <=", #Predicate { $0.value != nil && $0.value! <= y }) {
            $0.map { precedes($0, y) || $0 == y } ?? false
        }
        predicate("! !(>=)", #Predicate { $0.value != nil && !($0.value! >= y) }) {
            $0.map { !(precedes(y, $0) || $0 == y) } ?? false
        }
        predicate("?? >=", #Predicate { ($0.value ?? z) >= y }) {
            precedes(y, $0 ?? z) || ($0 ?? z) == y
        }
    }
}

extension OptionalTests.Rules where Property: Collection, Property.Element: Equatable {
    mutating func addCollection(_ elements: [Property.Element]) {
        let (first, others) = (elements[0], Array(elements.dropFirst()))
        finder("contains(with:)", { $0.value(.contains(with: first)) }) {
            $0?.contains(first) ?? false
        }
        finder("contains one of", { $0.value(.contains(atLeastOne: others)) }) { value in
            others.contains { value?.contains($0) ?? false }
        }
        finder("contains all", { $0.value(.contains(all: elements)) }) { value in
            elements.allSatisfy { value?.contains($0) ?? false }
        }
        finder("contains all of none", { $0.value(.contains(all: [] as [Property.Element])) }) {
            $0 != nil
        }
        finder("contains", { $0.value(.contains(first, first)) }) { $0?.contains(first) ?? false }
        finder("isEmpty", { $0.value(.isEmpty()) }) { $0?.isEmpty ?? false }
        finder("isNotEmpty", { $0.value(.isNotEmpty()) }) { $0.map { !$0.isEmpty } ?? false }
        finder("isNilOrEmpty", { $0.value(.isNilOrEmpty()) }) { $0?.isEmpty ?? true }
        finder("countEqual", { $0.value(.countEqual(with: 1)) }) { $0?.count == 1 }
        finder("countGreater", { $0.value(.countGreater(than: 0)) }) {
            $0.map { $0.count > 0 } ?? false
        }
        finder("countLess", { $0.value(.countLess(than: 2)) }) { $0.map { $0.count < 2 } ?? false }
        finder("countGreaterOrEqual", { $0.value(.countGreaterOrEqual(with: 2)) }) {
            $0.map { $0.count >= 2 } ?? false
        }
        finder("countLessOrEqual", { $0.value(.countLessOrEqual(with: 1)) }) {
            $0.map { $0.count <= 1 } ?? false
        }
    }
}

extension OptionalTests.Rules
where Property: Collection, Property.Element: Codable & Equatable & Sendable {
    mutating func addElement(_ element: Property.Element) {
        predicate(
            "contains",
            #Predicate { if let value = $0.value { value.contains(element) } else { false } }
        ) {
            $0?.contains(element) ?? false
        }
        predicate(
            "!contains",
            #Predicate { if let value = $0.value { !value.contains(element) } else { false } }
        ) {
            $0.map { !$0.contains(element) } ?? false
        }
    }
}

extension OptionalTests.Rules where Property == String {
    mutating func addStrings(_ part: String) {
        finder("contains(string:)", { $0.value(.contains(string: part)) }) {
            $0.map { part.isEmpty || $0.holds(part) } ?? false
        }
        finder("contains, any case", { $0.value(.contains(part, caseSensitive: false)) }) {
            $0.map { part.isEmpty || $0.lowercased().holds(part.lowercased()) } ?? false
        }
        finder("matches", { $0.value(.matches(regex: "^a")) }) { $0?.unicodeScalars.first == "a" }
        predicate(
            "starts",
            #Predicate { if let value = $0.value { value.starts(with: part) } else { false } }
        ) {
            $0?.starts(with: part) ?? false
        }
        predicate("?? starts", #Predicate { ($0.value ?? "").starts(with: part) }) {
            ($0 ?? "").starts(with: part)
        }
        predicate("contains", #Predicate { $0.value?.contains(part) ?? false }) {
            $0.map { part.isEmpty || $0.holds(part) } ?? false
        }
    }
}
