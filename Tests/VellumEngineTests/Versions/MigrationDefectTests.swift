import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What a reader of the first migration found.
@Suite(.ownThreads)
struct MigrationDefectTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    /// A person of version 0, and a later one of version 3 under the key that the first will have.
    private func withTwo(memory: DataSize = 1.byte) throws -> Store<Person> {
        try setup.people(version: 0).record([Person("ann", age: 30), Person("bob", age: 40)])
        try setup.close()
        setup.clock.advance(by: .seconds(1))
        let store = try setup.people(version: 3, builds: false, memory: memory)
        try store.record([Person("Dr ann", age: 31)])
        return store
    }

    @Test func anObjectThatAnotherReplacesIsSeenOnceAndDoesNotComeBack() throws {
        let store = try withTwo()
        #expect(try store.fetch(QueryDescription([])).map(\.age).sorted() == [31, 40])
        #expect(try store.values().map(\.age).sorted() == [31, 40])
        #expect(try store.removeAll(QueryDescription([.filter(Question.older(than: 0))])) == 3)
        #expect(try store.count() == 0)
        try setup.close()
        let again = try setup.people(version: 3)
        try again.waitForIndex()
        #expect(try again.fetch(QueryDescription([])) == [])
    }

    @Test func aDamagedObjectUnderTheNewKeyHidesNoOther() throws {
        _ = try withTwo()
        try setup.close()
        try RawDatabase(setup.url).execute(
            "UPDATE entries SET checksum = checksum + 1 WHERE id = (1 << 40) + 3"
        )
        let store = try setup.people(version: 3, builds: false)
        #expect(try store.fetch(QueryDescription([])).map(\.age).sorted() == [30, 40])
    }

    /// As another process does that drops the archive.
    @Test func anArchiveThatIsDroppedElsewhereKeepsItsLimitHere() throws {
        let store = try setup.people(version: 0, disk: 5.megaByte)
        try store.record([Person("ann")])
        try RawDatabase(setup.url).execute("UPDATE archives SET max_bytes = 1, is_max_given = 0")
        try store.record([Person("bob"), Person("cleo")])
        #expect(try store.disk.totals().entries == 3)
        #expect(store.capacities.disk.bytes == 5.megaByte.bytes)
        try setup.close()
        #expect(
            try RawDatabase(setup.url).int("SELECT max_bytes FROM archives") == 5.megaByte.bytes
        )
    }

    /// It is migrated whenever it is read.
    @Test func anObjectThatCannotBeWrittenInItsNewFormCanBeRead() throws {
        try setup.people(version: 0).record([Person("ann"), Person("bob")])
        try setup.close()
        var catalog = Person.catalog
        catalog.version = 1
        let store = try setup.people(catalog, codec: RefusingCodec())
        try store.waitForIndex()
        #expect(try store.fetch(QueryDescription([])).map(\.name) == ["ann", "bob"])
        #expect(
            try store.fetch(QueryDescription([.filter(Question.age(30))]), undecodable: .skip).count
                == 2
        )
        #expect(try store.undecodableKeys() == [])
        #expect(try store.removeUndecodable() == 0)
        #expect(try store.versions() == [0, 1])
    }

    /// A version of the people that cannot encode Ann.
    private struct RefusingCodec: Codec {
        private let codec = PeopleCodec(version: 1)
        var version: Int64 { 1 }

        func encode(_ person: Person) throws -> Data {
            guard person.name != "ann" else { throw CocoaError(.coderInvalidValue) }
            return try codec.encode(person)
        }
        func decode(_ bytes: Data) throws -> Person { try codec.decode(bytes) }
        func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Person> {
            try codec.migrate(bytes, from: old, of: key)
        }
    }

    /// The pass comes to it before anyone observes the store.
    @Test func whatThePassCouldNotMigrateIsReportedToALaterObserverOnce() async throws {
        try setup.people(version: 0).record([Person("ann"), Person("bob", city: "nowhere")])
        try setup.close()
        let store = try setup.people(version: 1)
        try store.waitForIndex()
        #expect(try store.fetch(QueryDescription([]), undecodable: .skip).count == 1)
        let events = store.events.events()
        for _ in 0..<3 {
            #expect(try store.fetch(QueryDescription([]), undecodable: .skip).count == 1)
        }
        try store.close()
        var reported: [String] = []
        for await case .damagedEntry(let key, _) in events { reported.append(key) }
        #expect(reported == ["bob"])
    }

    /// A use that only memory knows is that of the entry, whatever its key.
    @Test func anObjectThatMovesKeepsAUseThatIsNotOnDiskYet() throws {
        let old = try setup.people(version: 0, memory: 1.megaByte)
        for name in ["a", "b", "c"] {
            setup.clock.advance(by: .seconds(1))
            try old.record([Person(name, age: 1)])
        }
        try setup.close()
        let store = try setup.people(version: 3, builds: false, memory: 1.megaByte)
        setup.clock.advance(by: .seconds(1))
        #expect(try store.value(forKey: "a") != nil)
        var catalog = Person.catalog
        catalog.version = 3
        try store.disk.declareIndex(catalog.shape)
        try store.waitForIndex()
        #expect(try store.keys().map(\.normalized) == ["Dr a", "Dr c", "Dr b"])
    }

    @Test func theProgressIsIncompleteWhileObjectsOfAnOlderProgramWait() throws {
        try setup.people(version: 1, indexed: false).record([Person("ann")])
        try setup.close()
        try RawDatabase(setup.url).execute(
            """
            INSERT INTO unindexed_1 VALUES ((1 << 40) + 1, 0); \
            UPDATE indexes SET unindexed_rows = 1
            """
        )
        let store = try setup.people(version: 1, indexed: false, builds: false)
        var shape = IndexShape()
        shape.version = 1
        store.disk.archive.setShape(shape)
        #expect(try store.migrationProgress() == MigrationProgress(examined: 0, total: 1))
        #expect(try store.migrationProgress().isComplete == false)
        try setup.close()
        let again = try setup.people(version: 1, indexed: false)
        try again.waitForIndex()
        #expect(try again.migrationProgress() == MigrationProgress(examined: 1, total: 1))
        #expect(try again.migrationProgress().isComplete)
    }

    /// The numbers say the same as the flag.
    @Test(
        arguments: [
            (10, Int64.max, 0, 10, true), (7, .max, 0, 10, true), (10, .max, 3, 7, false),
            (10, .max, 12, 0, false), (4, 99, 0, 4, false),
            (4, 99, 1, 3, false), (10, 99, 0, 9, false), (15, 99, 0, 9, false),
            (15, 99, 2, 7, false),
        ] as [(Int64, Int64, Int, Int, Bool)]
    )
    func theProgressIsCompleteIfEveryEntryWasExamined(
        _ built: Int64,
        _ through: Int64,
        _ unknown: Int,
        _ examined: Int,
        _ isComplete: Bool
    ) {
        let progress = IndexProgress(built: built, through: through, unknown: unknown, of: 10)
        #expect(progress == IndexProgress(indexed: examined, total: 10, isComplete: isComplete))
        #expect(MigrationProgress(progress).isComplete == isComplete)
    }

    @Test func keysThatAMigrationRemovesAreCountedInOneEventForEachStep() async throws {
        try setup.people(version: 0).record(Person.crowd(2000))
        try setup.close()
        let store = try setup.people(version: 3, builds: false)
        let events = store.events.events()
        var catalog = Person.catalog
        catalog.version = 3
        try store.disk.declareIndex(catalog.shape)
        try store.waitForIndex()
        let removals = try store.statistics().removals[.migrated]
        try store.close()
        var (steps, removed) = (0, 0)
        for await event in events {
            switch event {
            case .migrated(let progress):
                (steps, removed) = (steps + 1, removed + progress.removedKeys)
            case .removed: Issue.record("An event for one key.")
            default: break
            }
        }
        #expect(removed == 2000 && removed == removals)
        #expect(steps < 1000)
    }
}
