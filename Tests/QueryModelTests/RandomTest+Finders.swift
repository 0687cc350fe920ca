import Foundation
import VellumTestSupport
import Vellum

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

extension RandomTest {
    // MARK: Finders

    static var finders: [Maker] {
        [
            {
                let x = pick(Nasty.strings, &$0);
                return .init("name(.isEqual \(x.debugDescription))", { $0.name(.isEqual(with: x)) })
                { $0.name == x }
            },
            {
                let x = pick(Nasty.strings, &$0);
                return .init("nick(.isEqual \(x.debugDescription))", { $0.nick(.isEqual(with: x)) })
                { $0.nick == x }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "nick(.isNotEqual \(x.debugDescription))",
                    { $0.nick(.isNotEqual(with: x)) }
                ) { $0.nick != x }
            },
            {
                let x = pick(Nasty.strings, &$0)
                return .init("nick(.less \(x.debugDescription))", { $0.nick(.less(than: x)) }) {
                    $0.nick.map { $0.isBefore(x) } ?? false
                }
            },
            { _ in
                .init("nick(.isNilOrEmpty)", { $0.nick(.isNilOrEmpty()) }) {
                    $0.nick?.isEmpty ?? true
                }
            },
            { _ in .init("nick(.isNotNil)", { $0.nick(.isNotNil()) }) { $0.nick != nil } },
            { _ in .init("name(.isEmpty)", { $0.name(.isEmpty()) }) { $0.name.isEmpty } },
            { _ in .init("name(.isNotEmpty)", { $0.name(.isNotEmpty()) }) { !$0.name.isEmpty } },
            {
                let x = pick(Nasty.strings, &$0)
                return .init(
                    "name(.contains \(x.debugDescription), any case)",
                    { $0.name(.contains(string: x, caseSensitive: false)) }
                ) {
                    x.isEmpty || $0.name.lowercased().holds(x.lowercased())
                }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio(.greater \(x))", { $0.ratio(.greater(than: x)) }) {
                    $0.ratio > x
                }
            },
            {
                let x = pick(Nasty.numbers, &$0);
                return .init("ratio(.isNotEqual \(x))", { $0.ratio(.isNotEqual(with: x)) }) {
                    $0.ratio != x
                }
            },
            {
                let x = Float(pick(Nasty.numbers, &$0))
                return .init("share(.lessOrEqual \(x))", { $0.share(.lessOrEqual(with: x)) }) {
                    $0.share.map { $0 <= x } ?? false
                }
            },
            {
                let x = pick(Nasty.dates, &$0)
                return .init("seen(.greaterOrEqual \(x))", { $0.seen(.greaterOrEqual(with: x)) }) {
                    $0.seen.map { $0 >= x } ?? false
                }
            },
            {
                let x = [pick(Nasty.strings, &$0), pick(Nasty.strings, &$0)]
                return .init("tags(.contains all \(x))", { $0.tags(.contains(all: x)) }) {
                    specimen in x.allSatisfy(specimen.tags.contains)
                }
            },
            {
                let x = [pick(Nasty.strings, &$0), pick(Nasty.strings, &$0)]
                return .init("tags(.contains one of \(x))", { $0.tags(.contains(atLeastOne: x)) }) {
                    specimen in
                    x.contains(where: specimen.tags.contains)
                }
            },
            {
                let x = pick([0, 1, 2], &$0);
                return .init("tags(.countGreater \(x))", { $0.tags(.countGreater(than: x)) }) {
                    $0.tags.count > x
                }
            },
            {
                let x = pick(Specimen.Kind.allCases, &$0);
                return .init("kind(.isNotEqual \(x))", { $0.kind(.isNotEqual(with: x)) }) {
                    $0.kind != x
                }
            },
            {
                let x = pick(Specimen.Level.allCases, &$0)
                return .init("level(.isNotEqual \(x))", { $0.level(.isNotEqual(with: x)) }) {
                    $0.level != x
                }
            },
            {
                let (x, y) = (pick(Nasty.strings, &$0), pick(Nasty.integers, &$0))
                return .init(
                    "note(.isEqual \(x.debugDescription)), count(.less \(y))",
                    { $0.note(.isEqual(with: x)).count(.less(than: y)) }
                ) {
                    $0.note == x && $0.count < y
                }
            },
        ]
    }
}
