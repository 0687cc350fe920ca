import Foundation
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// A random query, its result for an array, and smaller versions of it.
struct RandomQuery: CustomStringConvertible {
    enum Step {
        case filter(Tree)
        case sort([Order])
        case skip(Int)
        case limit(Int)
    }

    indirect enum Tree {
        case test(RandomTest)
        case all([Tree])
        case any([Tree])
        case not(Tree)
    }

    struct Order {
        var words: String
        var ordering: Ordering<Specimen>
        /// The hand-written reference, ascending.
        var compare: (Specimen, Specimen) -> Int
        var isDescending: Bool
    }

    var steps: [Step]

    static func random(_ random: inout SeededGenerator) -> RandomQuery {
        RandomQuery(
            steps: (0..<Int.random(in: 1...4, using: &random)).map { _ in
                switch Int.random(in: 0..<10, using: &random) {
                case 0...5: .filter(.random(depth: Int.random(in: 0...2, using: &random), &random))
                case 6...7:
                    .sort((0..<Int.random(in: 1...2, using: &random)).map { _ in .random(&random) })
                case 8: .skip(Int.random(in: 0...4, using: &random))
                default: .limit(Int.random(in: 0...8, using: &random))
                }
            }
        )
    }

    /// The query of a store.
    var question: QueryDescription<Specimen> {
        QueryDescription(
            steps.map { step in
                switch step {
                case .filter(let tree): .filter(tree.condition)
                case .sort(let orders): .sort(orders.map(\.ordering))
                case .skip(let count): .skip(count)
                case .limit(let count): .limit(count)
                }
            }
        )
    }

    func answer(_ specimens: [Specimen], without lost: LostObjects) -> [Specimen] {
        answer(specimens.filter { !lost.keys.contains($0.key) })
    }

    /// Returns the result for an array.
    func answer(_ specimens: [Specimen]) -> [Specimen] {
        steps.reduce(specimens) { specimens, step in
            switch step {
            case .filter(let tree): specimens.filter(tree.expected)
            case .sort(let orders):
                specimens.enumerated().sorted { left, right in
                    for order in orders {
                        let result =
                            order.compare(left.element, right.element)
                            * (order.isDescending ? -1 : 1)
                        if result != 0 { return result < 0 }
                    }
                    return left.offset < right.offset
                }.map(\.element)
            case .skip(let count): Array(specimens.dropFirst(count))
            case .limit(let count): Array(specimens.prefix(count))
            }
        }
    }

    /// Smaller versions of the query.
    var smaller: [RandomQuery] {
        steps.indices.flatMap { index -> [RandomQuery] in
            var without = self
            without.steps.remove(at: index)
            guard case .filter(let tree) = steps[index] else { return [without] }
            return [without]
                + tree.smaller.map { smaller in
                    var query = self
                    query.steps[index] = .filter(smaller)
                    return query
                }
        }
    }

    var description: String {
        steps.map { step in
            switch step {
            case .filter(let tree): "filter \(tree)"
            case .sort(let orders):
                "sort "
                    + orders.map { $0.words + ($0.isDescending ? " descending" : "") }.joined(
                        separator: ", "
                    )
            case .skip(let count): "skip \(count)"
            case .limit(let count): "limit \(count)"
            }
        }.joined(separator: "; ")
    }
}

extension RandomQuery.Tree: CustomStringConvertible {
    static func random(depth: Int, _ random: inout SeededGenerator) -> RandomQuery.Tree {
        guard depth > 0 else { return .test(.random(&random)) }
        let count = Int.random(in: 1...3, using: &random)
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: .test(.random(&random))
        case 1: .all((0..<count).map { _ in .random(depth: depth - 1, &random) })
        case 2: .any((0..<count).map { _ in .random(depth: depth - 1, &random) })
        default: .not(.random(depth: depth - 1, &random))
        }
    }

    var condition: ValueCondition<Specimen> {
        switch self {
        case .test(let test): test.condition
        case .all(let trees): .all(trees.map(\.condition))
        case .any(let trees): .any(trees.map(\.condition))
        case .not(let tree): .not(tree.condition)
        }
    }

    var expected: (Specimen) -> Bool {
        switch self {
        case .test(let test): test.expected
        case .all(let trees): { specimen in trees.allSatisfy { $0.expected(specimen) } }
        case .any(let trees): { specimen in trees.contains { $0.expected(specimen) } }
        case .not(let tree):
            { specimen in
                !tree.expected(specimen)
            }
        }
    }

    var smaller: [RandomQuery.Tree] {
        switch self {
        case .test: []
        case .not(let tree): [tree] + tree.smaller.map(Self.not)
        case .all(let trees): trees + Self.smaller(trees).map(Self.all)
        case .any(let trees): trees + Self.smaller(trees).map(Self.any)
        }
    }

    private static func smaller(_ trees: [RandomQuery.Tree]) -> [[RandomQuery.Tree]] {
        trees.indices.flatMap { index -> [[RandomQuery.Tree]] in
            var without = trees
            let tree = without.remove(at: index)
            return (without.isEmpty ? [] : [without])
                + tree.smaller.map { smaller in
                    var trees = trees
                    trees[index] = smaller
                    return trees
                }
        }
    }

    var description: String {
        switch self {
        case .test(let test): test.words
        case .all(let trees): "all(" + trees.map(\.description).joined(separator: ", ") + ")"
        case .any(let trees): "any(" + trees.map(\.description).joined(separator: ", ") + ")"
        case .not(let tree): "not(\(tree))"
        }
    }
}

extension RandomQuery.Order {
    static func random(_ random: inout SeededGenerator) -> RandomQuery.Order {
        let isDescending = Bool.random(using: &random)
        let makers = [
            make("count", \.count, isDescending), make("huge", \.huge, isDescending),
            make("name", \.name, isDescending),
            make("note", \.note, isDescending), make("day", \.day, isDescending),
            make("city", \.home.city, isDescending),
            make("nick", \.nick, isDescending), make("seen", \.seen, isDescending),
            make("zip", \.home.zip, isDescending),
            make("plain name", \.name.ignoringCaseAndDiacritics, isDescending),
            makeNumber("ratio", \.ratio, isDescending),
        ]
        return makers[Int.random(in: 0..<makers.count, using: &random)]
    }

    private static func make<Property: Comparable>(
        _ words: String,
        _ path: any KeyPath<Specimen, Property> & Sendable,
        _ isDescending: Bool
    ) -> RandomQuery.Order {
        RandomQuery.Order(
            words: words,
            ordering: Ordering(SortDescriptor(path, order: isDescending ? .reverse : .forward)),
            compare: { order($0[keyPath: path], $1[keyPath: path]) },
            isDescending: isDescending
        )
    }

    private static func make<Property: Comparable>(
        _ words: String,
        _ path: any KeyPath<Specimen, Property?> & Sendable,
        _ isDescending: Bool
    ) -> RandomQuery.Order {
        RandomQuery.Order(
            words: words,
            ordering: Ordering(SortDescriptor(path, order: isDescending ? .reverse : .forward)),
            compare: { left, right in
                switch (left[keyPath: path], right[keyPath: path]) {
                case (let left?, let right?): order(left, right)
                case (nil, nil): 0
                case (nil, _): -1
                case (_, nil): 1
                }
            },
            isDescending: isDescending
        )
    }

    /// NaN comes before all numbers.
    private static func makeNumber(
        _ words: String,
        _ path: any KeyPath<Specimen, Double> & Sendable,
        _ isDescending: Bool
    ) -> RandomQuery.Order {
        RandomQuery.Order(
            words: words,
            ordering: Ordering(SortDescriptor(path, order: isDescending ? .reverse : .forward)),
            compare: { left, right in
                let (left, right) = (left[keyPath: path], right[keyPath: path])
                return left.isNaN || right.isNaN
                    ? (right.isNaN ? 1 : 0) - (left.isNaN ? 1 : 0) : order(left, right)
            },
            isDescending: isDescending
        )
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        if let left = left as? String, let right = right as? String {
            return left.isBefore(right) ? -1 : right.isBefore(left) ? 1 : 0
        }
        return left < right ? -1 : left > right ? 1 : 0
    }
}
