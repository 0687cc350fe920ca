import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Vellum
@testable import VellumEngine

/// A condition of any number of values or tests uses the index, and the answer is that of a filter
/// on an array.
@Suite(.ownThreads)
struct LongListTests {
    struct Part: ArchiveCodable, IndexedArchivable, Equatable {
        static let archiveName = "Part"
        var primaryKey: String { name }
        var name: String
        var number: Int
        var other: Int?
        var weight: Double
        var label: String
        var tags: [String]

        static var archiveIndexes: [ArchiveIndex<Part>] {
            [
                .index(\.number), .index(\.other, \.weight), .index(\.label),
                .index(\.number, \.label), .each(\.tags),
            ]
        }
    }

    static let parts = (0..<2000).map { index in
        Part(
            name: "part \(index)",
            number: index * 7919 % 2000,
            other: index % 5 == 0 ? nil : index % 700,
            weight: index % 11 == 0 ? .nan : Double(index % 50),
            label: index % 3 == 0 ? "e\u{301}\(index)" : "\u{E9}\(index)",
            tags: (0..<index % 4).map { "tag \((index + $0) % 600)" }
        )
    }

    let archives = TemporaryArchives()
    let store: ArchiveStore<Part>

    init() throws {
        store = try archives.factory.store()
        try store.record(contentsOf: Self.parts)
    }

    /// Compares with a filter of the array, and returns the explanation.
    @discardableResult private func check(
        _ predicate: Predicate<Part>,
        _ location: SourceLocation = #_sourceLocation,
        isIncluded: (Part) -> Bool
    ) throws -> QueryExplanation {
        let expected = Self.parts.filter(isIncluded)
        let names = expected.map(\.name)
        #expect(try store.fetch(where: predicate).map(\.name) == names, sourceLocation: location)
        #expect(try store.count(where: predicate) == names.count, sourceLocation: location)
        #expect(try store.exists(where: predicate) == !names.isEmpty, sourceLocation: location)
        let sorted = try store.fetch(
            where: predicate,
            sortedBy: [SortDescriptor(\.number, order: .reverse)],
            limit: 10,
            offset: 3
        )
        #expect(
            sorted.map(\.number)
                == Array(expected.map(\.number).sorted(by: >).dropFirst(3).prefix(10)),
            sourceLocation: location
        )
        let explanation = try store.explain(where: predicate)
        #expect(
            explanation.statement != nil && explanation.remaining.isEmpty,
            sourceLocation: location
        )
        #expect(explanation.decodedObjects == names.count, sourceLocation: location)
        return explanation
    }

    static let most = LongRun.number(10_000, usually: 2000)
    static let lengths = [0, 1, 64, 65, 500, 501, most]

    @Test(arguments: lengths) func aListOfAnyLengthUsesTheIndex(length: Int) throws {
        let numbers = (0..<length).map { $0 * 3 }
        let set = Set(numbers)
        let found = try check(#Predicate { numbers.contains($0.number) }) {
            set.contains($0.number)
        }
        #expect(found.usesIndex || length == 0)
        try check(#Predicate { !numbers.contains($0.number) }) { !set.contains($0.number) }
        try check(#Predicate { set.contains($0.number) && $0.tags.contains("tag 3") }) {
            set.contains($0.number) && $0.tags.contains("tag 3")
        }
        let labels = numbers.map { "\u{E9}\($0)" }
        let labelSet = Set(labels)
        try check(#Predicate { labels.contains($0.label) }) { labelSet.contains($0.label) }
        try check(#Predicate { labels.contains($0.label) && numbers.contains($0.number) }) {
            labelSet.contains($0.label) && set.contains($0.number)
        }
        try check(
            #Predicate {
                $0.number > 100 && labels.contains($0.label) || numbers.contains($0.number)
            }
        ) {
            $0.number > 100 && labelSet.contains($0.label) || set.contains($0.number)
        }
        let others = numbers.map(Optional.some) + [nil]
        let otherSet = Set(others)
        try check(#Predicate { others.contains($0.other) }) { otherSet.contains($0.other) }
        try check(#Predicate { !others.contains($0.other) && $0.weight < 20 }) {
            !otherSet.contains($0.other) && $0.weight < 20
        }
        let weights = numbers.map(Double.init) + [.nan, -0.0]
        let weightSet = Set(weights)
        try check(#Predicate { weights.contains($0.weight) }) { weightSet.contains($0.weight) }
        try check(#Predicate { weights.contains($0.weight) && $0.other == 3 }) {
            weightSet.contains($0.weight) && $0.other == 3
        }
    }

    private static func isThird(_ label: String) -> Bool {
        Int(label.dropFirst()).map { $0 % 3 == 0 } == true
    }

    /// Beyond the limits of parameters: 32,766 of SQLite's own, and in `make long` Debian's
    /// 250,000.
    private static let many = LongRun.number(250_000, usually: 33_000)

    @Test func moreValuesThanSQLiteHasParametersUseTheIndex() throws {
        let numbers = (0..<Self.many).map { $0 * 3 }
        let found = try store.explain(where: #Predicate { numbers.contains($0.number) })
        #expect(found.usesIndex && found.decodedObjects == 667 && found.results == 667)
        #expect(try store.count(where: #Predicate { !numbers.contains($0.number) }) == 1333)
        // On two columns, on both of one index, and elements.
        let labels = (0..<Self.many).map { "\u{E9}\($0 * 3)" }
        let labelled = try store.fetch(
            where: #Predicate { numbers.contains($0.number) && labels.contains($0.label) }
        )
        #expect(
            labelled.map(\.name)
                == Self.parts.filter { $0.number % 3 == 0 && Self.isThird($0.label) }.map(\.name)
        )
        let (others, weights) = (numbers.map(Optional.some), (0..<Self.many).map(Double.init))
        let weighed = try store.fetch(
            where: #Predicate { others.contains($0.other) && weights.contains($0.weight) }
        )
        #expect(
            weighed.map(\.name)
                == Self.parts.filter { part in
                    part.other.map { $0 % 3 == 0 } == true && !part.weight.isNaN
                }.map(\.name)
        )
        let tags = (0..<Self.many).map { "tag \($0 * 5)" }
        let tagSet = Set(tags)
        let manager = try archives.factory.archives(for: Part.self)
        let any = manager.findWhere { $0.tags(.contains(atLeastOne: tags)) }
        #expect(
            any.getResults().map(\.name)
                == Self.parts.filter { !tagSet.isDisjoint(with: $0.tags) }.map(\.name)
        )
        #expect(manager.findWhere { $0.tags(.contains(all: tags)) }.getResults().isEmpty)
    }

    @Test func aListMayRepeatItsValues() throws {
        let numbers = (0..<1000).map { $0 % 100 }
        #expect(
            try check(#Predicate { numbers.contains($0.number) }) { $0.number < 100 }.results == 100
        )
        let labels = (0..<200).flatMap { ["e\u{301}\($0)", "\u{E9}\($0)"] }
        let labelSet = Set(labels)
        let labelled = try check(#Predicate { labels.contains($0.label) }) {
            labelSet.contains($0.label)
        }
        #expect(labelled.results == 200)
    }

    /// As many rows are read and as many objects decoded as are found, for any number of values.
    @Test(arguments: [500, 501, most]) func theWorkOfAListIsThatOfWhatItFinds(length: Int) throws {
        let numbers = (0..<5).map { $0 } + (0..<length - 5).map { 10_000 + $0 }
        let explanation = try check(#Predicate { numbers.contains($0.number) }) { $0.number < 5 }
        #expect(
            explanation.access.contains { $0.hasPrefix("SEARCH c USING") && $0.contains("(c0=?)") }
        )
    }

    @Test(arguments: lengths) func theFindersTakeListsOfAnyLength(length: Int) throws {
        let tags = (0..<length).map { "tag \($0 * 5)" }
        let manager = try archives.factory.archives(for: Part.self)
        let any = manager.findWhere { $0.tags(.contains(atLeastOne: tags)) }
        let set = Set(tags)
        #expect(
            any.getResults().map(\.name)
                == Self.parts.filter { !set.isDisjoint(with: $0.tags) }.map(\.name)
        )
        #expect(any.explain().remaining.isEmpty)
        let all = manager.findWhere { $0.tags(.contains(all: tags)) }
        #expect(
            all.getResults().map(\.name)
                == Self.parts.filter { set.isSubset(of: $0.tags) }.map(\.name)
        )
        let both = manager.findWhere {
            $0.tags(.contains(all: ["tag 1", "tag 2"])).tags(.contains(atLeastOne: tags))
        }
        let expected = Self.parts.filter {
            Set(["tag 1", "tag 2"]).isSubset(of: $0.tags) && !set.isDisjoint(with: $0.tags)
        }
        #expect(both.getResults().map(\.name) == expected.map(\.name))
    }

    @Test func streamsAndDeletionsAndObserversTakeLongLists() async throws {
        let numbers = Array(500..<20_000)
        let predicate = #Predicate<Part> { numbers.contains($0.number) }
        var streamed: [String] = []
        for try await part in store.stream(where: predicate) { streamed.append(part.name) }
        #expect(streamed == Self.parts.filter { $0.number >= 500 }.map(\.name))
        var counts = store.observeCount(where: predicate).makeAsyncIterator()
        #expect(try await counts.next() == 1500)
        let few = Array(500..<1100)
        #expect(try store.deleteAll(where: #Predicate { few.contains($0.number) }) == 600)
        #expect(try await counts.next() == 900)
    }

    // MARK: Without an index

    /// Counts comparisons.
    struct Counted: Hashable, Codable {
        static let comparisons = Locked(0)
        var number: Int
        static func == (left: Counted, right: Counted) -> Bool {
            comparisons.withLock { $0 += 1 }
            return left.number == right.number
        }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    struct Plain: ArchiveCodable {
        static let archiveName = "Plain"
        var primaryKey: String { "\(id.number)" }
        var id: Counted
        var inner: [Counted] = []
    }

    @Test func aListWithoutAnIndexIsASet() throws {
        let plain: ArchiveStore<Plain> = try archives.factory.store()
        try plain.record(
            contentsOf: (0..<100).map {
                Plain(id: Counted(number: $0), inner: [Counted(number: $0)])
            }
        )
        let ids = (0..<1000).map { Counted(number: $0 * 2) }
        for predicate in [
            #Predicate<Plain> { ids.contains($0.id) },
            #Predicate<Plain> { $0.inner.contains { ids.contains($0) } },
        ] {
            Counted.comparisons.withLock { $0 = 0 }
            #expect(try plain.count(where: predicate) == 50)
            #expect(Counted.comparisons.withLock { $0 } < 5000)
        }
    }

    // MARK: Many tests

    /// Joins parts as a program does at run time. Each is nested in the next, or in halves: of a
    /// value that is nested deep, each access copies all.
    private static func chain(
        _ count: Int,
        isConjunction: Bool = false,
        isDeep: Bool = false,
        _ part:
            @escaping (PredicateExpressions.Variable<Part>, Int) -> any StandardPredicateExpression<
                Bool
            >
    ) -> Predicate<Part> {
        func join(
            _ left: some StandardPredicateExpression<Bool>,
            _ right: some StandardPredicateExpression<Bool>
        ) -> any StandardPredicateExpression<Bool> {
            isConjunction
                ? PredicateExpressions.build_Conjunction(lhs: left, rhs: right)
                : PredicateExpressions.build_Disjunction(lhs: left, rhs: right)
        }
        func joined(
            _ numbers: Range<Int>,
            _ variable: PredicateExpressions.Variable<Part>
        ) -> any StandardPredicateExpression<Bool> {
            guard numbers.count > 1 else { return part(variable, numbers.lowerBound) }
            let middle =
                isDeep ? numbers.upperBound - 1 : (numbers.lowerBound + numbers.upperBound) / 2
            return join(
                joined(numbers.lowerBound..<middle, variable),
                joined(middle..<numbers.upperBound, variable)
            )
        }
        return Predicate<Part> { joined(0..<count, $0) }
    }

    private static func equal(
        _ part: PredicateExpressions.Variable<Part>,
        _ number: Int
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Equal(
            lhs: PredicateExpressions.build_KeyPath(root: part, keyPath: \Part.number),
            rhs: PredicateExpressions.build_Arg(number)
        )
    }

    private static func differs(
        _ part: PredicateExpressions.Variable<Part>,
        _ number: Int
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_NotEqual(
            lhs: PredicateExpressions.build_KeyPath(root: part, keyPath: \Part.number),
            rhs: PredicateExpressions.build_Arg(number)
        )
    }

    private static func range(
        _ part: PredicateExpressions.Variable<Part>,
        _ number: Int
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_contains(
            PredicateExpressions.build_Arg(number * 40..<number * 40 + 3),
            PredicateExpressions.build_KeyPath(root: part, keyPath: \Part.number)
        )
    }

    private static func hasText(
        _ part: PredicateExpressions.Variable<Part>,
        _ number: Int
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_contains(
            PredicateExpressions.build_KeyPath(root: part, keyPath: \Part.name),
            PredicateExpressions.build_Arg("part \(number)")
        )
    }

    @Test(arguments: [2, 9, 199, 201, LongRun.number(10_000, usually: 1000)])
    func anyNumberOfTestsUsesTheIndex(count: Int) throws {
        #expect(try check(Self.chain(count, Self.equal)) { $0.number < count }.usesIndex)
        try check(Self.chain(count, isConjunction: true, Self.differs)) { $0.number >= count }
        let ranges = try check(Self.chain(count, Self.range)) {
            $0.number % 40 < 3 && $0.number / 40 < count
        }
        #expect(ranges.usesIndex || count < 16)
    }

    @Test func manyTestsDoNotOverflowTheStack() throws {
        let deep = LongRun.number(2000, usually: 1200)
        #expect(try store.count(where: Self.chain(deep, isDeep: true, Self.equal)) == deep)
        #expect(try store.count(where: Self.chain(1000, isDeep: true, Self.hasText)) == 2000)
        let all = Self.chain(deep, isConjunction: true, isDeep: true, Self.equal)
        #expect(try store.count(where: all) == 0)
    }

    @Test func moreTestsThanAStatementTakesAreSaidToRemain() throws {
        let manager = try archives.factory.archives(for: Part.self)
        let found = manager.findWhere { finder in
            (0..<LongRun.number(2000, usually: 600)).reduce(finder) {
                $0.number(.greaterOrEqual(with: -$1)).weight(.less(than: 10_000 + Double($1)))
            }
        }
        let explanation = found.explain()
        #expect(explanation.remaining.count == 1 && explanation.statement != nil)
        #expect(explanation.results == Self.parts.count { !$0.weight.isNaN })
        #expect(explanation.description.count < 1_000_000)
    }

    @Test func conditionsThatAreNestedTooDeepRemain() throws {
        var condition = ValueCondition<Part>.test(
            Test(\Part.number, .isEqual(3)) { $0.number == 3 }
        )
        for _ in 0..<50 { condition = .not(.all([condition, .all([])])) }
        #expect(try store.store.count(QueryDescription([.filter(condition)])) == 1)
    }
}
