import Foundation
import TestThreads
import Testing

@testable import Vellum

@Suite(.ownThreads)
struct ArchiveStoreQueryTests {
    let archives = TemporaryArchives()
    let store: ArchiveStore<City>

    init() throws {
        store = try archives.factory.store(for: City.self)
        try store.record(contentsOf: City.examples)
    }

    @Test func objectsAreFetchedByAPredicateInOrder() throws {
        let large = try store.fetch(
            where: #Predicate { $0.people > 130 && $0.name.contains("e") },
            sortedBy: [SortDescriptor(\.people)]
        )
        #expect(large.map(\.name) == ["Bern", "Basel", "Kiel"])
        #expect(
            try store.fetch(
                sortedBy: [SortDescriptor(\.people, order: .reverse)],
                limit: 2,
                offset: 1
            ).map(\.name) == ["Kiel", "Basel"]
        )
        #expect(
            try store.fetch(
                where: #Predicate { $0.country == "CH" },
                sortedBy: [SortDescriptor(\.people)]
            ).map(\.name) == [
                "Bern", "Basel",
            ]
        )
        #expect(try store.fetch().map(\.name) == City.examples.map(\.name))
    }

    @Test func objectsAreCountedAndTheirExistenceTested() throws {
        #expect(try store.count(where: #Predicate { $0.tags.contains("river") }) == 3)
        #expect(try store.exists(where: #Predicate { $0.country == "AT" }))
        #expect(try store.exists(where: #Predicate { $0.country == "FR" }) == false)
        #expect(
            try store.first(
                where: #Predicate { $0.country == "DE" },
                sortedBy: [SortDescriptor(\.people)]
            )?
            .name == "Ulm"
        )
        #expect(try store.first(where: #Predicate { $0.country == "FR" }) == nil)
        #expect(try store.first()?.name == "Bern")
        #expect(try store.count(where: #Predicate { $0.founded == nil }) == 3)
    }

    /// An object that can be encoded, but decoded only if it is not marked as broken.
    private struct Vase: IndexedArchivable, ArchiveCodable {
        static let archiveName = "Vase"
        var primaryKey: String { "\(number)" }
        var number: Int
        var height = 1
        var isWhole = true

        init(_ number: Int, isWhole: Bool = true) {
            (self.number, self.isWhole) = (number, isWhole)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            isWhole = try container.decode(Bool.self, forKey: .isWhole)
            guard isWhole else { throw CocoaError(.coderReadCorrupt) }
            number = try container.decode(Int.self, forKey: .number)
            height = try container.decode(Int.self, forKey: .height)
        }

        static var archiveIndexes: [ArchiveIndex<Vase>] { [.index(\.number)] }
    }

    @Test func countIncludesInvalidObjectsAndCountWhereDoesNot() throws {
        // Memory is too small for the objects, so that each is decoded.
        let vases = try archives.factory.store(for: Vase.self, memoryLimit: 1.byte)
        for number in 0..<3 { try vases.record(Vase(number)) }
        for number in 3..<5 { try vases.record(Vase(number, isWhole: false)) }
        try vases.record(Vase(5), expiration: .after(.seconds(86_400)))
        #expect(try vases.count() == 6)
        // The index answers the whole predicate, and knows of no invalid object yet.
        #expect(try vases.count(where: #Predicate { $0.number >= 0 }) == 6)
        #expect(try vases.count(where: #Predicate { $0.height == 1 }, undecodable: .skip) == 4)
        #expect(try vases.count(where: #Predicate { $0.number >= 0 }, undecodable: .skip) == 4)

        archives.clock.advance(bySeconds: 2 * 86_400)

        #expect(try vases.count() == 6)
        #expect(try vases.count(where: #Predicate { $0.height == 1 }, undecodable: .skip) == 3)
        #expect(
            try vases.count(
                where: #Predicate { $0.number >= 0 && $0.height == 1 },
                undecodable: .skip
            ) == 3
        )
        #expect(try vases.count(where: #Predicate { $0.number >= 0 }, undecodable: .skip) == 3)
        #expect(throws: VellumError.self) { try vases.count(where: #Predicate { $0.number >= 0 }) }
        #expect(
            try vases.fetch(where: #Predicate { $0.number >= 0 }, undecodable: .skip).map(\.number)
                == [0, 1, 2]
        )
    }

    @Test func deleteAllWhereDeletesOnlyMatchingObjects() throws {
        #expect(
            try store.deleteAll(where: #Predicate { $0.country == "CH" || $0.people > 290 }) == 3
        )
        #expect(try store.fetch().map(\.name) == ["Ulm", "Kiel"])
        #expect(try store.access(archiveWithKey: "Bern") == nil)
        #expect(try store.deleteAll(where: #Predicate { $0.country == "CH" }) == 0)
        #expect(try store.statistics().removals[.explicit] == 3)
    }

    @Test(arguments: [(-1, 0), (0, -1), (.min, .min)])
    func aNegativeLimitOrOffsetIsAnError(_ limit: Int, _ offset: Int) throws {
        let error = #expect(throws: VellumError.self) {
            try store.fetch(limit: limit, offset: offset)
        }
        #expect(error?.code == .invalidQuery)
        let explained = #expect(throws: VellumError.self) {
            try store.explain(limit: limit, offset: offset)
        }
        #expect(explained?.code == .invalidQuery)
    }

    @Test func aNegativeLimitOfTheManagerReturnsNothing() throws {
        let manager = try archives.factory.archives(for: City.self)
        #expect(manager.limitResults(by: -1).getResults().isEmpty)
    }

    @Test func theErrorOfAThrowingPredicateContainsNoData() throws {
        let (secret, date) = ("secret-operand", Date(timeIntervalSince1970: 5))
        let error = #expect(throws: VellumError.self) {
            try store.fetch(where: #Predicate { $0.founded! > date || $0.name == secret })
        }
        #expect(error?.code == .failedQuery)
        #expect(error?.description.contains(secret) == false)
    }

    @Test func explainDescribesTheUseOfAnIndex() throws {
        let explanation = try store.explain(
            where: #Predicate { $0.country == "CH" && $0.name.contains("B") },
            sortedBy: [SortDescriptor(\.people)],
            limit: 1
        )
        #expect(explanation.usesIndex)
        #expect(explanation.pushedDown.first == "country = ?")
        #expect(explanation.remaining.last == "limit 1")
        #expect(explanation.results == 1 && explanation.decodedObjects == 1)
        #expect(explanation.statement?.contains("CH") == false)
        #expect(explanation.description.contains("1 results, 1 objects decoded"))

        let scan = try store.explain(where: #Predicate { $0.name == "Ulm" })
        #expect(
            !scan.usesIndex && scan.statement == nil && scan.decodedObjects == 5
                && scan.results == 1
        )
    }

    @Test func explainSaysWhatFoundationEvaluates() throws {
        let compiled = try store.explain(where: #Predicate { $0.name.contains("er") })
        #expect(compiled.remaining == ["filter on the object"])
        let regex = /^B/
        let interpreted = try store.explain(where: #Predicate { $0.name.contains(regex) })
        #expect(interpreted.remaining == ["filter on the object, evaluated by Foundation"])
        let both = try store.explain(
            where: #Predicate { $0.country == "CH" && $0.name.contains(regex) }
        )
        #expect(both.usesIndex && both.remaining == interpreted.remaining)
    }

    @Test func theManagerExplainsQueries() throws {
        let manager = try archives.factory.archives(for: City.self)
        let explanation = manager.findWhere { $0.country(.isEqual("CH")) }.sorted {
            $0.people(.descending)
        }.explain()
        #expect(explanation.usesIndex && explanation.results == 2 && explanation.remaining.isEmpty)
    }

    @Test func anInvalidExpressionIsReportedAndMatchesNothing() async throws {
        let manager = try archives.factory.archives(for: City.self)
        var failures = manager.failures.makeAsyncIterator()
        #expect(manager.findWhere { $0.name(.matches(regex: "[")) }.getResults().isEmpty)
        #expect(try await failures.next()?.code == .invalidQuery)
    }

    @Test func queriesDoNotAffectTheEvictionOrder() throws {
        let keys = try store.keys()
        _ = try store.fetch(where: #Predicate { $0.country == "CH" })
        _ = try store.fetch(where: #Predicate { $0.name == "Ulm" })
        _ = try store.count(where: #Predicate { $0.people > 3 })
        #expect(try store.keys() == keys)
    }

    @Test func aQueryInsideATransactionSeesOnlyCommittedObjects() throws {
        try archives.factory.transaction { transaction in
            try transaction.record(City(name: "Zug", country: "CH", people: 30), in: store)
            transaction.delete(archiveWithKey: "Bern", in: store)
            #expect(try store.count(where: #Predicate { $0.country == "CH" }) == 2)
        }
        #expect(
            try store.fetch(
                where: #Predicate { $0.country == "CH" },
                sortedBy: [SortDescriptor(\.people)]
            ).map(\.name) == ["Zug", "Basel"]
        )
    }

    @Test func indexesOutliveTheProcess() throws {
        try archives.factory.close()
        let again = try archives.anotherFactory().store(for: City.self)
        #expect(try again.indexProgress().isComplete)
        #expect(try again.explain(where: #Predicate { $0.tags.contains("border") }).usesIndex)
        #expect(try again.count(where: #Predicate { $0.tags.contains("border") }) == 2)
    }

    @Test func queriesOfAClosedArchiveThrow() throws {
        try store.close()
        let error = #expect(throws: VellumError.self) { try store.fetch() }
        #expect(error?.code == .closed)
    }
}
