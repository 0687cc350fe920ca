import TestThreads
import Testing

@testable import VellumCore
@testable import VellumEngine

/// The planner works without a database.
@Suite(.ownThreads)
struct QueryPlanTests {
    struct Item {
        var a = 0
        var b: String? = nil
        var d = 0.0
        var tags: [Int] = []
    }

    typealias Plan = QueryPlan<Item>
    typealias Step = QueryDescription<Item>.Step

    private func plan(_ steps: Step...) -> Plan {
        var catalog = IndexCatalog<Item>()
        catalog.addIndex([catalog.addColumn(\.a, name: "a"), catalog.addColumn(\.b, name: "b")])
        catalog.addIndex([catalog.addColumn(\.d, name: "d")])
        catalog.addCollection(\Item.tags, name: "tags", of: Int.self) { $0.tags }
        return QueryPlan(QueryDescription(steps), catalog.columns)
    }

    private func a(_ value: Int) -> ValueCondition<Item> {
        .test(Test(\Item.a, .isEqual(value)) { $0.a == value })
    }
    private let unknown = ValueCondition<Item>.test(Test { _ in true })
    private let byA = Ordering<Item>(\Item.a, isDescending: true) { $1.a - $0.a }
    private let byB = Ordering<Item>(\Item.b, isDescending: false) { _, _ in 0 }
    private let bySomething = Ordering<Item>(isDescending: false) { _, _ in 0 }

    private func equal(_ column: Int, _ value: Int64) -> ColumnCondition {
        .test(ColumnTest(column: column, relation: .isEqual(.integer(value))))
    }

    @Test func conditionsOnIndexedColumnsArePushedDown() {
        let plan = plan(.filter(a(1)), .sort([byA]), .skip(3), .limit(5))
        #expect(plan.isFullyPushed)
        #expect(plan.pushed.filter == .all([equal(0, 1)]))
        #expect(plan.pushed.order == [ColumnOrder(column: 0, isDescending: true)])
        #expect(plan.pushed.offset == 3 && plan.pushed.limit == 5)
    }

    @Test func theIndexedPartsOfAConjunctionNarrowTheCandidates() {
        let plan = plan(.filter(.all([a(1), unknown])), .sort([byA]), .limit(5))
        #expect(plan.pushed.filter == .all([equal(0, 1)]))
        #expect(plan.pushed.order.count == 1)
        #expect(plan.pushed.limit == nil)
        #expect(plan.residual.map(\.description) == ["filter on the object", "limit 5"])
    }

    @Test func aDisjunctionWithAnUnknownPartCannotNarrow() {
        let plan = plan(.filter(.any([a(1), unknown])))
        #expect(plan.pushed.isScan)
        #expect(plan.residual.count == 1)
    }

    @Test func aDisjunctionOfConjunctionsNarrowsByTheIndexedPartsOfEach() {
        let plan = plan(.filter(.any([.all([a(1), unknown]), a(2)])))
        #expect(plan.pushed.filter == .all([.any([.all([equal(0, 1)]), equal(0, 2)])]))
        #expect(plan.residual.count == 1)
    }

    @Test func theNegationOfAPartlyIndexedConditionIsNotPushedDown() {
        #expect(plan(.filter(.not(.all([a(1), unknown])))).pushed.isScan)
        #expect(plan(.filter(.not(a(1)))).pushed.filter == .all([.not(equal(0, 1))]))
    }

    @Test func aLaterSortTakesPrecedenceOverAnEarlierOne() {
        let plan = plan(.sort([byB]), .sort([byA]))
        #expect(plan.pushed.order.map(\.column) == [0, 1])
        #expect(plan.orderings.count == 2)
    }

    @Test func aSortByAnUnindexedPropertyEndsThePushdown() {
        let plan = plan(.filter(a(1)), .sort([bySomething]), .limit(3))
        #expect(plan.pushed.order.isEmpty && plan.pushed.limit == nil)
        #expect(plan.residual.map(\.description) == ["sort by a comparison", "limit 3"])
    }

    @Test func stepsAfterALimitOrOffsetAreNotPushedDown() {
        let plan = plan(.limit(10), .filter(a(1)), .limit(3))
        #expect(plan.pushed.limit == 10)
        #expect(plan.pushed.filter == .all([]))
        #expect(plan.residual.count == 2)
    }

    static var windows: [([Step], Int, Int?)] {
        [
            ([.limit(5), .limit(3)], 0, 3), ([.limit(3), .limit(5)], 0, 3),
            ([.skip(2), .skip(3)], 5, nil),
            ([.limit(10), .skip(4)], 4, 6), ([.limit(3), .skip(4)], 4, 0), ([.limit(-1)], 0, 0),
            ([.skip(-1)], 0, nil),
            ([.skip(.max), .skip(.max)], .max, nil),
        ]
    }

    @Test(arguments: 0..<8)
    func windowsAreCombined(_ number: Int) {
        let (steps, offset, limit) = Self.windows[number]
        let plan = QueryPlan(QueryDescription(steps), IndexCatalog<Item>().columns)
        #expect(plan.pushed.offset == offset && plan.pushed.limit == limit)
    }

    @Test func aComparisonWithNaNMatchesNothing() {
        let isNaN = ValueCondition<Item>.test(Test(\Item.d, .isEqual(Double.nan)) { _ in false })
        #expect(plan(.filter(isNaN)).pushed.filter == .all([.any([])]))
        let below = ValueCondition<Item>.test(
            Test(\Item.d, .isBetween(lower: nil, upper: .init(1.0, isIncluded: true))) { $0.d <= 1 }
        )
        guard case .all(let parts) = plan(.filter(below)).pushed.filter,
            case .test(let test)? = parts.first,
            case .isBetween(let lower, _) = test.relation
        else {
            Issue.record("A range should be a range.")
            return
        }
        #expect(lower == IndexBound(.notANumber, isIncluded: false))
    }

    @Test func anOperandOfAnotherTypeIsNotPushedDown() {
        #expect(plan(.filter(.test(Test(\Item.a, .isEqual("1")) { _ in false }))).pushed.isScan)
    }

    @Test func aListOfAnyLengthIsPushedDown() {
        let many = Array(0..<250_000)
        let plan = plan(.filter(.test(Test(\Item.a, .isIn(many)) { many.contains($0.a) })))
        #expect(plan.isFullyPushed && !plan.pushed.isScan)
    }
}
