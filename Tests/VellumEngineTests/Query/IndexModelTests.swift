import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// The index agrees with the rows after any operations.
@Suite(.ownThreads)
struct IndexModelTests {
    static let durabilities: [Durability] = [.relaxed, .crashSafe]

    @Test(arguments: [1, 2], durabilities)
    func theIndexAlwaysAgreesWithTheRows(_ seed: UInt64, _ durability: Durability) throws {
        var random = SeededGenerator(seed: seed)
        let setup = try Setup()
        // Some archives keep entries in memory that do not fit on disk.
        let (memory, disk) = seed % 2 == 0 ? (20.kiloByte, 4.kiloByte) : (2.kiloByte, 8.kiloByte)
        func open() throws -> Store<Person> {
            try setup.people(memory: memory, disk: disk, durability: durability)
        }
        var store = try open()
        for step in 0..<LongRun.number(400, usually: 160) {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try store.removeAll()
            case 1...3: try store.remove(key(&random))
            case 4:
                try store.record(
                    person(&random),
                    forKey: key(&random),
                    expiration: .after(seconds: Double.random(in: 0...60, using: &random))
                )
            case 5: setup.clock.advance(by: .seconds(20))
            case 6: store.trimMemory(to: .zero)
            case 7:
                try store.close()
                try setup.close()
                store = try open()
            case 8:
                var transaction = StoreTransaction()
                for _ in 0..<5 {
                    try transaction.record(person(&random), forKey: key(&random), in: store)
                }
                transaction.remove(key(&random), in: store)
                try transaction.commit()
            case 9: try store.removeAll(QueryDescription([.filter(Question.older(than: 85))]))
            case 10: try store.removeUnused(since: setup.clock.now.date.addingTimeInterval(-100))
            default: try store.record(person(&random), forKey: key(&random))
            }
            guard step % 10 == 0 else { continue }
            #expect(try store.disagreements() == [], "seed \(seed), step \(step)")
            let everyone = try store.fetch(QueryDescription())
            #expect(try everyone.count == store.keys().count)
            for steps in IndexedStoreTests.questions {
                let answer = try store.fetch(QueryDescription(steps))
                #expect(
                    try answer == everyone.answering(steps),
                    """
                    seed \(seed), step \(step), \(QueryDescription(steps).steps.map(\.description))
                    """
                )
                #expect(
                    try store.count(QueryDescription(steps)) == answer.count,
                    "seed \(seed), step \(step)"
                )
            }
        }
        try store.flush()
        #expect(try setup.open().verify().isIntact)
    }

    private func key(_ random: inout SeededGenerator) -> EntryKey {
        EntryKey("\(Int.random(in: 0..<60, using: &random))")
    }

    private func person(_ random: inout SeededGenerator) -> Person {
        Person(
            "person \(Int.random(in: 0..<100, using: &random))"
                + String(repeating: "x", count: Int.random(in: 0..<300, using: &random)),
            age: .random(in: 0..<90, using: &random),
            city: Bool.random(using: &random)
                ? "city \(Int.random(in: 0..<4, using: &random))" : nil,
            height: .random(in: 0...2, using: &random),
            tags: (0..<5).filter { _ in Bool.random(using: &random) }.map { "mod\($0)" }
        )
    }
}

@Suite(.ownThreads)
struct QueryVisibilityTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    @Test func aRelaxedWriteIsVisibleImmediately() throws {
        let store = try setup.people(durability: .relaxed)
        try store.record(Person("ann", age: 40), forKey: "ann")
        #expect(try store.names(.filter(Question.age(40))) == ["ann"])
    }

    @Test func anExpiredObjectIsNotFound() throws {
        let store = try setup.people()
        try store.record(Person("ann", age: 40), forKey: "ann", expiration: .after(.seconds(10)))
        try store.record(Person("bob", age: 40), forKey: "bob")
        #expect(try store.count(QueryDescription([.filter(Question.age(40))])) == 2)
        setup.clock.advance(by: .seconds(11))
        #expect(try store.count(QueryDescription([.filter(Question.age(40))])) == 1)
        #expect(try store.names(.filter(Question.age(40)), .limit(1)) == ["bob"])
    }

    @Test func memoryOnlyEntriesAreFoundOnceAndInOrder() throws {
        let store = try setup.people(memory: 1.megaByte, disk: 1.kiloByte)
        let large = Person("large", age: 35, tags: [String(repeating: "x", count: 5000)])
        try store.record([Person("old", age: 50), large, Person("young", age: 20)])
        #expect(try store.names(.sort([Question.byAge()])) == ["young", "large", "old"])
        #expect(try store.names(.sort([Question.byAge()]), .skip(1), .limit(1)) == ["large"])
        #expect(try store.names(.filter(Question.age(35))) == ["large"])
        #expect(try store.count(QueryDescription([.filter(Question.older(than: 30))])) == 2)
    }

    @Test func aQueryDoesNotAffectTheEvictionOrder() throws {
        let store = try setup.people()
        try store.record(Person.crowd(50))
        let order = try store.keys()
        _ = try store.fetch(QueryDescription([.filter(Question.older(than: 10))]))
        _ = try store.fetch(QueryDescription([.filter(Question.isEvenlyNamed())]))
        #expect(try store.keys() == order)
        #expect(try store.statistics().diskHits == 0)
    }

    @Test func objectsThatChangedSinceTheyWereFoundAreNotRemoved() throws {
        let store = try setup.people()
        try store.record(Person.crowd(10))
        let cursor = QueryExecution(
            QueryDescription([.filter(Question.age(3))]),
            in: store,
            QueryOptions()
        )
        let found = try #require(try cursor.next())
        try store.record(Person("person 3", age: 77), forKey: "person 3")
        var transaction = StoreTransaction()
        transaction.remove(found.origin, in: store)
        #expect(try transaction.commit() == [false])
        #expect(try store.value(forKey: "person 3")?.age == 77)
    }

    @Test func aDamagedEntryDoesNotHideOthers() throws {
        try setup.people().record(Person.crowd(20))
        try setup.close()
        try RawDatabase(setup.url).execute(
            "UPDATE entries SET bytes = x'00' WHERE id = (1 << 40) + 5"
        )
        let store = try setup.people()
        #expect(try store.names(.filter(Question.older(than: -1))).count == 19)
        #expect(try store.names().count == 19)
    }

    /// A query longer than a batch sees later snapshots: objects that no longer match are skipped,
    /// and the others are returned once.
    @Test func aLongQuerySeesEachConcurrentChangeBeforeOrAfterIt() throws {
        let store = try setup.people()
        try store.record(Person.crowd(500))
        let cursor = QueryCursor(
            QueryDescription([.filter(Question.older(than: 50)), .sort([Question.byAge()])]),
            in: store,
            batchSize: 10
        )
        var seen = try cursor.next().map(\.name)
        for person in try store.fetch(QueryDescription([.filter(Question.age(88))])) {
            try store.record(Person(person.name, age: 1), forKey: EntryKey(person.name))
        }
        for person in try store.fetch(QueryDescription([.filter(Question.age(87))])) {
            try store.remove(EntryKey(person.name))
        }
        while case let more = try cursor.next(), !more.isEmpty { seen += more.map(\.name) }
        #expect(Set(seen).count == seen.count)
        #expect(
            seen
                == Person.crowd(500).filter { $0.age > 50 && $0.age != 88 && $0.age != 87 }.sorted {
                    $0.age < $1.age
                }.map(\.name)
        )
    }
}
