import Foundation
import MiniCache
import RawDatabase
import Testing
import VellumTestSupport

/// Files of the original MiniCache, which Core Data made.
@Suite(.timeLimit(.minutes(60)))
struct OriginalFileTests {
    let temporary = TemporaryCaches()

    struct Place: Codable, Hashable {
        var name: String
        var height: Double
    }

    /// The tables that Core Data makes of the original's model.
    static let tables = """
        CREATE TABLE ZCACHEENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDATE TIMESTAMP, ZCACHE VARCHAR, \
        ZCACHEVERSION VARCHAR, ZKEY VARCHAR, ZVALUE VARCHAR);
        CREATE INDEX Z_CacheEntry_cacheKey ON ZCACHEENTRY (ZCACHE COLLATE BINARY ASC, ZKEY COLLATE BINARY ASC);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'CacheEntry', 0, 5);
        """

    func insert(_ cache: String, _ version: String, key: String, value: String, age: Double = 0) -> String {
        let date = temporary.clock.now.date.timeIntervalSinceReferenceDate - age
        return "INSERT INTO ZCACHEENTRY(Z_ENT, Z_OPT, ZDATE, ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE) "
            + "VALUES (1, 1, \(date), '\(cache)', '\(version)', '\(key)', '\(value)');"
    }

    /// A file of the original with some entries in it.
    func makeOriginal(_ more: String = "") throws {
        try temporary.makeDirectory()
        try RawDatabase(temporary.file).execute(
            Self.tables + insert("Test", "1", key: "\"foo\"", value: "1") + insert("Test", "1", key: "\"old\"", value: "2", age: 5000)
                + insert("Test", "2", key: "\"foo\"", value: "3") + insert("Places", "1", key: "7", value: "\"seven\"")
                + insert("Places", "1", key: "{\"height\":-0,\"name\":\"e\u{301}\"}", value: "\"place\"")
                + insert("Data", "1", key: "\"data\"", value: "\"AAH\\/\"") + more)
    }

    func cache<Key: Codable, Value: Codable & Sendable>(_ name: String, _ version: String = "1") -> MiniCache<Key, Value> {
        temporary.manager.cache(cacheName: name, cacheVersion: .custom(version), maxAge: .hours(1))
    }

    func expectEntries() throws {
        // Who takes old values is there first, or what only it wants may be swept.
        let patient: MiniCache<String, Int> = temporary.cache(version: .custom("1"))
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["foo"] == 1)
        #expect(test["old"] == nil, "Its age is counted from when the original set it.")
        #expect(patient["old"] == 2)
        #expect(try test.metadata(forKey: "foo")?.written == temporary.clock.now.date)
        let second: MiniCache<String, Int> = cache("Test", "2")
        #expect(second["foo"] == 3)
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
        try temporary.files().filter { $0.contains(".original-") }.map { temporary.directory.appendingPathComponent($0) }
    }

    @Test func itsEntriesAreTakenOverAndItIsKeptAside() throws {
        try makeOriginal()
        try expectEntries()
        let aside = try originals()
        #expect(aside.count == 1)
        #expect(try RawDatabase(#require(aside.first)).int("SELECT count(*) FROM ZCACHEENTRY") == 6)
        try temporary.manager.close()
        #expect(cache("Test")["foo"] as Int? == 1)
        #expect(try originals().count == 1)
        #expect(try temporary.files().filter { $0.contains(".tak") } == [])
    }

    @Test func entriesThatCannotBeReadAreLeftBehindAndTold() async throws {
        try makeOriginal(
            insert("Test", "1", key: "\"broken\"", value: "{") + insert("Test", "1", key: "broken", value: "1")
                + "INSERT INTO ZCACHEENTRY(ZCACHE, ZKEY) VALUES ('Test', NULL);")
        let patient: MiniCache<String, Int> = temporary.cache(version: .custom("1"))
        let test: MiniCache<String, Int> = cache("Test")
        var failures = patient.failures.makeAsyncIterator()
        #expect(await failures.next(isolation: #isolation)?.message.contains("6 entries") == true)
        #expect(test["broken"] == nil)
        try expectEntries()
    }

    @Test func ofTwoEntriesUnderOneKeyTheNewerStays() throws {
        try makeOriginal(
            insert("Test", "1", key: "\"e\u{301}\"", value: "2") + insert("Test", "1", key: "\"é\"", value: "1", age: 100))
        let test: MiniCache<String, Int> = cache("Test")
        #expect(test["é"] == 2)
    }

    /// The log of a program that was killed.
    @Test func whatLiesInItsLogIsTakenOver() throws {
        try temporary.makeDirectory()
        let elsewhere = temporary.directory.appendingPathComponent("elsewhere.sqlite")
        let database = try RawDatabase(elsewhere)
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" + Self.tables)
        try database.execute(insert("Test", "1", key: "\"foo\"", value: "1"))
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: elsewhere.path + suffix, toPath: temporary.file.path + suffix)
        }
        withExtendedLifetime(database) {}
        #expect(cache("Test")["foo"] as Int? == 1)
        #expect(try RawDatabase(#require(try originals().first)).int("SELECT count(*) FROM ZCACHEENTRY") == 1)
    }

    // MARK: Killed in between

    @Test func aTakeoverThatWasInterruptedBeforeTheMoveBeginsAnew() throws {
        try makeOriginal()
        for suffix in [".taking-over", ".taking-over-wal", ".taken-over"] {
            try Data("half a file".utf8).write(to: URL(fileURLWithPath: temporary.file.path + suffix))
        }
        try expectEntries()
        #expect(try temporary.files().filter { $0.contains(".tak") } == [])
    }

    @Test(arguments: [true, false])
    func aTakeoverThatWasInterruptedAfterTheMoveIsFinished(_ hasEmptyFile: Bool) throws {
        try makeOriginal()
        _ = cache("Test") as MiniCache<String, Int>
        try temporary.manager.close()
        try FileManager.default.moveItem(atPath: temporary.file.path, toPath: temporary.file.path + ".taken-over")
        if hasEmptyFile { try Data().write(to: temporary.file) }
        try expectEntries()
        #expect(try temporary.files().filter { $0.contains(".tak") } == [])
    }

    @Test func severalThreadsTakeItOverOnce() throws {
        try makeOriginal()
        let temporary = temporary
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let cache: MiniCache<String, Int> = temporary.anotherManager().cache(
                cacheName: "Test", cacheVersion: .custom("1"), maxAge: .hours(1))
            #expect(cache["foo"] == 1)
        }
        #expect(try originals().count == 1)
    }
}
