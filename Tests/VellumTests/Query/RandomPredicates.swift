import Foundation
import VellumTestSupport

@testable import Vellum

extension RandomConditions {
    /// Returns a random predicate that an index can answer.
    static func predicate(_ generator: inout SeededGenerator) -> Predicate<QuerySample> {
        let predicates = numbers(&generator) + texts(&generator) + others(&generator)
        return predicates.random(&generator)
    }

    private static func numbers(_ generator: inout SeededGenerator) -> [Predicate<QuerySample>] {
        let (integer, small) = (
            Sample.integers.random(&generator), Sample.smalls.randomOrNil(&generator)
        )
        let (large, ratio) = (Sample.larges.random(&generator), Sample.ratios.random(&generator))
        let (least, most) = (Swift.min(integer, 5), Swift.max(integer, 5))
        let (share, integers) = (
            Sample.shares.random(&generator), Sample.integers.randomSome(&generator)
        )
        let through = ...(ratio.isNaN ? 0 : ratio)
        return [
            #Predicate { $0.integer == integer }, #Predicate { integer != $0.integer },
            #Predicate { $0.integer < integer },
            #Predicate { integer < $0.integer }, #Predicate { integer >= $0.integer },
            #Predicate { $0.integer <= integer },
            #Predicate { $0.small == small }, #Predicate { $0.small != small },
            #Predicate { $0.small == nil },
            #Predicate { $0.small != nil }, #Predicate { $0.large > large },
            #Predicate { large > $0.large },
            #Predicate { $0.ratio == ratio }, #Predicate { $0.ratio != ratio },
            #Predicate { $0.ratio >= ratio },
            #Predicate { $0.ratio < ratio }, #Predicate { !($0.ratio < ratio) },
            #Predicate { $0.ratio > -ratio },
            #Predicate { (least...most).contains($0.integer) },
            #Predicate { (least..<most).contains($0.integer) },
            #Predicate { integers.contains($0.integer) },
            #Predicate { !integers.contains($0.integer) },
            #Predicate { $0.share == share }, #Predicate { $0.share != share },
            #Predicate { through.contains($0.ratio) },
            #Predicate { if let value = $0.share { value > share } else { false } },
            #Predicate { $0.share.flatMap { $0 <= share } == true },
            #Predicate { if let value = $0.share { value != share && value >= 0 } else { false } },
            #Predicate { ($0.share ?? 0) < share }, #Predicate { ($0.share ?? 1) >= share },
            #Predicate { share <= ($0.share ?? 0) },
            #Predicate { !(($0.share ?? share) > 0) }, #Predicate { ($0.share ?? 0) == share },
            #Predicate { ($0.share ?? 0) != share },
        ]
    }

    private static func texts(_ generator: inout SeededGenerator) -> [Predicate<QuerySample>] {
        let (name, nick) = (Sample.names.random(&generator), Sample.names.randomOrNil(&generator))
        let names = Sample.names.randomSome(&generator)
        return [
            #Predicate { $0.name == name }, #Predicate { $0.name != name },
            #Predicate { $0.name < name }, #Predicate { $0.name >= name },
            #Predicate { $0.name.starts(with: name) }, #Predicate { !$0.name.starts(with: name) },
            #Predicate { $0.nick == nick },
            #Predicate { $0.nick != nick }, #Predicate { $0.tags.contains(name) },
            #Predicate { names.contains($0.name) },
            #Predicate { $0.address.city == name },
            #Predicate { $0.address.city.starts(with: name) },
            #Predicate { if let nick = $0.nick { nick.starts(with: name) } else { false } },
            #Predicate { ($0.nick ?? "") == name }, #Predicate { ($0.nick ?? "a") < name },
            #Predicate { name != ($0.nick ?? name) },
        ]
    }

    private static func others(_ generator: inout SeededGenerator) -> [Predicate<QuerySample>] {
        let (date, bytes) = (
            Sample.dates.randomOrNil(&generator), Sample.data.randomOrNil(&generator)
        )
        let (identifier, mark) = (
            Sample.identifiers.random(&generator), [true, false].randomOrNil(&generator)
        )
        let (kind, otherKind) = (
            Sample.Kind.allCases.random(&generator), Sample.Kind.allCases.randomOrNil(&generator)
        )
        return [
            #Predicate { $0.date == date }, #Predicate { $0.date != date },
            #Predicate { $0.bytes == bytes },
            #Predicate { $0.identifier == identifier }, #Predicate { $0.identifier < identifier },
            #Predicate { $0.isMarked },
            #Predicate { !$0.isMarked }, #Predicate { $0.mark == mark },
            #Predicate { $0.mark != mark }, #Predicate { $0.kind == kind },
            #Predicate { $0.kind != kind }, #Predicate { $0.otherKind == otherKind },
            #Predicate { $0.otherKind != otherKind },
            #Predicate { $0.kinds.contains(kind) }, #Predicate { $0.isOdd || $0.isLarge },
            #Predicate { $0.isOdd && !$0.isLarge },
            #Predicate { if let mark = $0.mark { mark } else { false } },
        ]
    }
}
