import Foundation
import RawDatabase
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Regression tests for defects found in review.
@Suite(.ownThreads)
struct IndexDefectTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    private func fetch(
        _ store: Store<Person>,
        _ steps: QueryDescription<Person>.Step...
    ) throws -> [String] {
        try store.fetch(QueryDescription(steps), undecodable: .skip).map(\.name)
    }

    /// Numbers that no index has, of how far it was built.
    @Test(arguments: ["through = -1", "until = -1", "built = -1", "unindexed_rows = -1"])
    func anImpossibleIndexIsDamage(_ change: String) throws {
        try setup.people().record(Person.crowd(3))
        try setup.close()
        try RawDatabase(setup.url).execute("UPDATE indexes SET \(change)")
        #expect(code { try setup.people().record([Person("late", age: 1)]) } == .damagedFile)
    }

    /// A text, bytes, and a length that goes on, of which there is less than they say.
    @Test(arguments: [[2, 9, 0x61], [3, 1], [2, 0x81]] as [[UInt8]])
    func elementsThatAreCutOffAreNoList(_ bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes(ElementList.decode) == nil)
    }

    /// A pending checkpoint ends all snapshots, but each answer still comes from a single one.
    @Test func anAnswerIsAConsistentSnapshotEvenDuringACheckpoint() throws {
        let store = try setup.people()
        try store.record(Person.crowd(50).map { Person($0.name, age: 1) })
        let archive = store.disk
        var query = ColumnQuery()
        query.filter = .test(ColumnTest(column: 0, relation: .isEqual(.integer(1))))
        let request = IndexRequest(whole: query, partial: nil)
        let (shape, now) = (archive.archive.shape, setup.clock.now)
        let answer = try archive.file.readers.withoutLeases { () throws(VellumError) in
            try archive.file.reading(archive.archive, onlyCommitted: true) {
                (reader) throws(SQLiteError) in
                _ = try reader.extent(of: shape)
                #expect(throws: Never.self) {
                    try store.record(Person("late", age: 1), forKey: "late")
                }
                return try reader.answer(request, shape, validAt: now, ReadLimit(entries: 100))
            }
        }
        #expect(answer?.entryIDs.count == 50)
        #expect(try store.count(QueryDescription([.filter(Question.age(1))])) == 51)
    }

    @Test func undecodableObjectsDoNotCountTowardALimit() throws {
        try setup.people().record((0..<10).map { Person("person \($0)", age: 20) })
        try setup.close()
        let store = try setup.people(
            codec: PickyCodec(refusing: ["person 0", "person 1", "person 2"])
        )
        #expect(
            try fetch(store, .filter(Question.age(20)), .limit(3)) == [
                "person 3", "person 4", "person 5",
            ]
        )
        #expect(
            try store.first(QueryDescription([.filter(Question.age(20))]), undecodable: .skip)?.name
                == "person 3"
        )
        #expect(
            try fetch(store, .filter(Question.age(20)), .sort([Question.byAge()]), .limit(7)).count
                == 7
        )
        let cursor = QueryCursor(
            QueryDescription([.filter(Question.age(20)), .limit(3)]),
            in: store,
            batchSize: 2,
            undecodable: .skip
        )
        #expect(
            try cursor.next().map(\.name) + cursor.next().map(\.name) == [
                "person 3", "person 4", "person 5",
            ]
        )
    }

    /// A codec that fails temporarily, for example while its encryption key is unavailable.
    @Test func anObjectThatCanBeDecodedAgainIsFoundAgain() throws {
        try setup.people(IndexCatalog()).record(Person.crowd(300))
        try setup.close()
        let codec = MoodyCodec()
        codec.fails = true
        let store = try setup.people(codec: codec)
        try store.waitForIndex()
        #expect(try fetch(store, .filter(Question.older(than: -1))) == [])
        codec.fails = false
        // A query that fails on undecodable objects tries again.
        #expect(try fetch(store, .filter(Question.older(than: -1))) == [])
        #expect(try store.fetch(QueryDescription([.filter(Question.older(than: -1))])).count == 300)
        #expect(try fetch(store, .filter(Question.older(than: -1))).count == 300)
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
        #expect(
            try store.explain(QueryDescription([.filter(Question.age(3))])).unindexedObjects == 0
        )
    }

    @Test func aDifferentPropertyTypeIsADifferentIndex() {
        var (first, second, third) = (
            IndexCatalog<Person>(), IndexCatalog<Person>(), IndexCatalog<Person>()
        )
        first.addIndex([first.addColumn(\.age, name: "value")])
        second.addIndex([second.addColumn(\.height, name: "value")])
        third.addIndex([third.addColumn(\.city, name: "value")])
        #expect(Set([first, second, third].map(\.shape.definition)).count == 3)
    }

    @Test(arguments: [false, true])
    func aLaterBatchDetectsThatTheIndexWasDropped(_ dropsTables: Bool) throws {
        let store = try setup.people()
        try store.record((0..<1000).map { Person("person \($0)", age: 20) })
        let any = ValueCondition<Person>.test(Test { _ in true })
        let cursor = QueryCursor(
            QueryDescription([.filter(Question.age(20)), .filter(any), .limit(600)]),
            in: store,
            batchSize: 100
        )
        var found = try cursor.next().count
        try RawDatabase(setup.url).execute(
            dropsTables
                ? """
                DELETE FROM indexes; DROP TABLE columns_1; DROP TABLE elements_1_0; DROP TABLE \
                unindexed_1
                """
                : "UPDATE indexes SET definition = 'x'"
        )
        while case let more = try cursor.next(), !more.isEmpty { found += more.count }
        #expect(found == 600)
    }

    @Test func aLongQueryFindsObjectsThatAreOverwrittenDuringIt() throws {
        let store = try setup.people()
        for person in Person.crowd(200) {
            try store.record(
                person,
                forKey: EntryKey(person.name),
                expiration: .after(.seconds(86400))
            )
        }
        let cursor = QueryCursor(
            QueryDescription([.filter(Question.isEvenlyNamed())]),
            in: store,
            batchSize: 10
        )
        var names = Set(try cursor.next().map(\.name))
        setup.clock.advance(by: .seconds(3600))
        for person in Person.crowd(200).suffix(100) {
            try store.record(
                person,
                forKey: EntryKey(person.name),
                expiration: .after(.seconds(86400))
            )
        }
        while case let more = try cursor.next(), !more.isEmpty { names.formUnion(more.map(\.name)) }
        #expect(names.count == Person.crowd(200).count { $0.name.count % 2 == 0 })
    }

    @Test func anOverwrittenKeyIsFoundOnce() throws {
        let store = try setup.people()
        try store.record(Person.crowd(300))
        let cursor = QueryCursor(QueryDescription<Person>(), in: store, batchSize: 20)
        var names = try cursor.next().map(\.name)
        try store.remove("person 3")
        try store.record(Person("person 3"), forKey: "person 3")
        while case let more = try cursor.next(), !more.isEmpty { names += more.map(\.name) }
        #expect(names.count == Set(names).count)
    }

    @Test func nilElementsAreNotIndexed() throws {
        var catalog = IndexCatalog<Person>()
        catalog.addCollection(\Person.tags, name: "tags", of: String?.self) {
            $0.tags.map { $0.isEmpty ? nil : $0 }
        }
        let store = try setup.people(catalog)
        try store.record([Person("ann", tags: ["x", ""])])
        #expect(try store.disagreements() == [])
    }

    @Test(arguments: [1, 2, 300, 2000])
    func anyNumberOfAlternativesIsSupported(_ count: Int) throws {
        let store = try setup.people()
        try store.record(Person.crowd(20))
        let tags = (0..<count).map { Question.tagged("mod\($0)") }
        #expect(
            try store.count(QueryDescription([.filter(.any(tags))]))
                == store.fetch(QueryDescription([.filter(.any(tags))])).count
        )
        #expect(
            try store.fetch(QueryDescription([.filter(.any(tags))]))
                == Person.crowd(20).filter { tags.count > 4 || $0.tags[1] < "mod\(count)" }
        )
        let ages = (0..<count).map { ValueCondition<Person>.not(Question.age($0 + 100)) }
        #expect(try store.count(QueryDescription([.filter(.all(ages))])) == 20)
    }

    /// Without statistics SQLite chooses between two indexes by the order of their declaration.
    @Test(arguments: [false, true])
    func theMoreSelectiveIndexIsUsed(_ isFirst: Bool) throws {
        var catalog = IndexCatalog<Person>()
        let paths: [KeyPath<Person, Int>] =
            isFirst ? [\.name.utf8.count, \.age] : [\.age, \.name.utf8.count]
        for path in paths { catalog.addIndex([catalog.addColumn(path, name: "\(path == \.age)")]) }
        try setup.people(catalog).record((0..<1500).map { Person("\($0 + 10_000)", age: $0) })
        try setup.close()
        let store = try setup.people(catalog)
        try store.waitForIndex()
        let both = ValueCondition<Person>.all([
            .test(Test(\Person.name.utf8.count, .isEqual(5)) { _ in true }), Question.age(777),
        ])
        let column = isFirst ? 1 : 0
        let access = try store.explain(QueryDescription([.filter(both)])).access
        #expect(access.contains { $0.contains("(c\(column)=?") }, "\(access)")
    }

    @Test func buildingKeepsTheLogShort() throws {
        try setup.people(IndexCatalog()).record(
            (0..<2000).map { number in
                Person(
                    "person \(number)",
                    tags: (0..<40).map { "\((number &* 7919 &+ $0 &* 104_729) % 100_003)" }
                )
            }
        )
        try setup.close()
        let store = try setup.people()
        let isComplete = Flag()
        let building = OnThread {
            defer { isComplete.set() }
            return code { try store.waitForIndex() }
        }
        // Reads nothing meanwhile: a reader that stands still keeps the log.
        var largest = 0
        blockUntil("the index is complete") {
            largest = max(largest, setup.folder.size(of: "Archives.sqlite-wal"))
            return isComplete.isSet
        }
        #expect(building.result() == nil)
        #expect(try store.indexProgress().isComplete)
        #expect(largest <= 8 << 20)
        #expect(try store.disagreements() == [])
    }

    /// Programs of two versions share the file: while one decodes what the index does not know, the
    /// other begins an index of its own, and a third the first one again. It reads all entries in
    /// order, and must not find some of them indexed.
    @Test func aListThatWasReadBeforeTheIndexBeganAgainIsNotInserted() throws {
        let store = try setup.people()
        try store.record(Person.crowd(3))
        try store.waitForIndex()
        var scan = EntryScan()
        let stored = try store.disk.entries(of: &scan, ReadLimit(entries: 10), QueryReads())
        let built = stored.map { BuiltEntry($0, store.state.indexed($0.entry, of: $0.key)) }
        _ = try store.disk.file.inTransaction(store.disk.archive) { (edit) throws(SQLiteError) in
            try edit.declareIndex(anew: true)
            try edit.insertBuilt(Array(built.prefix(1)), after: nil, isAtEnd: false)
            try edit.insertBuilt(built, after: 0, isAtEnd: true)
        }
        #expect(built.count == 3)
        #expect(try store.disagreements() == [])
    }

    /// The codec pauses in the middle of building; relaxed writes are still committed.
    @Test func aSlowCodecDoesNotDelayOtherMaintenance() throws {
        try setup.people(IndexCatalog()).record(Person.crowd(600))
        try setup.close()
        let gate = DecodingGate(open: 300)
        let store = try setup.people(codec: gate, durability: .relaxed)
        gate.waitUntilClosed()
        try store.record(Person("late"), forKey: "late")
        let file = store.disk.file
        blockUntil("the relaxed write is committed") {
            !file.writing.openBatch.exists.load(ordering: .acquiring)
        }
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 601)
        gate.open()
    }

    @Test func anExplanationCountsUnindexedObjects() throws {
        try setup.people(IndexCatalog()).record(Person.crowd(1000))
        try setup.close()
        let gate = DecodingGate(open: 300)
        let store = try setup.people(codec: gate)
        gate.waitUntilClosed()
        gate.letOthersPass = true
        let explanation = try store.explain(QueryDescription([.filter(Question.older(than: -1))]))
        #expect(explanation.results == 1000 && explanation.unindexedObjects >= 700)
        gate.open()
    }

    /// Writers index new rows themselves, so that building ends.
    @Test func newRowsDoNotWaitForTheBuilder() throws {
        try setup.people(IndexCatalog()).record(Person.crowd(600))
        try setup.close()
        let gate = DecodingGate(open: 300)
        let store = try setup.people(codec: gate)
        gate.waitUntilClosed()
        try store.record((0..<50).map { Person("new \($0)", age: 95) })
        gate.letOthersPass = true
        #expect(try store.names(.filter(Question.age(95))).count == 50)
        #expect(
            try store.explain(QueryDescription([.filter(Question.age(95))])).unindexedObjects <= 600
        )
        gate.open()
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
        #expect(try setup.open().verify().isIntact)
    }
}

/// A codec that fails while a flag is set.
final class MoodyCodec: Codec, Sendable {
    private let state = Locked(false)

    var fails: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func encode(_ person: Person) throws -> Data { try JSONEncoder().encode(person) }

    func decode(_ bytes: Data) throws -> Person {
        if fails { throw CocoaError(.coderReadCorrupt) }
        return try JSONDecoder().decode(Person.self, from: bytes)
    }
}
