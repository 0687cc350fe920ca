import Foundation
import VellumTestSupport
import Vellum

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// A test of a specimen as a predicate or a finder, with a hand-written reference.
struct RandomTest {
    var words: String
    var condition: ValueCondition<Specimen>
    var expected: (Specimen) -> Bool

    init(
        _ words: String,
        _ predicate: Predicate<Specimen>,
        _ expected: @escaping (Specimen) -> Bool
    ) {
        self.words = words
        condition = Condition(predicate)
        self.expected = expected
    }

    init(
        _ words: String,
        _ find: (QueryFinder<Specimen>) -> QueryFinder<Specimen>,
        _ expected: @escaping (Specimen) -> Bool
    ) {
        self.words = words
        condition = .all(find(QueryFinder()).conditions)
        self.expected = expected
    }

    /// Returns a random test with random operands.
    static func random(_ random: inout SeededGenerator) -> RandomTest {
        let makers = predicates + ignoring + forcedUnwraps + finders
        return makers[Int.random(in: 0..<makers.count, using: &random)](&random)
    }

    typealias Maker = (inout SeededGenerator) -> RandomTest

    static func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    // MARK: Predicates

    private static var predicates: [Maker] {
        [
            {
                let x = pick(Nasty.strings, &$0);
                return .init("name == \(x.debugDescription)", #Predicate { $0.name == x }) {
                    $0.name == x
                }
            },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("name != \(x.debugDescription)", #Predicate { $0.name != x }) {
                    $0.name != x
                }
            },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("name < \(x.debugDescription)", #Predicate { $0.name < x }) {
                    $0.name.isBefore(x)
                }
            },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("name >= \(x.debugDescription)", #Predicate { $0.name >= x }) {
                    !$0.name.isBefore(x)
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "name starts \(x.debugDescription)",
                    #Predicate { $0.name.starts(with: x) }
                ) { $0.name.starts(with: x) }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "city starts \(x.debugDescription)",
                    #Predicate { $0.home.city.starts(with: x) }
                ) {
                    $0.home.city.starts(with: x)
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init("name has \(x.debugDescription)", #Predicate { $0.name.contains(x) }) {
                    x.isEmpty || $0.name.holds(x)
                }
            },
            {
                let x: String? = pick(Nasty.strings + [nil], &$0)
                return .init("nick == \(x.debugDescription)", #Predicate { $0.nick == x }) {
                    $0.nick == x
                }
            },
            {
                let x: String? = pick(Nasty.strings + [nil], &$0)
                return .init("nick != \(x.debugDescription)", #Predicate { $0.nick != x }) {
                    $0.nick != x
                }
            },
            {
                let x: String? = pick(Nasty.strings + [nil], &$0)
                return .init(
                    "away?.city == \(x.debugDescription)",
                    #Predicate { $0.away?.city == x }
                ) { $0.away?.city == x }
            },
            {
                let x: Int? = pick(Nasty.integers + [nil], &$0)
                return .init("away?.zip != \(x as Any)", #Predicate { $0.away?.zip != x }) {
                    $0.away?.zip != x
                }
            },
            {
                let x = pick(Nasty.integers, &$0)
                return .init("(away?.zip ?? 2) < \(x)", #Predicate { ($0.away?.zip ?? 2) < x }) {
                    ($0.away?.zip ?? 2) < x
                }
            },
            { _ in .init("nick == nil", #Predicate { $0.nick == nil }) { $0.nick == nil } },
            { _ in .init("nick != nil", #Predicate { $0.nick != nil }) { $0.nick != nil } },
            {
                let x = pick(Nasty.strings, &$0);
                return .init(
                    "(nick ?? \"\") == \(x.debugDescription)",
                    #Predicate { ($0.nick ?? "") == x }
                ) { ($0.nick ?? "") == x }
            },
            { _ in .init("flag", #Predicate { $0.flag }) { $0.flag } },
            { _ in .init("!flag", #Predicate { !$0.flag }) { !$0.flag } },
            {
                let x: Int8 = pick([.min, -1, 0, 1, .max], &$0);
                return .init("small <= \(x)", #Predicate { $0.small <= x }) { $0.small <= x }
            },
            {
                let x = pick(Nasty.integers, &$0);
                return .init("count == \(x)", #Predicate { $0.count == x }) { $0.count == x }
            },
            {
                let x = pick(Nasty.integers, &$0);
                return .init("\(x) < count", #Predicate { x < $0.count }) { x < $0.count }
            },
            {
                let x = [pick(Nasty.integers, &$0), pick(Nasty.integers, &$0)]
                return .init("\(x) contains count", #Predicate { x.contains($0.count) }) {
                    x.contains($0.count)
                }
            },
            {
                let x = pick(Nasty.integers, &$0)
                let range = min(0, x)...max(0, x)
                return .init("\(range) contains count", #Predicate { range.contains($0.count) }) {
                    range.contains($0.count)
                }
            },
            {
                let x = pick(Nasty.unsigned, &$0);
                return .init("huge > \(x)", #Predicate { $0.huge > x }) { $0.huge > x }
            },
            {
                let x = pick(Nasty.unsigned, &$0);
                return .init("huge == \(x)", #Predicate { $0.huge == x }) { $0.huge == x }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio == \(x)", #Predicate { $0.ratio == x }) { $0.ratio == x }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio != \(x)", #Predicate { $0.ratio != x }) { $0.ratio != x }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio > \(x)", #Predicate { $0.ratio > x }) { $0.ratio > x }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio <= \(x)", #Predicate { $0.ratio <= x }) { $0.ratio <= x }
            },
            {
                let x: Float? = Float(pick(Nasty.numbers, &$0));
                return .init("share == \(x as Any)", #Predicate { $0.share == x }) { $0.share == x }
            },
            {
                let x = pick(Nasty.dates, &$0);
                return .init("day < \(x)", #Predicate { $0.day < x }) { $0.day < x }
            },
            {
                let x: Date? = pick(Nasty.dates, &$0);
                return .init("seen == \(x as Any)", #Predicate { $0.seen == x }) { $0.seen == x }
            },
            {
                let x = pick(Nasty.codes, &$0);
                return .init("code == \(x)", #Predicate { $0.code == x }) { $0.code == x }
            },
            {
                let x = pick(Nasty.blobs, &$0);
                return .init("blob == \(x as NSData)", #Predicate { $0.blob == x }) { $0.blob == x }
            },
            {
                let x = pick(Specimen.Kind.allCases, &$0);
                return .init("kind == \(x)", #Predicate { $0.kind == x }) { $0.kind == x }
            },
            {
                let x: Specimen.Level? = pick(Specimen.Level.allCases + [nil], &$0)
                return .init("level == \(x as Any)", #Predicate { $0.level == x }) { $0.level == x }
            },
            {
                let x: Int? = pick(Nasty.integers + [nil], &$0)
                return .init("home.zip == \(x as Any)", #Predicate { $0.home.zip == x }) {
                    $0.home.zip == x
                }
            },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("tags has \(x.debugDescription)", #Predicate { $0.tags.contains(x) }) {
                    $0.tags.contains(x)
                }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("marks has \(x)", #Predicate { $0.marks.contains(x) }) {
                    $0.marks.contains(x)
                }
            },
            { _ in .init("tags is empty", #Predicate { $0.tags.isEmpty }) { $0.tags.isEmpty } },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("note == \(x.debugDescription)", #Predicate { $0.note == x }) {
                    $0.note == x
                }
            },
            {
                let (x, y) = (pick(Nasty.integers, &$0), pick(Nasty.strings, &$0))
                return .init(
                    "count > \(x) && name > \(y.debugDescription)",
                    #Predicate { $0.count > x && $0.name > y }
                ) {
                    $0.count > x && y.isBefore($0.name)
                }
            },
            {
                let (x, y) = (pick(Nasty.integers, &$0), pick(Nasty.strings, &$0))
                return .init(
                    "count == \(x) || note == \(y.debugDescription)",
                    #Predicate { $0.count == x || $0.note == y }
                ) {
                    $0.count == x || $0.note == y
                }
            },
        ]
    }

    private static var ignoring: [Maker] {
        [
            {
                let x = pick(Nasty.strings, &$0).ignoringCaseAndDiacritics
                return .init(
                    "name == \(x.debugDescription), plain",
                    #Predicate { $0.name.ignoringCaseAndDiacritics == x }
                ) {
                    $0.name.ignoringCaseAndDiacritics == x
                }
            },
            {
                let x = pick(Nasty.strings, &$0).ignoringCaseAndDiacritics
                return .init(
                    "name starts \(x.debugDescription), plain",
                    #Predicate { $0.name.ignoringCaseAndDiacritics.starts(with: x) }
                ) {
                    $0.name.ignoringCaseAndDiacritics.starts(with: x)
                }
            },
            {
                let x = pick(Nasty.strings, &$0).ignoringCaseAndDiacritics
                return .init(
                    "name > \(x.debugDescription), plain",
                    #Predicate { $0.name.ignoringCaseAndDiacritics > x }
                ) {
                    x.isBefore($0.name.ignoringCaseAndDiacritics)
                }
            },
            {
                let x = pick(Nasty.strings, &$0).ignoringCase
                return .init(
                    "nick == \(x.debugDescription), any case",
                    #Predicate { $0.nick.ignoringCase == x }
                ) {
                    $0.nick.ignoringCase == x
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "name(.isEqual \(x.debugDescription)), plain",
                    { $0.name(.isEqual(x, ignoring: .caseAndDiacritics)) }
                ) {
                    $0.name.ignoringCaseAndDiacritics == x.ignoringCaseAndDiacritics
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "name(.contains \(x.debugDescription)), plain",
                    { $0.name(.contains(x, ignoring: .caseAndDiacritics)) }
                ) {
                    let part = x.ignoringCaseAndDiacritics
                    return part.isEmpty || $0.name.ignoringCaseAndDiacritics.holds(part)
                }
            },
            {
                let x: String? = pick(Nasty.strings + [nil], &$0)
                return .init(
                    "nick(.isEqual \(x.debugDescription)), any case",
                    { $0.nick(.isEqual(x, ignoring: .case)) }
                ) {
                    $0.nick.ignoringCase == x.ignoringCase
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "nick(.starts \(x.debugDescription)), any case",
                    { $0.nick(.starts(with: x, ignoring: .case)) }
                ) {
                    $0.nick.map { $0.ignoringCase.starts(with: x.ignoringCase) } ?? false
                }
            },
        ]
    }

    // swift-format-ignore: NeverForceUnwrap
    private static var forcedUnwraps: [Maker] {
        [
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "nick! >= \(x.debugDescription)",
                    #Predicate { $0.nick != nil && $0.nick! >= x }
                ) {
                    $0.nick.map { !$0.isBefore(x) } ?? false
                }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "nick! starts \(x.debugDescription)",
                    #Predicate { $0.nick != nil && $0.nick!.starts(with: x) }
                ) {
                    $0.nick?.starts(with: x) ?? false
                }
            },
            {
                let x = Float(pick(Nasty.numbers, &$0))
                return .init("share! != \(x)", #Predicate { $0.share != nil && $0.share! != x }) {
                    $0.share.map { $0 != x } ?? false
                }
            },
            {
                let x = pick(Nasty.dates, &$0)
                return .init("!(seen! < \(x))", #Predicate { nil != $0.seen && !($0.seen! < x) }) {
                    $0.seen.map { !($0 < x) } ?? false
                }
            },
            {
                let x = pick(Specimen.Level.allCases, &$0)
                return .init("level! == \(x)", #Predicate { $0.level != nil && $0.level! == x }) {
                    $0.level == x
                }
            },
            {
                let (x, y): (String, Int?) = (
                    pick(Nasty.strings, &$0), pick(Nasty.integers + [nil], &$0)
                )
                return .init(
                    "away!.city == \(x.debugDescription) || away!.zip != \(y as Any)",
                    #Predicate { $0.away != nil && ($0.away!.city == x || $0.away!.zip != y) }
                ) { $0.away.map { $0.city == x || $0.zip != y } ?? false }
            },
        ]
    }
}

// MARK: Reference for strings

extension String {
    /// The documented order: by the scalars of the normal form. Swift's own order is wrong if a
    /// string that is not normalized is a prefix of another.
    func isBefore(_ other: String) -> Bool {
        precomposedStringWithCanonicalMapping.unicodeScalars.lexicographicallyPrecedes(
            other.precomposedStringWithCanonicalMapping.unicodeScalars
        )
    }

    /// Returns whether the string contains the characters of the other.
    func holds(_ other: String) -> Bool {
        let (characters, part) = (Array(self), Array(other))
        return characters.indices.contains { characters[$0...].starts(with: part) }
    }
}
