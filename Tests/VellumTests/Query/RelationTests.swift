import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine
@testable import Vellum

/// An index and the test of an object return the same.
@Suite(.ownThreads)
struct RelationTests {
    typealias Sample = QuerySample

    let catalog: IndexCatalog<Sample>

    init() throws { catalog = try #require(try indexCatalog(of: Sample.self)) }

    /// Compares both and returns whether the index answered the whole condition.
    private func compare(
        _ condition: ValueCondition<Sample>,
        on samples: [Sample],
        _ seed: UInt64,
        _ location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let plan = QueryPlan(QueryDescription([.filter(condition)]), catalog.columns)
        let evaluation = condition.evaluation()
        for sample in samples {
            let expected = try condition.matches(sample)
            #expect(try evaluation(sample) == expected, sourceLocation: location)
            guard let values = catalog.values(of: sample) else { continue }
            let found = try plan.pushed.filter.matches(values)
            // If a part is not pushed down, the index may return too many rows, never too few.
            guard found != expected, plan.isFullyPushed || expected else { continue }
            Issue.record(
                "seed \(seed): \(plan.pushed.filter) is \(found) for \(sample)",
                sourceLocation: location
            )
            return false
        }
        return plan.isFullyPushed
    }

    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 3)))
    func findersAgreeWithTheIndex(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<40).map { _ in Sample.random(&generator) }
        for _ in 0..<40 {
            let condition = Condition.all(RandomConditions.finder(&generator).conditions)
            #expect(try compare(condition, on: samples, seed), "not pushed down, seed \(seed)")
        }
    }

    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 3)))
    func predicatesAgreeWithTheIndex(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<40).map { _ in Sample.random(&generator) }
        for _ in 0..<40 {
            let predicate = RandomConditions.predicate(&generator)
            let condition = Condition(predicate)
            #expect(
                try compare(condition, on: samples, seed),
                "not pushed down, seed \(seed): \(predicate)"
            )
            for sample in samples {
                let expected = try predicate.evaluate(sample)
                #expect(
                    try condition.matches(sample) == expected,
                    "seed \(seed): \(predicate) \(sample)"
                )
            }
        }
    }

    /// What is read of a predicate without its closures is what is found with them (decision 88).
    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 3)))
    func relationsThatAreReadDirectlyAreThoseOfThePlan(seed: UInt64) throws {
        var (generator, direct) = (SeededGenerator(seed: seed), 0)
        let orders: [[SortDescriptor<Sample>]] = [
            [], [SortDescriptor(\.integer)],
            [
                SortDescriptor(\.share, order: .reverse),
                SortDescriptor(\.name, comparator: .lexical),
            ],
            [SortDescriptor(\.ratio), SortDescriptor(\.ratio, order: .reverse)],
        ]
        for _ in 0..<80 {
            let (integer, name) = (
                Sample.integers.random(&generator), Sample.names.random(&generator)
            )
            let ratio = Sample.ratios.random(&generator)
            let predicate = [
                RandomConditions.predicate(&generator),
                #Predicate { $0.integer >= integer && $0.name == name && $0.ratio < ratio },
                #Predicate {
                    ratio <= $0.ratio && ($0.name.starts(with: name) && integer > $0.integer)
                },
            ].random(&generator)
            let (limit, offset) = ([nil, 0, 7].random(&generator), [0, 3].random(&generator))
            let order = orders.random(&generator)
            guard
                let query = PropertyQuery(
                    where: predicate,
                    sortedBy: order,
                    limit: limit,
                    offset: offset
                ),
                let found = catalog.columns.query(query)
            else { continue }
            direct += 1
            let steps = try QueryDescription(
                where: predicate,
                sortedBy: order,
                limit: limit,
                offset: offset
            )
            let plan = QueryPlan(steps, catalog.columns)
            #expect(plan.isFullyPushed && plan.pushed == found, "seed \(seed): \(predicate)")
        }
        #expect(direct > 10)
    }

    @Test func comparisonsOfPropertiesAreReadDirectly() throws {
        let (number, name) = (3, "a")
        let read: [Predicate<Sample>] = [
            #Predicate { $0.integer == number },
            #Predicate { number < $0.integer && $0.name == name },
            #Predicate { $0.name.starts(with: name) },
            #Predicate { $0.integer >= number && $0.integer < number && $0.address.city == name },
        ]
        for predicate in read {
            #expect(
                PropertyQuery(where: predicate).flatMap(catalog.columns.query) != nil,
                "\(predicate)"
            )
        }
        let others: [Predicate<Sample>] = [
            #Predicate { $0.integer == number || $0.name == name },
            #Predicate { $0.name.contains(name) },
            #Predicate { $0.integer + 1 == number },
        ]
        for predicate in others { #expect(PropertyQuery(where: predicate) == nil, "\(predicate)") }
    }

    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 3)))
    func combinedConditionsAgreeWithTheIndex(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<40).map { _ in Sample.random(&generator) }
        for _ in 0..<20 {
            _ = try compare(RandomConditions.combined(&generator, depth: 3), on: samples, seed)
        }
    }

    @Test(arguments: 0..<UInt64(LongRun.number(20, usually: 4)))
    func ordersAgreeWithTheIndex(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<40).map { _ in Sample.random(&generator) }
        for ordering in RandomConditions.orderings {
            let column = try #require(ordering.property.flatMap(catalog.column))
            for (left, right) in zip(samples, samples.dropFirst()) {
                guard let first = catalog.values(of: left)?.columns[column],
                    let second = catalog.values(of: right)?.columns[column]
                else { continue }
                let expected =
                    first == second ? 0 : (first < second) == ordering.isDescending ? 1 : -1
                #expect(try ordering.compare(left, right) == expected, "seed \(seed)")
            }
        }
    }
}
