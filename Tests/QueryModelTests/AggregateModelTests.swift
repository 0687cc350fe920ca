import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum
@testable import VellumCore

/// An aggregate is the same by an index, by an index that covers a part, by decoding, and of an
/// array.
@Suite(.ownThreads)
struct AggregateModelTests {
    private static let firstSeed =
        ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 1

    /// Predicates with their references. The last is answered by no index.
    private static func conditions(
        _ random: inout SeededGenerator
    ) -> [(
        Predicate<Specimen>?, (Specimen) -> Bool
    )] {
        let (count, name, level) = (
            Nasty.integers.random(&random), Nasty.strings.random(&random),
            Specimen.Level.allCases.random(&random)
        )
        return [
            (nil, { _ in true }),
            (#Predicate { $0.count >= count }, { $0.count >= count }),
            (#Predicate { $0.level == level || $0.flag }, { $0.level == level || $0.flag }),
            (
                #Predicate { $0.tags.contains(name) && $0.count < count },
                { $0.tags.contains(name) && $0.count < count }
            ),
            (#Predicate { !($0.small > 0) }, { !($0.small > 0) }),
            (#Predicate { $0.note != name }, { $0.note != name }),
        ]
    }

    /// Compares an aggregate with its reference; `nil` is an error.
    private func check<Result>(
        _ what: String,
        _ result: @autoclosure () throws -> Result,
        _ expected: Result?,
        _ isEqual: (Result, Result) -> Bool
    ) throws {
        do {
            let result = try result()
            #expect(
                expected.map { isEqual(result, $0) } == true,
                "\(what): \(result), not \(expected as Any)"
            )
        } catch let error as VellumError {
            #expect(
                expected == nil && error.code == .failedQuery,
                "\(what): \(error), not \(expected as Any)"
            )
        }
    }

    @Test(arguments: firstSeed..<(firstSeed + UInt64(LongRun.number(24, usually: 6))))
    func anIndexNeverChangesAnAggregate(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try ArchivesFactory.inMemory().store(for: Specimen.self)
        var specimens = (0..<Int.random(in: 0...20, using: &random)).map {
            Specimen.random("key \($0)", &random)
        }
        // An index covers a specimen whose strings are all certain.
        if seed % 3 > 0 { specimens.removeAll { !$0.isCertain } }
        try store.record(contentsOf: specimens)

        for (number, (predicate, isFound)) in Self.conditions(&random).enumerated() {
            let found = specimens.filter(isFound)
            let what = "VELLUM_SEED=\(seed), condition \(number)"
            func same<Value: Equatable>(_ left: Value, _ right: Value) -> Bool {
                left == right || left != left && right != right
            }

            let (counts, smalls) = (
                found.map { Int128($0.count) }.reduce(0, +),
                found.map { Int128($0.small) }.reduce(0, +)
            )
            try check(
                "\(what): count",
                store.sum(of: \.count, where: predicate),
                Int(exactly: counts),
                ==
            )
            try check(
                "\(what): small",
                store.sum(of: \.small, where: predicate),
                Int8(exactly: smalls),
                ==
            )
            try check(
                "\(what): huge",
                store.sum(of: \.huge, where: predicate),
                UInt64(exactly: found.map { UInt128($0.huge) }.reduce(0, +)),
                ==
            )
            let zips = found.compactMap { $0.home.zip.map { Int128($0) } }
            try check(
                "\(what): zip",
                store.sum(of: \.home.zip, where: predicate),
                Int(exactly: zips.reduce(0, +)),
                ==
            )
            try check(
                "\(what): average",
                store.average(of: \.home.zip, where: predicate),
                .some(zips.isEmpty ? nil : Double(zips.reduce(0, +)) / Double(zips.count)),
                ==
            )
            try check(
                "\(what): ratio",
                store.sum(of: \.ratio, where: predicate),
                Self.sum(found.map(\.ratio)),
                same
            )

            let ratios = found.map(\.ratio).filter { !$0.isNaN }
            let nan = found.isEmpty ? nil : Double.nan
            try check(
                "\(what): least",
                store.min(of: \.ratio, where: predicate),
                .some(ratios.min() ?? nan),
                same
            )
            try check(
                "\(what): greatest",
                store.max(of: \.ratio, where: predicate),
                .some(ratios.max() ?? nan),
                same
            )
            let order = PropertyOrder.comparison(of: String.self)
            let names = found.map(\.name).sorted { order($0, $1) < 0 }
            try check(
                "\(what): first name",
                store.min(of: \.name, where: predicate),
                .some(names.first),
                ==
            )
            try check(
                "\(what): last name",
                store.max(of: \.name, where: predicate),
                .some(names.last),
                ==
            )
            try check(
                "\(what): seen",
                store.max(of: \.seen, where: predicate),
                .some(found.compactMap(\.seen).max()),
                ==
            )
            try check(
                "\(what): code",
                store.min(of: \.code, where: predicate),
                .some(found.map(\.code).min()),
                ==
            )

            func groups<Value: Hashable & SendableMetatype>(
                _ property: KeyPath<Specimen, Value>,
                _ name: String
            ) throws {
                let expected = found.reduce(into: [:]) {
                    $0[$1[keyPath: property], default: 0] += 1
                }
                try check(
                    "\(what): by \(name)",
                    store.count(by: property, where: predicate),
                    expected,
                    ==
                )
            }
            try groups(\.flag, "flag")
            try groups(\.count, "count")
            try groups(\.huge, "huge")
            try groups(\.name, "name")
            try groups(\.nick, "nick")
            try groups(\.day, "day")
            try groups(\.blob, "blob")
            try groups(\.kind, "kind")
            try groups(\.level, "level")
            try groups(\.home.zip, "zip")
            try groups(\.note, "note")

            let isWhole = try store.indexProgress().isComplete && seed % 3 > 0
            if isWhole, number < 5 {
                #expect(try store.explain(.sum, of: \.count, where: predicate).decodedObjects == 0)
            }
        }
    }

    /// The sum of numbers of which two of the greatest, or none, are together.
    private static func sum(_ numbers: [Double]) -> Double {
        let (finite, special) = (numbers.filter(\.isFinite), numbers.filter { !$0.isFinite })
        if !special.isEmpty { return special.reduce(0, +) }
        return finite.count { $0 == .greatestFiniteMagnitude } > 1 ? .infinity : roundedOnce(finite)
    }

    /// The correctly rounded sum by another algorithm, which needs that no partial sum overflows:
    /// Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
    /// Predicates", 1997, as Python's `math.fsum` rounds it.
    private static func roundedOnce(_ numbers: [Double]) -> Double {
        var partials: [Double] = []
        for number in numbers {
            var (sum, kept) = (number, [Double]())
            for partial in partials {
                let (large, small) = abs(sum) < abs(partial) ? (partial, sum) : (sum, partial)
                let high = large + small
                let low = small - (high - large)
                if low != 0 { kept.append(low) }
                sum = high
            }
            partials = kept + [sum]
        }
        guard var high = partials.popLast() else { return 0 }
        var low = 0.0
        while let next = partials.popLast() {
            let sum = high + next
            low = next - (sum - high)
            high = sum
            if low != 0 { break }
        }
        if let rest = partials.last, low < 0 && rest < 0 || low > 0 && rest > 0 {
            let doubled = low * 2
            let sum = high + doubled
            if doubled == sum - high { high = sum }
        }
        return high
    }

    @Test(arguments: firstSeed..<(firstSeed + UInt64(LongRun.number(200, usually: 30))))
    func aSumIsCorrectlyRoundedInAnyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let range = [0...0, -3...3, -60...60, -1000...1000, -1074 ... -1040].random(&random)
        var numbers = (0..<Int.random(in: 0...1500, using: &random)).map { _ in
            Double(
                sign: [.plus, .minus].random(&random),
                exponent: Int.random(in: range, using: &random),
                significand: Double.random(in: 1..<2, using: &random)
            )
        }
        // Cancellation leaves what is small.
        numbers += numbers.dropFirst(2).map { -$0 }
        let expected = Self.roundedOnce(numbers)
        for _ in 0..<2 {
            numbers.shuffle(using: &random)
            var sum = ExactSum()
            for number in numbers { sum.add(number) }
            #expect(sum.number(Double.self) == expected, "VELLUM_SEED=\(seed)")
        }
        let exact = numbers.reduce(into: ExactSum()) { $0.add($1) }
        #expect(
            exact.average == (numbers.isEmpty ? nil : expected / Double(numbers.count)),
            "VELLUM_SEED=\(seed)"
        )
    }
}
