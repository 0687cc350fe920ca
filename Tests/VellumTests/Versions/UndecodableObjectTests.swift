import Foundation
import TestThreads
import Testing
import Vellum

/// A changed type never looks like an empty archive. (T4)
@Suite(.ownThreads)
struct UndecodableObjectTests {
    struct Old: ArchiveCodable {
        static var archiveName: String { "Thing" }
        var primaryKey: String
        var size: Int
    }

    /// Half of the objects can be decoded: those that were recorded after the change.
    struct Thing: ArchiveCodable {
        static var archiveName: String { "Thing" }
        var primaryKey: String
        var weight: Int
    }

    let temporary = TemporaryArchives()

    private func things() throws -> ArchiveStore<Thing> {
        try temporary.factory.store(for: Old.self).record(
            contentsOf: (0..<300).map { Old(primaryKey: "old \($0)", size: $0) }
        )
        try temporary.factory.close()
        let things = try temporary.factory.store(for: Thing.self)
        try things.record(contentsOf: (0..<200).map { Thing(primaryKey: "new \($0)", weight: $0) })
        return things
    }

    private func message(_ body: () throws -> Void) -> String? {
        do { try body() } catch {
            return (error as? VellumError)?.code == .notDecodable ? "\(error)" : nil
        }
        return nil
    }

    @Test func everyQueryThrowsOnTheFirstObjectThatCannotBeDecoded() async throws {
        let things = try things()
        let messages = [
            message { _ = try things.fetch() }, message { _ = try things.first() },
            message { _ = try things.accessAll() },
            message {
                _ = try things.fetch(
                    where: #Predicate { $0.weight > 3 },
                    sortedBy: [SortDescriptor(\.weight)],
                    limit: 2
                )
            },
            message { _ = try things.count(where: #Predicate { $0.weight > 3 }) },
            message { _ = try things.exists(where: #Predicate { $0.weight > 300 }) },
            message { _ = try things.deleteAll(where: #Predicate { $0.weight > 3 }) },
            message { _ = try things.explain() },
        ]
        for message in messages {
            #expect(message?.contains("version 0") == true)
            #expect(message?.contains("499 other objects may be affected") == true)
            #expect(message?.contains("undecodable: .skip") == true)
            #expect(message?.contains("VersionedArchive") == true)
        }
        await #expect(throws: VellumError.self) { for try await _ in things.stream() {} }
        #expect(try things.count() == 500)
    }

    @Test func skippedObjectsAreCounted() async throws {
        let things = try things()
        let events = things.events
        #expect(try things.fetch(undecodable: .skip).count == 200)
        #expect(
            try things.first(
                sortedBy: [SortDescriptor(\.weight, order: .reverse)],
                undecodable: .skip
            )?.weight
                == 199
        )
        #expect(try things.accessAll(undecodable: .skip).count == 200)
        #expect(try things.count(where: #Predicate { $0.weight >= 100 }, undecodable: .skip) == 100)
        #expect(
            try things.exists(where: #Predicate { $0.weight > 300 }, undecodable: .skip) == false
        )
        #expect(
            try things.deleteAll(where: #Predicate { $0.weight >= 100 }, undecodable: .skip) == 100
        )
        var streamed = 0
        for try await _ in things.stream(undecodable: .skip) { streamed += 1 }
        #expect(streamed == 100)
        try things.close()
        var skipped: [Int] = []
        for await case .skippedUndecodable(let count) in events { skipped.append(count) }
        #expect(skipped.allSatisfy { $0 == 300 })
        #expect(skipped.count >= 6)
    }

    @Test func skippedObjectsDoNotCountTowardALimit() throws {
        try temporary.factory.store(for: Thing.self).record(
            contentsOf: (0..<5).map { Thing(primaryKey: "new \($0)", weight: $0) }
        )
        try temporary.factory.close()
        // Used more recently.
        try temporary.factory.store(for: Old.self).record(
            contentsOf: (0..<300).map { Old(primaryKey: "old \($0)", size: $0) }
        )
        try temporary.factory.close()
        let things = try temporary.factory.store(for: Thing.self)
        #expect(
            try things.accessAll(limit: 3, undecodable: .skip).map(\.primaryKey) == [
                "new 4", "new 3", "new 2",
            ]
        )
        #expect(try things.accessAll(limit: 304, undecodable: .skip).count == 5)
        #expect(
            try things.fetch(sortedBy: [SortDescriptor(\.weight)], limit: 3, undecodable: .skip)
                .map(\.weight) == [0, 1, 2]
        )
    }

    @Test func whatCouldNotBeDecodedIsNotDecodedAgain() throws {
        let things = try things()
        #expect(try things.explain(undecodable: .skip).decodedObjects == 500)
        #expect(try things.explain(undecodable: .skip).decodedObjects == 200)
        // It was recorded again.
        try things.record(Thing(primaryKey: "old 7", weight: 7))
        #expect(try things.explain(undecodable: .skip).decodedObjects == 201)
        #expect(try things.fetch(undecodable: .skip).count == 201)
    }

    @Test func theMethodsThatDoNotThrowSkipAndReportEachOnce() async throws {
        try things().close()
        let archives = try temporary.factory.archives(for: Thing.self)
        let failures = archives.failures
        for _ in 0..<3 {
            #expect(archives.sorted { $0.weight(.ascending) }.getResults().count == 200)
            #expect(archives.process(queries: []).count == 200)
        }
        try archives.store.close()
        var reported = 0
        for await failure in failures where failure.code == .notDecodable { reported += 1 }
        #expect(reported == 300)
    }

    @Test func whatCannotBeDecodedIsListedReadAndDeleted() throws {
        let things = try things()
        #expect(try things.undecodableKeys() == (0..<300).map { "old \($0)" })
        #expect(try things.cborValue(forKey: "old 7")?["size"] == 7)
        #expect(try things.encodedData(forKey: "old 7") != nil)
        #expect(try things.encodedData(forKey: "none") == nil)
        #expect(try things.cborValue(forKey: "new 7")?["weight"] == 7)
        #expect(try things.deleteUndecodable() == 300)
        #expect(try things.undecodableKeys() == [])
        #expect(try things.fetch().count == 200)
    }

    @Test func aDamagedObjectHidesNoOther() throws {
        let things = try temporary.factory.store(for: Thing.self)
        for number in 0..<5 {
            try things.record(Thing(primaryKey: "key \(number) of a thing", weight: number))
        }
        try temporary.factory.close()
        // The bytes are in CBOR, where the key is text.
        var contents = try Data(contentsOf: temporary.file)
        let places = contents.ranges(of: Data("key 3 of a thing".utf8))
        contents[try #require(places.last).lowerBound] ^= 1
        try contents.write(to: temporary.file)
        let again = try temporary.factory.store(for: Thing.self)
        #expect(try again.fetch().count == 4)
        #expect(try again.undecodableKeys() == [])
    }
}
