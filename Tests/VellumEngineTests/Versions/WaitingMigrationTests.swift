import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Entries of older versions that stay as they are for a while, or until they are recorded again.
@Suite(.ownThreads)
struct WaitingMigrationTests {
    let setup: Setup
    private let people = Person.crowd(LongRun.number(300, usually: 100))

    init() throws { setup = try Setup() }

    private func open(
        _ version: Int64,
        _ migrates: MigrationTiming,
        indexed: Bool = true
    ) throws -> Store<Person> {
        var options = StoreOptions<Person>()
        var catalog = indexed ? Person.catalog : IndexCatalog()
        (catalog.version, catalog.shape.rewrites) = (version, migrates.delay == 0)
        (options.memory, options.caching) = (Capacity(bytes: 1, entries: .max), .values)
        (options.indexing, options.migrates, options.policy) = (catalog, migrates, .share)
        return try setup.open().store(
            named: "people",
            codec: PeopleCodec(version: version),
            options
        )
    }

    private func recordOld() throws {
        try setup.people(version: 0).record(people)
        try setup.close()
    }

    /// Lets time pass, and what is due then be done.
    private func pass(_ seconds: Int64, _ store: Store<Person>) throws {
        setup.clock.advance(by: .seconds(seconds))
        store.disk.file.sweepEverything()
        try store.waitForIndex()
    }

    /// Queries of every kind against an array.
    private func check(_ store: Store<Person>, _ model: [Person], _ moment: String) throws {
        let steps: [[QueryDescription<Person>.Step]] = [
            [], [.filter(Question.age(26))], [.filter(Question.age(14))],
            [.filter(Question.older(than: 60))],
            [.filter(Question.city(nil))], [.filter(Question.tagged("mod3"))],
            [.filter(Question.begins("person 1"))],
            [.filter(Question.begins("Dr"))], [.filter(Question.isEvenlyNamed())],
            [.sort([Question.byAge()]), .skip(10), .limit(20)],
            [.filter(Question.age(5)), .limit(1)],
        ]
        for (number, steps) in steps.enumerated() {
            let (query, expected) = (QueryDescription(steps), try model.answering(steps))
            let found = try store.fetch(query)
            #expect(
                Set(found) == Set(expected) && found.count == expected.count,
                "\(moment), query \(number)"
            )
            #expect(try store.count(query) == expected.count, "\(moment), query \(number)")
            #expect(try store.exists(query) == !expected.isEmpty, "\(moment), query \(number)")
        }
    }

    static let cases: [(version: Int64, indexed: Bool, migrates: MigrationTiming)] = [1, 2, 3]
        .flatMap { version in
            [true, false].flatMap { indexed in
                [.onRead, .after(.seconds(3600))].map { (version, indexed, $0) }
            }
        }

    /// From version 2 on some are dropped, and from version 3 on each has another key.
    @Test(arguments: 0..<cases.count) func oldEntriesStayAndAreFoundAsWhatTheyBecome(
        _ number: Int
    ) throws {
        let (version, indexed, migrates) = Self.cases[number]
        try recordOld()
        let codec = PeopleCodec(version: version)
        var model = people.compactMap { codec.migrated($0, from: 0) }
        let store = try open(version, migrates, indexed: indexed)
        try check(store, model, "at first")
        try store.waitForIndex()
        try check(store, model, "with an index")
        #expect(try store.versions() == Array(repeating: 0, count: people.count))
        let progress = try store.migrationProgress()
        #expect(progress.examined == 0 && progress.total == people.count && !progress.isComplete)
        if indexed, version == 1 {
            let explanation = try store.explain(QueryDescription([.filter(Question.age(5))]))
            #expect(explanation.decodedObjects == people.count { $0.age == 5 })
            #expect(explanation.unindexedObjects == 0)
        }
        // Until it is written anew, an entry is under its old key.
        #expect(
            try store.value(forKey: "person 7") == model.first { $0.name.hasSuffix("person 7") }
        )

        setup.clock.advance(by: .seconds(1))
        var changed = try #require(model.first { $0.name.hasSuffix("person 8") })
        // Under its new key it hides the old one, which is seen again once it is removed.
        changed.age = version == 3 ? 60 : 89
        try store.record([changed, Person(version == 3 ? "Dr new" : "new", age: 5)])
        model =
            model.map { $0.name == changed.name ? changed : $0 } + [
                Person(version == 3 ? "Dr new" : "new", age: 5)
            ]
        let old = QueryDescription<Person>([.filter(Question.older(than: 70))])
        #expect(try store.removeAll(old) >= model.count { $0.age > 70 })
        model.removeAll { $0.age > 70 }
        try check(store, model, "after changes")
        try store.waitForIndex()
        try check(store, model, "after changes that are indexed")
        #expect(try store.versions().contains(version) && store.versions().contains(0))

        try pass(3598, store)
        try store.disk.file.suspend()
        try store.disk.file.resume()
        #expect(try store.versions().contains(0))
        try pass(10, store)
        try check(store, model, "after the delay")
        #expect(try Set(store.versions()) == (migrates == .onRead ? [0, version] : [version]))
        #expect(try store.migrationProgress().isComplete == (migrates != .onRead))
        #expect(try setup.open().verify().isIntact)
        if migrates != .onRead, indexed { #expect(try store.indexDefects() == []) }
        try store.removeAll()
        try check(store, [], "emptied")
        #expect(try store.migrationProgress().isComplete)
    }

    /// The earliest beginning of several openings counts.
    @Test(
        arguments: [
            (
                [
                    .onRead, .after(.seconds(100)), .after(.seconds(10)), .onRead,
                    .after(.seconds(50)),
                ], 10
            ),
            ([.onRead, .immediately], 0), ([.immediately, .onRead], 0),
            ([.after(.seconds(-5)), .onRead], 0),
            ([.after(.seconds(Int64.max)), .after(.seconds(7200))], 7200),
        ] as [([MigrationTiming], Int64)]
    )
    func theEarliestBeginningCounts(_ wishes: [MigrationTiming], _ begin: Int64) throws {
        try recordOld()
        let stores = try wishes.map { try open(1, $0) }
        try stores[0].waitForIndex()
        if begin > 0 {
            try pass(begin - 1, stores[0])
            #expect(try Set(stores[0].versions()) == [0])
            try pass(1, stores[0])
        } else {
            try pass(0, stores[0])
        }
        #expect(try Set(stores[0].versions()) == [1])
        try check(stores[0], people, "afterwards")
    }

    /// A process that starts again waits anew.
    @Test func aDelayBeginsWithTheOpening() throws {
        try recordOld()
        try pass(3000, try open(1, .after(.seconds(3600))))
        try setup.close()
        let store = try open(1, .after(.seconds(3600)))
        try pass(3000, store)
        #expect(try Set(store.versions()) == [0])
        try pass(600, store)
        #expect(try Set(store.versions()) == [1])
    }

    /// Whoever opens the archive with a later beginning changes nothing.
    @Test(arguments: [true, false]) func aPassThatIsOverStaysOver(_ indexed: Bool) throws {
        try recordOld()
        try open(1, .immediately, indexed: indexed).waitForIndex()
        try setup.close()
        for migrates in [MigrationTiming.onRead, .after(.seconds(3600))] {
            let store = try open(1, migrates, indexed: indexed)
            try store.waitForIndex()
            #expect(try store.migrationProgress().isComplete)
            #expect(store.disk.file.withWriter { $0.lasting.commits } == 0)
            try check(store, people, "\(migrates)")
            try setup.close()
        }
    }

    @Test(arguments: [true, false]) func thePassOfALaterOpeningMigratesWhatStayed(
        _ indexed: Bool
    ) throws {
        try recordOld()
        try open(3, .onRead, indexed: indexed).waitForIndex()
        try setup.close()
        let store = try open(3, .immediately, indexed: indexed)
        try store.waitForIndex()
        #expect(try Set(store.versions()) == [3])
        #expect(try store.migrationProgress().isComplete)
        try check(
            store,
            people.compactMap { PeopleCodec(version: 3).migrated($0, from: 0) },
            "afterwards"
        )
    }

    /// Programs of both versions take turns: the older one reads what it has recorded, and the
    /// newer one everything.
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func anOlderProgramGoesOnBesideANewerOne(_ olderIndexes: Bool, _ newerIndexes: Bool) throws {
        var (old, new) = ([Person](), [Person]())
        for round in 0..<5 {
            let older = try open(0, .immediately, indexed: olderIndexes)
            try older.waitForIndex()
            for person in old { #expect(try older.value(forKey: EntryKey(person.name)) == person) }
            for person in new {
                #expect(
                    code { _ = try older.value(forKey: EntryKey(person.name)) } == .newerVersion
                )
            }
            old.append(Person("old \(round)", age: round))
            try older.record([old[round]])
            #expect(
                Set(
                    try older.fetch(
                        QueryDescription([.filter(Question.older(than: -1))]),
                        undecodable: .skip
                    )
                )
                    == Set(old)
            )
            try setup.close()
            let newer = try open(1, .onRead, indexed: newerIndexes)
            new.append(Person("new \(round)", age: round))
            try newer.record([new[round]])
            try newer.waitForIndex()
            try check(newer, old + new, "round \(round)")
            #expect(try newer.versions().count { $0 == 0 } == round + 1)
            try setup.close()
        }
    }
}
