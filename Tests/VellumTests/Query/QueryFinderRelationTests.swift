import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine
@testable import Vellum

/// Which conditions of a finder are pushed down, and how steps are executed without an index.
@Suite(.ownThreads)
struct QueryFinderRelationTests {
    typealias Sample = QuerySample

    static var unrelated: [QueryFinder<Sample>] {
        let finder = QueryFinder<Sample>()
        return [
            finder.name(.contains("a")), finder.name(.contains("a", caseSensitive: false)),
            finder.nick(.contains(string: "a")),
            finder.name(.matches(regex: "a")), finder.name(.isValid { $0 == "a" }),
            finder.tags(.countEqual(with: 1)),
            finder.tags(.countGreater(than: 1)), finder.numbers(.countLess(than: 1)),
            finder.numbers(.countLessOrEqual(with: 1)),
            finder.name(.countGreaterOrEqual(with: 1)), finder.tags(.isEmpty()),
            finder.tags(.isNotEmpty()),
        ]
    }

    @Test func conditionsWithoutARelationAreNotPushedDown() {
        for finder in Self.unrelated { #expect(Condition.all(finder.conditions).relations.isEmpty) }
    }

    /// A type that is indexable, but not as an optional.
    enum Level: Int, Codable, IndexableValue { case low, high }

    struct Task: IndexedArchivable, Codable {
        var primaryKey = ""
        var level = Level.low
        var otherLevel: Level?
        var levels: [Level] = []

        static var archiveIndexes: [ArchiveIndex<Task>] {
            [.index(\.level), .index(\.otherLevel), .each(\.levels)]
        }
    }

    @Test func operandsHaveTheFormOfTheIndex() throws {
        let columns = try #require(try indexCatalog(of: Task.self)).columns
        let finder = QueryFinder<Task>().level(.isEqual(.high)).otherLevel(.isEqual(.high)).levels(
            .contains(with: .high)
        )

        let plan = QueryPlan(QueryDescription([.filter(.all(finder.conditions))]), columns)

        #expect(plan.isFullyPushed)
        #expect(
            try plan.pushed.filter.matches(
                IndexedValues(columns: [.integer(1), .integer(1)], elements: [[.integer(1)]])
            )
        )
        #expect(
            try !plan.pushed.filter.matches(
                IndexedValues(columns: [.integer(1), .null], elements: [[.integer(1)]])
            )
        )
    }

    @Test func aPropertyThatIsNotOptionalIsNeverNil() throws {
        #expect(
            try !Condition.all(QueryFinder<Sample>().name(.isEqual(nil)).conditions).matches(
                Sample()
            )
        )
        #expect(
            try Condition.all(QueryFinder<Sample>().name(.isNotEqual(nil)).conditions).matches(
                Sample()
            )
        )
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func sortingIsStable(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<500).map { _ in
            Sample(
                integer: Int.random(in: 0..<1000, using: &generator),
                ratio: Sample.ratios.random(&generator)
            )
        }
        let by = QuerySorter<Sample>()

        for orderings in [by.ratio(.ascending).orderings, by.ratio(.descending).orderings] {
            let sorted = try QueryDescription([.sort(orderings)]).results(of: samples)
            for ratio in Sample.ratios {
                let isSame: (Sample) -> Bool = {
                    $0.ratio == ratio || ($0.ratio.isNaN && ratio.isNaN)
                }
                #expect(
                    sorted.filter(isSame).map(\.integer) == samples.filter(isSame).map(\.integer),
                    "seed \(seed)"
                )
            }
        }
    }

    @Test func stepsAreExecutedInOrder() throws {
        let samples = (0..<10).map { Sample(integer: $0) }
        let even = ValueCondition<Sample>.test(Test { $0.integer % 2 == 0 })
        func results(_ steps: [QueryDescription<Sample>.Step]) throws -> [Int] {
            try QueryDescription(steps).results(of: samples).map(\.integer)
        }

        #expect(try results([.filter(even), .limit(2)]) == [0, 2])
        #expect(try results([.limit(2), .filter(even)]) == [0])
        #expect(try results([.skip(7), .filter(even)]) == [8])
        #expect(
            try results([
                .sort([.by(\.integer, isDescending: true)]), .limit(2),
                .sort([.by(\.integer, isDescending: false)]),
            ]) == [8, 9]
        )
        #expect(try results([.skip(-1), .limit(-1)]).isEmpty)
    }

    @Test func errorsOfConditionsAreThrown() throws {
        let failing = QueryDescription<Sample>([.filter(Condition(#Predicate { $0.small! > 0 }))])

        let error = #expect(throws: VellumError.self) { try failing.results(of: [Sample()]) }
        #expect(error?.code == .failedQuery)
        #expect(error?.cause is PredicateError)
    }
}
