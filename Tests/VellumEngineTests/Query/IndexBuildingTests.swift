import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct IndexBuildingTests {
    let setup: Setup
    /// More than the builder's steps, and enough for statistics.
    private static let count = LongRun.number(2000, usually: 1200)
    let people = Person.crowd(Self.count)

    init() throws { setup = try Setup() }

    /// Records everyone in an archive that has no index yet.
    private func fillWithoutIndex() throws {
        try setup.people(IndexCatalog()).record(people)
        try setup.close()
    }

    private func expectRightAnswers(_ store: Store<Person>, _ people: [Person]) throws {
        for steps in IndexedStoreTests.questions {
            let (query, expected) = (QueryDescription(steps), try people.answering(steps))
            #expect(
                try store.fetch(query, undecodable: .skip) == expected,
                "\(query.steps.map(\.description))"
            )
            #expect(try store.count(query, undecodable: .skip) == expected.count)
        }
    }

    /// SQLite plans by what the entries are now, and not by the first thousand (decision 14), and
    /// by as many rows in each index.
    @Test func statisticsAreRenewedAsTheArchiveGrowsAndShrinks() throws {
        let (store, file) = (try setup.people(), try setup.open())
        func rowsAnalysed() throws -> Int {
            file.waitForMaintenance()
            try file.analyseIndexes()
            let database = try RawDatabase(setup.url)
            #expect(
                try database.int(
                    """
                    SELECT count(DISTINCT CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE tbl = \
                    'columns_1'
                    """
                ) == 1
            )
            return try database.int(
                "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl = 'columns_1' LIMIT 1"
            )
        }
        // They are renewed at a quarter and at four times as many.
        let (few, left) = (LongRun.number(1500, usually: 1100), LongRun.number(1200, usually: 1100))
        let people = Person.crowd(LongRun.number(8000, usually: 4800))
        try store.record(Array(people.prefix(few)))
        #expect(try rowsAnalysed() == few)
        try store.record(people)
        #expect(try rowsAnalysed() == people.count)
        #expect(
            try Set(store.names(.filter(Question.age(89))))
                == Set(people.lazy.filter { $0.age == 89 }.map(\.name))
        )
        for person in people.dropFirst(left) { try store.remove(EntryKey(person.name)) }
        #expect((left / 2...left * 2).contains(try rowsAnalysed()))
        #expect(try file.verify().isIntact)
    }

    /// The table of an archive that has collections alone has no index, and SQLite counts its rows.
    @Test func statisticsOfATableWithoutIndexesHaveItsRowsAlone() throws {
        var tags = IndexCatalog<Person>()
        tags.addCollection(\Person.tags, name: "tags", of: String.self) { $0.tags }
        let (store, file) = (try setup.people(tags), try setup.open())
        try store.record(Array(people.prefix(1100)))
        file.waitForMaintenance()
        try file.analyseIndexes()
        let analysed = "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl = 'columns_1'"
        #expect(try RawDatabase(setup.url).int(analysed) == 1100)
    }

    @Test func anIndexIsBuiltFromStoredEntries() throws {
        try fillWithoutIndex()
        let store = try setup.people()
        try store.waitForIndex()
        let complete = IndexProgress(indexed: Self.count, total: Self.count, isComplete: true)
        #expect(try store.indexProgress() == complete)
        #expect(try store.disagreements() == [])
        try expectRightAnswers(store, people)
        let explanation = try store.explain(QueryDescription([.filter(Question.age(30))]))
        #expect(
            explanation.usesIndex && explanation.unindexedObjects == 0
                && explanation.remaining.isEmpty
        )
        #expect(explanation.decodedObjects == explanation.results)
    }

    /// The progress of building one index does not apply to another that is declared in the
    /// meantime.
    @Test func anIndexDeclaredDuringAnotherBuildIsBuiltSeparately() throws {
        try fillWithoutIndex()
        let gate = DecodingGate(open: 100)
        var ages = IndexCatalog<Person>()
        ages.addIndex([ages.addColumn(\.age, name: "age")])
        let first = try setup.people(ages, codec: gate)
        gate.waitUntilClosed()
        gate.letOthersPass = true
        try first.close()
        let store = try setup.people()
        gate.open()
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
        try expectRightAnswers(store, people)
    }

    @Test func queriesAreCorrectWhileAnIndexIsBuilt() throws {
        try fillWithoutIndex()
        let gate = DecodingGate(open: 700)
        let store = try setup.people(codec: gate)
        gate.waitUntilClosed()
        let progress = try store.indexProgress()
        #expect(!progress.isComplete && progress.indexed < Self.count)
        gate.letOthersPass = true
        try expectRightAnswers(store, people)
        let ages = PropertyAggregate("sum", of: \Person.age, .sum)
        let explanation = try store.explain(ages, of: QueryDescription(), undecodable: .fail)
        #expect(explanation.decodedObjects == Self.count)
        try store.record(Person("person 3", age: 99), forKey: "person 3")
        try store.record(Person("late", age: 98), forKey: "late")
        try store.remove(EntryKey("person \(Self.count - 1)"))
        #expect(try store.names(.filter(Question.older(than: 97))) == ["person 3", "late"])
        gate.open()
        try store.waitForIndex()
        #expect(try store.indexProgress().isComplete)
        #expect(try store.disagreements() == [])
        #expect(try store.names(.filter(Question.older(than: 97))) == ["person 3", "late"])
        #expect(try setup.open().verify().isIntact)
    }

    @Test func buildingResumesWhereItStopped() throws {
        try fillWithoutIndex()
        let gate = DecodingGate(open: 700)
        do {
            let store = try setup.people(codec: gate)
            gate.waitUntilClosed()
            let built = try store.indexProgress().indexed
            #expect(built > 0 && built < Self.count)
        }
        try setup.close()
        gate.open()
        let counting = DecodingGate(open: .max)
        let store = try setup.people(codec: counting)
        try store.waitForIndex()
        #expect(try store.indexProgress().isComplete)
        #expect(counting.decoded < Self.count)
        try expectRightAnswers(store, people)
    }

    @Test func aDifferentPropertyListIsADifferentIndex() throws {
        try setup.people().record(people)
        try setup.close()
        var other = IndexCatalog<Person>()
        other.addIndex([
            other.addColumn(\.height, name: "height"), other.addColumn(\.age, name: "age"),
        ])
        let store = try setup.people(other)
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
        try expectRightAnswers(store, people)
        #expect(
            try store.explain(QueryDescription([.filter(Question.tagged("mod3"))])).statement == nil
        )
    }

    @Test func anIndexThatIsNoLongerDeclaredIsDropped() throws {
        try setup.people().record(people)
        try setup.close()
        let store = try setup.people(IndexCatalog())
        try expectRightAnswers(store, people)
        try setup.close()
        let tables = try RawDatabase(setup.url).int(
            """
            SELECT count(*) FROM sqlite_schema WHERE name LIKE 'columns%' OR name LIKE 'elements%' \
            OR name LIKE 'unindexed%'
            """
        )
        #expect(tables == 0)
    }

    @Test func writersThatDoNotDeclareTheIndexKeepItCorrect() throws {
        try setup.people().record(people)
        try setup.close()
        do {
            let ignorant = try setup.people(nil)
            try ignorant.record(Person("person 3", age: 99, tags: ["mod7"]), forKey: "person 3")
            try ignorant.record(Person("late", age: 98), forKey: "late")
            try ignorant.remove(EntryKey("person \(Self.count - 1)"))
        }
        try setup.close()
        let gate = DecodingGate(open: 0)
        let store = try setup.people(codec: gate)
        gate.letOthersPass = true
        #expect(try store.names(.filter(Question.older(than: 97))) == ["person 3", "late"])
        #expect(
            try store.names(.sort([Question.byAge(descending: true)]), .limit(2)) == [
                "person 3", "late",
            ]
        )
        gate.open()
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
        #expect(try store.names(.filter(Question.tagged("mod7"))) == ["person 3"])
        #expect(try setup.open().verify().isIntact)
    }

    @Test func aPropertyWhoseEncodingChangedIsReindexed() throws {
        var first = IndexCatalog<Person>()
        first.addIndex([first.addColumn(\.age, name: "<computed Int>")])
        try setup.people(first).record(people)
        try setup.close()
        var second = IndexCatalog<Person>()
        second.addIndex([second.addColumn(\.name.count, name: "<computed Int>")])
        let store = try setup.people(second)
        try store.waitForIndex()
        #expect(try store.disagreements() == [])
    }

    @Test func anUndecodableObjectDoesNotHideOthers() throws {
        try setup.people(IndexCatalog()).record(people)
        try setup.close()
        let picky = PickyCodec(refusing: ["person 5", "person 77"])
        let store = try setup.people(codec: picky)
        try store.waitForIndex()
        let rest = people.filter { !picky.refused.contains($0.name) }
        try expectRightAnswers(store, rest)
        #expect(
            try store.explain(QueryDescription([.filter(Question.age(5))]), undecodable: .skip)
                .unindexedObjects == 0
        )
        try setup.close()
        // A later version of the program can decode it.
        let later = try setup.people()
        try later.waitForIndex()
        try expectRightAnswers(later, people)
        #expect(try later.disagreements() == [])
    }

    @Test func aStringWithUnassignedCharactersIsFound() throws {
        let store = try setup.people()
        let strange = Person("a\u{378}", age: 40, tags: ["b\u{378}"])
        try store.record([Person("b", age: 41), strange, Person("c", age: 39)])
        #expect(try store.names(.filter(Question.age(40))) == [strange.name])
        #expect(try store.names(.filter(Question.tagged("b\u{378}"))) == [strange.name])
        #expect(try store.names(.sort([Question.byAge()])) == ["c", strange.name, "b"])
        #expect(try store.names(.sort([Question.byAge()]), .skip(1), .limit(1)) == [strange.name])
        try store.record(Person("a\u{378}", age: 12), forKey: EntryKey(strange.name))
        #expect(try store.count(QueryDescription([.filter(Question.age(40))])) == 0)
        #expect(try setup.open().verify().isIntact)
    }
}
