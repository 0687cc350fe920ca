import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import Vellum

/// Conditions that an index can answer, as finders and as predicates.
enum RandomConditions {
    typealias Sample = QuerySample
    typealias Finder = QueryFinder<QuerySample>

    static func combined(_ generator: inout SeededGenerator, depth: Int) -> ValueCondition<Sample> {
        switch Int.random(in: 0..<(depth == 0 ? 3 : 7), using: &generator) {
        case 0: return .all(finder(&generator).conditions)
        case 1: return Condition(predicate(&generator))
        // No index answers this condition.
        case 2: return .all(Finder().name(.contains("a")).conditions)
        case 3: return .not(combined(&generator, depth: depth - 1))
        case 4:
            return .any([
                combined(&generator, depth: depth - 1), combined(&generator, depth: depth - 1),
            ])
        default:
            return .all([
                combined(&generator, depth: depth - 1), combined(&generator, depth: depth - 1),
            ])
        }
    }

    static func finder(_ generator: inout SeededGenerator) -> Finder {
        let finders = ordered(&generator) + equal(&generator) + missing + elements(&generator)
        return finders.random(&generator)
    }

    private static func ordered(_ generator: inout SeededGenerator) -> [Finder] {
        let (integer, small) = (
            Sample.integers.random(&generator), Sample.smalls.random(&generator)
        )
        let (large, ratio) = (Sample.larges.random(&generator), Sample.ratios.random(&generator))
        let (share, name) = (Sample.shares.random(&generator), Sample.names.random(&generator))
        let (date, identifier) = (
            Sample.dates.random(&generator), Sample.identifiers.random(&generator)
        )
        let finder = Finder()
        return [
            finder.integer(.less(than: integer)), finder.integer(.greater(than: integer)),
            finder.small(.less(than: small)), finder.small(.greaterOrEqual(with: small)),
            finder.large(.lessOrEqual(with: large)), finder.large(.greater(than: large)),
            finder.ratio(.less(than: ratio)), finder.ratio(.greater(than: ratio)),
            finder.ratio(.greaterOrEqual(with: ratio)), finder.ratio(.lessOrEqual(with: ratio)),
            finder.share(.less(than: share)), finder.share(.greaterOrEqual(with: share)),
            finder.name(.less(than: name)), finder.name(.greaterOrEqual(with: name)),
            finder.nick(.lessOrEqual(with: name)), finder.nick(.greater(than: name)),
            finder.date(.less(than: date)), finder.date(.greater(than: date)),
            finder.identifier(.less(than: identifier)),
            finder.identifier(.greaterOrEqual(with: identifier)),
        ]
    }

    private static func equal(_ generator: inout SeededGenerator) -> [Finder] {
        let (name, ratio) = (Sample.names.random(&generator), Sample.ratios.random(&generator))
        let (share, date) = (Sample.shares.random(&generator), Sample.dates.random(&generator))
        let (bytes, kind) = (
            Sample.data.random(&generator), Sample.Kind.allCases.random(&generator)
        )
        let (nick, mark) = (
            Sample.names.randomOrNil(&generator), [true, false].randomOrNil(&generator)
        )
        let finder = Finder()
        return [
            finder.name(.isEqual(name)), finder.name(.isNotEqual(name)),
            finder.nick(.isEqual(nick)), finder.nick(.isNotEqual(nick)),
            finder.ratio(.isEqual(ratio)), finder.ratio(.isNotEqual(ratio)),
            finder.share(.isEqual(share)),
            finder.share(.isNotEqual(share)), finder.date(.isEqual(date)),
            finder.date(.isNotEqual(date)),
            finder.bytes(.isEqual(bytes)), finder.bytes(.isNotEqual(bytes)),
            finder.kind(.isEqual(kind)),
            finder.kind(.isNotEqual(kind)), finder.otherKind(.isEqual(kind)),
            finder.otherKind(.isNotEqual(kind)),
            finder.isMarked(.isEqual(true)), finder.mark(.isEqual(mark)),
            finder.mark(.isNotEqual(mark)),
            finder.identifier(.isEqual(Sample.identifiers.random(&generator))),
            finder.large(.isNotEqual(Sample.larges.random(&generator))),
            finder.isOdd(.isEqual(true)), finder.isLarge(.isEqual(true)),
        ]
    }

    private static var missing: [Finder] {
        let finder = Finder()
        return [
            finder.nick(.isNil()), finder.nick(.isNotNil()), finder.nick(.isNilOrEmpty()),
            finder.nick(.isEmpty()),
            finder.nick(.isNotEmpty()), finder.name(.isEmpty()), finder.name(.isNotEmpty()),
            finder.bytes(.isEmpty()),
            finder.bytes(.isNotEmpty()), finder.date(.isNil()), finder.date(.isEqual(nil)),
            finder.share(.isNotEqual(nil)),
        ]
    }

    private static func elements(_ generator: inout SeededGenerator) -> [Finder] {
        let names = Sample.names.randomSome(&generator)
        let (name, ratio) = (Sample.names.random(&generator), Sample.ratios.random(&generator))
        let kind = Sample.Kind.allCases.random(&generator)
        let finder = Finder()
        return [
            finder.tags(.contains(with: name)), finder.tags(.contains(atLeastOne: names)),
            finder.tags(.contains(all: names)),
            finder.tags(.contains(name)), finder.numbers(.contains(with: ratio)),
            finder.numbers(.contains(atLeastOne: [ratio, 1])),
            finder.numbers(.contains(all: [ratio])), finder.kinds(.contains(with: kind)),
        ]
    }

    static var orderings: [Ordering<Sample>] {
        let by = QuerySorter<Sample>()
        let both = [QuerySortDirection.ascending, .descending].flatMap { direction in
            by.integer(direction).small(direction).large(direction).ratio(direction).share(
                direction
            ).name(direction)
                .nick(direction).date(direction).identifier(direction).orderings
        }
        return both + [
            Ordering(SortDescriptor(\Sample.ratio)),
            Ordering(SortDescriptor(\Sample.date, order: .reverse)),
            Ordering(SortDescriptor(\Sample.name, comparator: .lexical)),
            Ordering(SortDescriptor(\Sample.share, order: .reverse)),
        ]
    }
}
