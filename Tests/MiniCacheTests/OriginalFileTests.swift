import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import MiniCache
@testable import Originals

/// Files of the original MiniCache, a Core Data store.
@Suite(.ownThreads)
struct OriginalFileTests {
    let temporary = TemporaryCaches()

    struct Place: Codable, Hashable {
        var name: String
        var height: Double
    }

    /// The tables that Core Data makes of the original's model.
    static let tables = """
        CREATE TABLE ZCACHEENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDATE \
        TIMESTAMP, ZCACHE VARCHAR, \
        ZCACHEVERSION VARCHAR, ZKEY VARCHAR, ZVALUE VARCHAR);
        CREATE INDEX Z_CacheEntry_cacheKey ON ZCACHEENTRY (ZCACHE COLLATE BINARY ASC, ZKEY COLLATE \
        BINARY ASC);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, \
        Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'CacheEntry', 0, 5);
        """

    func insert(
        _ cache: String,
        _ version: String,
        key: String,
        value: String,
        age: Double = 0
    ) -> String {
        let date = temporary.clock.now.date.timeIntervalSinceReferenceDate - age
        return "INSERT INTO ZCACHEENTRY(Z_ENT, Z_OPT, ZDATE, ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE) "
            + "VALUES (1, 1, \(date), '\(cache)', '\(version)', '\(key)', '\(value)');"
    }

    /// Makes a file of the original with some entries.
    func makeOriginal(_ more: String = "") throws {
        try temporary.makeDirectory()
        try RawDatabase(temporary.file).execute(
            Self.tables + insert("Test", "1", key: "\"foo\"", value: "1")
                + insert("Test", "1", key: "\"old\"", value: "2", age: 5000)
                + insert("Test", "2", key: "\"foo\"", value: "3", age: 6000)
                + insert("Places", "1", key: "7", value: "\"seven\"")
                + insert(
                    "Places",
                    "1",
                    key: "{\"height\":-0,\"name\":\"e\u{301}\"}",
                    value: "\"place\""
                )
                + insert("Data", "1", key: "\"data\"", value: "\"AAH\\/\"") + more
        )
    }

    func cache<Key: Codable, Value: Codable & Sendable>(
        _ name: String,
        _ version: String = "1"
    ) -> MiniCache<Key, Value> {
        temporary.manager.cache(cacheName: name, cacheVersion: .custom(version), maxAge: .hours(1))
    }

    func expectEntries() throws {
        // The handle with the longer age comes first, or the old value may be removed.
        let patient: MiniCache<String, Int> = temporary.cache(version: .custom("1"))
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["foo"] == 1)
        #expect(test["old"] == nil, "Its age is counted from when the original set it.")
        #expect(patient["old"] == 2)
        #expect(try test.metadata(forKey: "foo")?.written == temporary.clock.now.date)
        let numbers: MiniCache<Int, String> = cache("Places")
        #expect(numbers[7] == "seven")
        let places: MiniCache<Place, String> = cache("Places")
        #expect(places[Place(name: "é", height: 0)] == "place")
        let data: MiniCache<String, Data> = cache("Data")
        #expect(data["data"] == Data([0, 1, 255]))
        data["data"] = Data([2])
        #expect(data["data"] == Data([2]))
    }

    func originals() throws -> [URL] {
        try temporary.files().filter { $0.hasSuffix(".original") }.map {
            temporary.directory.appendingPathComponent($0)
        }
    }

    @Test func itsEntriesAreImportedAndItIsRenamed() throws {
        try makeOriginal()
        try expectEntries()
        let aside = try originals()
        #expect(aside.count == 1)
        #expect(try RawDatabase(#require(aside.first)).int("SELECT count(*) FROM ZCACHEENTRY") == 6)
        try temporary.manager.close()
        #expect(cache("Test")["foo"] as Int? == 1)
        #expect(try originals().count == 1)
    }

    @Test func entriesThatCannotBeReadAreLeftBehind() async throws {
        try makeOriginal(
            insert("Test", "1", key: "\"broken\"", value: "{")
                + insert("Test", "1", key: "broken", value: "1")
                + "INSERT INTO ZCACHEENTRY(ZCACHE, ZKEY) VALUES ('Test', NULL);"
        )
        try expectEntries()
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["broken"] == nil)
    }

    /// The original removes the entries of other versions when a cache is accessed.
    @Test func onlyTheVersionThatWasWrittenLastIsImportedAndAnotherIsEmpty() throws {
        try makeOriginal()
        let second: MiniCache<String, Int> = cache("Test", "2")
        #expect(second["foo"] == nil)
        #expect(try second.count() == 0)
        let places: MiniCache<Int, String> = cache("Places")
        #expect(places[7] == "seven")
    }

    @Test func ofTwoEntriesWithOneKeyTheNewerStays() throws {
        try makeOriginal(
            insert("Test", "1", key: "\"e\u{301}\"", value: "2")
                + insert("Test", "1", key: "\"é\"", value: "1", age: 100)
        )
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["é"] == 2)
    }

    // MARK: Keys

    /// C5: older Foundations wrote 17 digits.
    @Test func numbersAreFoundHoweverTheOriginalSpelledThem() throws {
        try makeOriginal(
            insert("Doubles", "1", key: "0.20000000000000001", value: "1")
                + insert("Doubles", "1", key: "3", value: "2")
                + insert("Doubles", "1", key: "1e2", value: "3")
                + insert("Dates", "1", key: "712345678.12300003", value: "4")
                + insert("Bools", "1", key: "true", value: "5")
                + insert("Lists", "1", key: "[ \"a\\/b\", \"\\u00e9\" ]", value: "6")
        )
        let doubles: MiniCache<Double, Int> = cache("Doubles")
        #expect(doubles[0.2] == 1)
        #expect(doubles[3] == 2)
        #expect(doubles[100] == 3)
        #expect(try Set(doubles.keys()) == [0.2, 3, 100])
        let dates: MiniCache<Date, Int> = cache("Dates")
        #expect(dates[Date(timeIntervalSinceReferenceDate: 712345678.123)] == 4)
        let bools: MiniCache<Bool, Int> = cache("Bools")
        #expect(bools[true] == 5)
        let lists: MiniCache<[String], Int> = cache("Lists")
        #expect(lists[["a/b", "e\u{301}"]] == 6)
    }

    @Test func keysWaitForACacheOfTheirType() throws {
        try makeOriginal()
        let numbers: MiniCache<Int, String> = cache("Places")
        #expect(try numbers.keys() == [7])
        #expect(try numbers.count() == 1)
        for _ in 0..<2 {
            try temporary.manager.close()
            let places: MiniCache<Place, String> = cache("Places")
            #expect(try places.keys() == [Place(name: "é", height: 0)])
            #expect(places[Place(name: "é", height: 0)] == "place")
            let numbers: MiniCache<Int, String> = cache("Places")
            #expect(numbers[7] == "seven")
            #expect(try numbers.count() == 2)
        }
    }

    /// A key that is encoded as the number 7 and cannot be decoded.
    struct Seven: Codable {
        init() {}
        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "A key that is only written.")
            )
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(7)
        }
    }

    @Test func anEntryThatWasSetInTheMeantimeStays() throws {
        try makeOriginal()
        let written: MiniCache<Seven, String> = cache("Places")
        written[Seven()] = "new"
        #expect(try written.count() == 1)
        let numbers: MiniCache<Int, String> = cache("Places")
        #expect(numbers[7] == "new")
        #expect(try numbers.count() == 1)
    }

    @Test func aRemovedEntryNeverReturns() throws {
        try makeOriginal()
        let test: MiniCache<String, Int> = cache("Test")
        test["foo"] = nil
        for _ in 0..<2 {
            try temporary.manager.close()
            let test: MiniCache<String, Int> = cache("Test")
            #expect(test["foo"] == nil)
        }
    }

    /// Before any of them is opened.
    @Test func clearingAllCachesDropsTheirOriginalEntries() throws {
        try makeOriginal()
        temporary.manager.clearAll()
        let test: MiniCache<String, Int> = cache("Test")
        #expect(try test.count() == 0)
        try temporary.manager.close()
        let numbers: MiniCache<Int, String> = cache("Places")
        #expect(try numbers.count() == 0)
        #expect(try originals().count == 1)
    }

    @Test func aNewCacheOfAnotherVersionImportsNothingLater() throws {
        try makeOriginal()
        let second: MiniCache<String, Int> = cache("Test", "2")
        #expect(try second.count() == 0)
        let first: MiniCache<String, Int> = cache("Test", "1")
        #expect(try first.count() == 0)
    }

    /// Also if some of its entries wait for a handle of their type.
    @Test func anotherVersionEndsTheImportForGood() throws {
        try makeOriginal()
        let numbers: MiniCache<Int, String> = cache("Places")
        numbers[7] = nil
        let second: MiniCache<Int, String> = cache("Places", "2")
        #expect(try second.count() == 0)
        let again: MiniCache<Int, String> = cache("Places")
        #expect(again[7] == nil)
        let places: MiniCache<Place, String> = cache("Places")
        #expect(places[Place(name: "é", height: 0)] == nil)
    }

    /// Entries that wait are imported in several transactions, of which a process may end the first
    /// alone.
    @Test func aRemovedEntryNeverReturnsWhileThoseThatWaitAreImported() throws {
        try makeOriginal(
            (0..<1200).map { number in
                insert("Both", "1", key: "\(number)", value: "1", age: 2000)
                    + insert("Both", "1", key: "[\(number)]", value: "2")
            }.joined()
        )
        let numbers: MiniCache<Int, Int> = cache("Both")
        #expect(try numbers.count() == 1200)
        for number in 0..<1200 { numbers[number] = nil }
        let original = try #require(OriginalCaches(besides: temporary.file))
        let file = try temporary.manager.file.open()
        let hold = try file.hold(named: "Both", codec: CachedValueCodec(), cacheVersion: "1")
        struct Stop: Error {}
        var values = 0
        #expect(throws: VellumError.self) {
            // The key of the second batch stops it.
            try original.importEntries(
                of: ("Both", "1"),
                into: hold.store,
                of: file,
                key: { CacheKey.decodingOriginal($0, as: [Int].self) },
                value: { json in
                    values += 1
                    if values > 600 { throw SQLiteError.busy }
                    return CachedValue(EncodedForm(Data(json.utf8)))
                }
            )
        }
        try hold.close()
        try temporary.manager.close()
        let again: MiniCache<Int, Int> = cache("Both")
        #expect(again[3] == nil)
        let lists: MiniCache<[Int], Int> = cache("Both")
        for number in 0..<1200 { #expect(lists[[number]] == 2) }
        #expect(try lists.count() == 1200)
    }

    @Test func aDamagedOriginalIsImportedAsFarAsItCanBeRead() throws {
        let value = "\"\(String(repeating: "x", count: 200))\""
        try makeOriginal(
            (0..<LongRun.number(3000, usually: 750)).map { number in
                insert("Many", "1", key: "\"\(number)\"", value: value)
            }.joined()
        )
        // Another cache renames it.
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["foo"] == 1)
        let original = try #require(try originals().first)
        let file = try FileHandle(forUpdating: original)
        try file.seek(toOffset: try file.seekToEnd() / 2)
        try file.write(contentsOf: Data(count: 8192))
        try file.close()
        let many: MiniCache<String, String> = cache("Many")
        many["new"] = "new"
        #expect(many["new"] == "new")
    }

    /// A reader that cannot import what is left works all the same, and the next handle tries it
    /// again.
    @Test func anImportThatFailsIsReportedAndTriedAgain() throws {
        try makeOriginal()
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["foo"] == 1)
        let lock = URL(fileURLWithPath: try #require(try originals().first).path + "-lock")
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        let numbers: MiniCache<Int, String> = cache("Places")
        numbers[1] = "one"
        #expect(numbers[1] == "one")
        #expect(numbers[7] == nil)
        try FileManager.default.removeItem(at: lock)
        try temporary.manager.close()
        let again: MiniCache<Int, String> = cache("Places")
        #expect(again[7] == "seven")
        #expect(again[1] == "one")
    }

    @Test func aFileOfAnotherProgramIsNotAnOriginal() throws {
        try temporary.makeDirectory()
        try RawDatabase(temporary.file).execute(
            "CREATE TABLE ZCACHEENTRY (Z_PK INTEGER PRIMARY KEY); CREATE TABLE other(a)"
        )
        let test: MiniCache<String, Int> = cache("Test")
        test["a"] = 1
        #expect(test["a"] == 1)
        #expect(try originals() == [])
        #expect(try temporary.files().contains { $0.contains(".foreign-") })
    }

    @Test func waitingEntriesAreRemovedWithTheOthers() throws {
        try makeOriginal()
        let numbers: MiniCache<Int, String> = cache("Places")
        try numbers.removeAll()
        let places: MiniCache<Place, String> = cache("Places")
        #expect(try places.keys() == [])
        #expect(try places.count() == 0)
    }

    @Test func importedEntriesKeepTheirOrder() throws {
        try makeOriginal(
            (0..<600).map {
                insert("Many", "1", key: "\"\($0)\"", value: "\($0)", age: 600 - Double($0))
            }.joined()
        )
        let many: MiniCache<String, Int> = cache("Many")
        #expect(try many.keys() == (0..<600).reversed().map { "\($0)" })
        many["0"] = 0
        #expect(try many.keys(limit: 2) == ["0", "599"])
    }

    /// The log of a program that was killed.
    @Test func entriesInItsLogAreImported() throws {
        try temporary.makeDirectory()
        let elsewhere = temporary.directory.appendingPathComponent("elsewhere.sqlite")
        let database = try RawDatabase(elsewhere)
        try database.execute(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" + Self.tables
        )
        try database.execute(insert("Test", "1", key: "\"foo\"", value: "1"))
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: elsewhere.path + suffix,
                toPath: temporary.file.path + suffix
            )
        }
        withExtendedLifetime(database) {}
        #expect(cache("Test")["foo"] as Int? == 1)
        #expect(
            try RawDatabase(#require(try originals().first)).int("SELECT count(*) FROM ZCACHEENTRY")
                == 1
        )
    }

    // MARK: Threads

    @Test func severalThreadsImportItOnce() throws {
        try makeOriginal()
        let temporary = temporary
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let cache: MiniCache<String, Int> = temporary.anotherManager().cache(
                cacheName: "Test",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            #expect(cache["foo"] == 1)
        }
        #expect(try originals().count == 1)
    }
}
