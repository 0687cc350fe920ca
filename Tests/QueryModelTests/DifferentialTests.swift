import Foundation
import TestThreads
import Testing
import VellumEngine
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// A query returns the same with indexes, without them, during a migration, and from an array.
///
/// `VELLUM_FUZZ` is the number of pairs of data and query, `VELLUM_SEED` the seed of the random
/// numbers.
@Suite(.ownThreads(.longSuite))
struct DifferentialTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    private static let wanted = number("VELLUM_FUZZ")
    /// With 48 the changing archive has had every kind of version.
    private static let queriesForEachArchive =
        wanted == nil ? LongRun.number(250, usually: 100) : 250
    /// Rounds that run beside each other.
    private static let rounds = 4
    private static let archives =
        (wanted ?? LongRun.number(1500, usually: 400)) / queriesForEachArchive
    private static let firstSeed = number("VELLUM_SEED") ?? 1

    @Test(arguments: 0..<rounds)
    func anIndexNeverChangesAResult(round: Int) throws {
        for number in stride(from: round, to: max(Self.archives, 1), by: Self.rounds) {
            let seed = UInt64(Self.firstSeed + number)
            var random = SeededGenerator(seed: seed)
            var specimens = (0..<Int.random(in: 0...24, using: &random)).map {
                Specimen.random("key \($0)", &random)
            }
            // An index that does not cover them all counts nothing.
            if seed % 3 > 0 { specimens.removeAll { !$0.isCertain } }
            // Of every other archive some objects are lost.
            let lost =
                seed.isMultiple(of: 2)
                ? LostObjects() : LostObjects.random(of: specimens.map(\.key), &random)
            var stores = try DifferentialStores(specimens, lost: lost)
            for turn in 0..<Self.queriesForEachArchive {
                if turn % 16 == 0 { try stores.raiseVersion() }
                if turn == 8 { try stores.meetLostObjects() }
                let query = RandomQuery.random(&random)
                let expected = query.answer(specimens, without: lost)
                guard
                    let complaint = try stores.complaint(
                        query.question,
                        expected,
                        asksMore: turn % 4 == 0
                    )
                else { continue }
                let (smallest, fewest) = try Self.shrink(query, specimens, lost)
                Issue.record(
                    """
                    seed \(seed) (VELLUM_SEED=\(seed) VELLUM_FUZZ=\(Self.queriesForEachArchive)): \
                    \(complaint)
                    \(query)
                    shrunk: \(smallest)
                    on \(fewest.count) objects: \(fewest)
                    """
                )
                return
            }
        }
    }

    /// Returns a smaller query and fewer objects that still fail.
    private static func shrink(
        _ query: RandomQuery,
        _ specimens: [Specimen],
        _ lost: LostObjects
    ) throws -> (RandomQuery, [Specimen]) {
        var (query, specimens) = (query, specimens)
        func fails(_ query: RandomQuery, _ specimens: [Specimen]) throws -> Bool {
            var stores = try DifferentialStores(specimens, lost: lost)
            try stores.meetLostObjects()
            return try stores.complaint(
                query.question,
                query.answer(specimens, without: lost)
            ) != nil
        }
        var isShrinking = true
        while isShrinking {
            isShrinking = false
            while let smaller = try query.smaller.first(where: { try fails($0, specimens) }) {
                (query, isShrinking) = (smaller, true)
            }
            for index in specimens.indices.reversed() {
                var fewer = specimens
                fewer.remove(at: index)
                if try fails(query, fewer) { (specimens, isShrinking) = (fewer, true) }
            }
        }
        return (query, specimens)
    }
}
