import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct MigrationPassTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    private let people = Person.crowd(600)

    @Test(arguments: [false, true])
    func whatIsReadBeforeThePassIsMigratedEachTime(_ indexed: Bool) throws {
        try setup.people(version: 0, indexed: indexed).record(people)
        try setup.close()
        let store = try setup.people(version: 1, indexed: indexed, builds: false)
        for _ in 0..<2 { #expect(try store.value(forKey: "person 7") == people[7]) }
        #expect(try store.fetch(QueryDescription([])) == people)
        #expect(
            try store.names(.filter(Question.age(5))) == people.filter { $0.age == 5 }.map(\.name)
        )
        #expect(try Set(store.versions()) == [0])
    }

    /// Memory that keeps bytes has bytes of the current version.
    @Test func memoryHasNoBytesOfAnOlderVersion() throws {
        try setup.people(version: 0).record(people)
        try setup.close()
        let store: Store<Person> = try setup.open().store(
            named: "people",
            codec: PeopleCodec(version: 1),
            memory: Capacity(1.megaByte),
            disk: Capacity(100.megaByte),
            caching: .bytes
        )
        for _ in 0..<3 { #expect(try store.value(forKey: "person 7") == people[7]) }
        #expect(store.memory.hits == 2)
    }

    @Test(arguments: [false, true])
    func thePassWritesEachEntryOnceAndTheNextOpeningNothing(_ indexed: Bool) throws {
        try setup.people(version: 0, indexed: indexed).record(people)
        try setup.close()
        let store = try setup.people(version: 1, indexed: indexed)
        try store.waitForIndex()
        #expect(try Set(store.versions()) == [1])
        #expect(try store.fetch(QueryDescription([])) == people)
        #expect(try store.migrationProgress() == MigrationProgress(examined: 600, total: 600))
        if indexed { #expect(try store.indexDefects() == []) }
        #expect(try setup.open().verify().isIntact)
        try setup.close()

        let size =
            try FileManager.default.attributesOfItem(atPath: setup.url.path)[.modificationDate]
            as? Date
        let again = try setup.people(version: 1, indexed: indexed)
        try again.waitForIndex()
        #expect(try again.migrationProgress().isComplete)
        #expect(again.disk.file.withWriter { $0.lasting.commits } == 0)
        #expect(
            try FileManager.default.attributesOfItem(atPath: setup.url.path)[.modificationDate]
                as? Date == size
        )
    }

    @Test func anOlderProgramsObjectsAreMigratedAtTheNextOpening() throws {
        try setup.people(version: 1).record(Array(people[0..<10]))
        try setup.close()
        let older = try setup.people(version: 0)
        try older.record(Array(people[10..<20]))
        #expect(try older.fetch(QueryDescription([]), undecodable: .skip).count == 10)
        try setup.close()
        let store = try setup.people(version: 1)
        #expect(try store.fetch(QueryDescription([])) == Array(people[0..<20]))
        try store.waitForIndex()
        #expect(try store.versions() == Array(repeating: 1, count: 20))
        #expect(try store.indexDefects() == [])
    }

    @Test func anEntryThatDoesNotFitTheLimitAnyMoreIsMigratedWheneverItIsRead() throws {
        let long = Person("long", tags: [String(repeating: "x", count: 10_000)])
        try setup.people(version: 0).record([long])
        try setup.close()
        let size = try PeopleCodec(version: 1_000_000).encode(long).count - 1
        let options = StoreOptions<Person>(size: size, version: 1_000_000)
        let store = try setup.open().store(
            named: "people",
            codec: PeopleCodec(version: 1_000_000),
            options
        )
        try store.waitForIndex()
        #expect(try store.versions() == [0])
        #expect(try store.fetch(QueryDescription([])).map(\.name) == ["Dr long"])
        #expect(try store.migrationProgress().isComplete)
    }

    @Test func migratedEntriesThatGrowEvictTheLeastRecentlyUsed() throws {
        let old = try setup.people(version: 0, indexed: false)
        try old.record(people)
        for person in people[0..<100] { _ = try old.value(forKey: EntryKey(person.name)) }
        let bytes = try old.disk.totals().bytes
        try setup.close()
        let options = StoreOptions<Person>(size: bytes, version: 1_000_000)
        let store = try setup.open().store(
            named: "people",
            codec: PeopleCodec(version: 1_000_000),
            options
        )
        try store.waitForIndex()
        let left = try store.disk.totals()
        #expect(left.bytes <= bytes)
        let names = Set(try store.fetch(QueryDescription([])).map(\.name))
        for person in people[0..<100] where person.age % 13 != 0 {
            #expect(names.contains("Dr \(person.name)"))
        }
    }

    /// Openings at random versions, closings in the middle of a pass, and queries at any moment,
    /// against a dictionary.
    @Test(arguments: LongRun.cases([1, 2, 3] as [UInt64], usually: 2))
    func everyVersionAnswersAsADictionaryDoes(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model: [String: (person: Person, version: Int64)] = [:]
        let versions = (0...30).map { _ in Int64.random(in: 0...3, using: &random) }
        for (round, (version, next)) in zip(versions, versions.dropFirst()).enumerated() {
            let codec = PeopleCodec(version: version)
            for (key, old) in model where old.version < version {
                model[key] = nil
                // The later of two would stay; no two have one name here.
                if let new = codec.migrated(old.person, from: old.version) {
                    model[new.name] = (new, version)
                }
            }
            let indexed = Bool.random(using: &random)
            let store = try setup.people(
                version: version,
                indexed: indexed,
                memory: Bool.random(using: &random) ? 1.byte : 1.megaByte
            )
            func check(_ moment: String) throws {
                let known = model.values.filter { $0.version == version }.map(\.person)
                #expect(
                    try Set(store.fetch(QueryDescription([]), undecodable: .skip)) == Set(known),
                    "\(moment), seed \(seed), round \(round)"
                )
                let age = Int.random(in: 0..<90, using: &random)
                #expect(
                    try Set(
                        store.fetch(
                            QueryDescription([.filter(Question.older(than: age))]),
                            undecodable: .skip
                        )
                    )
                        == Set(known.filter { $0.age > age }),
                    "\(moment), seed \(seed), round \(round)"
                )
                // An index that answers alone does not decode those of newer versions, which it
                // does not have.
                #expect(
                    try store.count(
                        QueryDescription([.filter(Question.age(age))]),
                        undecodable: .skip
                    )
                        == known.count { $0.age == age },
                    "\(moment), seed \(seed), round \(round)"
                )
            }
            try check("before")
            // Until the pass has come to it, an object with another key is deleted under its old
            // one only.
            if version >= 3 { try store.waitForIndex() }
            for _ in 0..<Int.random(in: 0..<120, using: &random) {
                setup.clock.advance(by: .milliseconds(1))
                let number = Int.random(in: 0..<200, using: &random)
                let name = version >= 3 ? "Dr \(number)" : "\(number)"
                // A person under both names would be two until the pass has come to them.
                if model[version >= 3 ? "\(number)" : "Dr \(number)"] != nil { continue }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try store.remove(EntryKey(name))
                    model[name] = nil
                } else {
                    var age = Int.random(in: 0..<90, using: &random)
                    if version >= 2, age % 13 == 0 { age += 1 }
                    let person = Person(name, age: age, tags: ["a\(age % 3)"])
                    try store.record(person, forKey: EntryKey(name))
                    model[name] = (person, version)
                }
            }
            try check("after writing")
            // An older program would still find what the pass has not come to.
            if next < version || Bool.random(using: &random) {
                try store.waitForIndex()
                try check("after the pass")
                for (key, (person, itsVersion)) in model where itsVersion == version {
                    #expect(try store.value(forKey: EntryKey(key)) == person)
                }
                #expect(try store.disk.totals().entries == model.count)
                #expect(try setup.open().verify().isIntact)
            }
            try setup.close()
        }
    }
}

extension StoreOptions<Person> {
    /// With a disk limit and no index.
    fileprivate init(size: Int, version: Int64) {
        self.init()
        disk = Capacity(bytes: size, entries: .max)
        memory = Capacity(bytes: 1, entries: .max)
        var catalog = IndexCatalog<Person>()
        catalog.version = version
        indexing = catalog
    }
}
