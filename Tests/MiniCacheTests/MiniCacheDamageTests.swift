import Foundation
import MiniCache
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// Damaged and foreign files, and values of other types.
@Suite(.ownThreads)
struct MiniCacheDamageTests {
    let temporary = TemporaryCaches()

    private func write(_ text: String, _ suffix: String = "") throws {
        try temporary.makeDirectory()
        try Data(text.utf8).write(to: URL(fileURLWithPath: temporary.file.path + suffix))
    }

    // MARK: Files

    @Test func aFileThatIsNotADatabaseIsSetAsideForANewOne() throws {
        temporary.cache()["foo"] = 1
        try temporary.manager.close()
        try write("xyz")
        let cache = temporary.cache()
        #expect(cache["foo"] == nil)
        cache["foo"] = 2
        #expect(cache["foo"] == 2)
        let aside = try #require(
            try temporary.files().filter { $0.contains(".damaged-") }.min { $0.count < $1.count }
        )
        #expect(
            try Data(contentsOf: temporary.directory.appendingPathComponent(aside))
                == Data("xyz".utf8)
        )
        try temporary.manager.close()
        #expect(temporary.cache()["foo"] == 2)
    }

    /// Where the damage shows only when a cache is opened, the file is opened again by itself
    /// (FS7).
    @Test(arguments: [
        "UPDATE archives SET hash_seed_check = 0", "UPDATE archives SET cleared_check = 0",
        "UPDATE archives SET entries = -1",
        "UPDATE archives SET low_water = 1 << 50", "UPDATE retention SET age = -1",
    ])
    func aFileThatWasDamagedWhileItWasClosedOpensByItself(_ damage: String) throws {
        try temporary.cache().set(1, forKey: "foo")
        try temporary.manager.close()
        try RawDatabase(temporary.file).execute(damage)
        let manager = temporary.anotherManager()
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        try cache.set(2, forKey: "bar")
        #expect(try cache.value(forKey: "bar") == 2)
        #expect(try temporary.files().contains { $0.contains(".damaged-") })
        try manager.close()
    }

    /// P42.
    @Test func aSuspendedManagerRefusesTheDiskUntilItIsResumed() throws {
        let cache = temporary.cache()
        try cache.set(1, forKey: "foo")
        try temporary.manager.suspend()
        #expect(cache["foo"] == 1)
        let error = #expect(throws: MiniCacheError.self) { try cache.set(2, forKey: "foo") }
        #expect(error?.code == .suspended)
        try temporary.manager.resume()
        try cache.set(3, forKey: "foo")
        #expect(cache["foo"] == 3)
        // Another manager suspends the same file.
        let other = temporary.anotherManager()
        try other.suspend()
        #expect(
            #expect(throws: MiniCacheError.self) { try cache.set(4, forKey: "foo") }?.code
                == .suspended
        )
        try other.resume()
        try cache.set(4, forKey: "foo")
    }

    /// M2
    @Test func anOldLogIsNotReplayedOverTheNewFile() throws {
        for (name, suffix) in [("xyz", ""), ("old log", "-wal"), ("old index", "-shm")] {
            try write(name, suffix)
        }
        let cache = temporary.cache()
        try cache.set(1, forKey: "foo")
        try temporary.manager.close()
        #expect(temporary.cache()["foo"] == 1)
        let aside = try temporary.files().filter { $0.contains(".damaged-") }
        #expect(!aside.isEmpty)
    }

    @Test func aDatabaseOfAnotherProgramIsSetAside() throws {
        try temporary.makeDirectory()
        try RawDatabase(temporary.file).execute(
            "CREATE TABLE theirs(a); INSERT INTO theirs VALUES (7)"
        )
        let cache = temporary.cache()
        try cache.set(1, forKey: "foo")
        let aside = try #require(try temporary.files().first { $0.contains(".foreign-") })
        #expect(
            try RawDatabase(temporary.directory.appendingPathComponent(aside)).int(
                "SELECT a FROM theirs"
            ) == 7
        )
    }

    @Test func aFileOfANewerFormatIsRefusedAndUnchanged() throws {
        temporary.cache()["foo"] = 1
        try temporary.manager.close()
        try RawDatabase(temporary.file).declareFormat(99)
        let cache = temporary.cache()
        #expect(cache["foo"] == nil)
        cache["foo"] = 2
        #expect(code { _ = try cache.value(forKey: "foo") } == .newerFormat)
        #expect(code { try cache.set(2, forKey: "foo") } == .newerFormat)
        #expect(try RawDatabase(temporary.file).int("PRAGMA user_version") == 99)
        #expect(try temporary.files().filter { $0.contains("-damaged") } == [])
    }

    @Test func aFileThatCannotBeOpenedIsTriedAgain() throws {
        // There is a file at the folder's path.
        try Data().write(to: temporary.directory)
        let cache = temporary.cache()
        cache["foo"] = 1
        #expect(cache["foo"] == nil)
        #expect(code { try cache.set(1, forKey: "foo") } == .cannotOpen)
        #expect(code { _ = try cache.keys() } == .cannotOpen)
        temporary.manager.clearAll()
        try FileManager.default.removeItem(at: temporary.directory)
        cache["foo"] = 2
        #expect(cache["foo"] == 2)
        #expect(try cache.value(forKey: "foo") == 2)
        #expect(temporary.cache()["foo"] == 2)
    }

    // MARK: The log

    /// The lines that `body` logs.
    private func linesLogged(by body: () throws -> Void) rethrows -> [String] {
        let lines = Locked<[String]>([])
        try LoggedLines.$observer.withValue(
            { line in lines.withLock { $0.append(line) } },
            operation: body
        )
        return lines.withLock { $0 }
    }

    @Test func aFileThatCannotBeOpenedIsLoggedOnceAndCounted() throws {
        // There is a file at the folder's path.
        try Data().write(to: temporary.directory)
        let lines = try linesLogged {
            let cache = temporary.cache()
            for _ in 0..<1000 { #expect(cache["foo"] == nil) }
            cache["foo"] = 1
            try FileManager.default.removeItem(at: temporary.directory)
            cache["foo"] = 2
            #expect(cache["foo"] == 2)
        }
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("cannotOpen: ") == true)
        // A thousand gets, a set, and the making of the cache.
        let end =
            """
            The file could be opened again; 1002 calls failed meanwhile with the code cannotOpen. \
            (archive Test
            """
        #expect(lines.last?.hasPrefix(end) == true)
    }

    @Test func everyFailureOfAFileIsSentToObservers() async throws {
        try Data().write(to: temporary.directory)
        let cache = temporary.cache()
        let failures = cache.failures
        for _ in 0..<20 { cache["foo"] = 1 }
        var codes: [VellumError.Code] = []
        for await failure in failures {
            codes.append(failure.code)
            if codes.count == 20 { break }
        }
        #expect(Set(codes) == [.cannotOpen])
        try FileManager.default.removeItem(at: temporary.directory)
    }

    @Test func aValueThatIsTooLargeIsLoggedAtPowersOfTen() throws {
        let cache: MiniCache<String, String> = temporary.manager.cache(
            cacheName: "Small",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 10.byte,
            diskLimit: 10.byte
        )
        let lines = linesLogged {
            for _ in 0..<150 { cache["foo"] = "a text of more than ten bytes" }
        }
        #expect(lines.map { $0.hasSuffix("th time)") } == [false, true, true])
        #expect(lines.last?.hasSuffix(" (the 100th time)") == true)
    }

    // MARK: Values

    @Test func aDamagedValueReadsAsNilAndHidesNoOther() throws {
        let cache = temporary.cache(of: String.self)
        for key in ["a", "b", "c"] { cache[key] = "value of \(key)" }
        try temporary.manager.close()
        var contents = try Data(contentsOf: temporary.file)
        let place = try #require(contents.range(of: Data("value of b".utf8)))
        contents[place.lowerBound + 3] ^= 1
        try contents.write(to: temporary.file)

        let again = temporary.cache(of: String.self)
        #expect(again["b"] == nil)
        #expect(code { _ = try again.value(forKey: "b") } == .damagedEntry)
        #expect(again["a"] == "value of a")
        #expect(again["c"] == "value of c")
        #expect(Set(try again.keys()) == ["a", "b", "c"])
        again["b"] = "new"
        #expect(again["b"] == "new")
    }

    @Test func aValueOfAnotherTypeReadsAsNilAndCanBeOverwritten() throws {
        let numbers = temporary.cache(of: Int.self)
        let texts = temporary.cache(of: String.self)
        numbers["foo"] = 1
        texts["bar"] = "one"
        for _ in 0..<2 {
            #expect(texts["foo"] == nil)
            #expect(numbers["bar"] == nil)
            #expect(numbers["foo"] == 1)
            #expect(texts["bar"] == "one")
            #expect(code { _ = try texts.value(forKey: "foo") } == .notDecodable)
            numbers.trimMemory(to: 0)
        }
        texts["foo"] = "two"
        #expect(texts["foo"] == "two")
        #expect(numbers["foo"] == nil)
    }

    @Test func aValueThatCanBeDecodedAsAnotherTypeIsRead() throws {
        temporary.cache(of: Int.self)["foo"] = 1
        let doubles = temporary.cache(of: Double.self)
        #expect(doubles["foo"] == 1.0)
        let wide = temporary.cache(of: Int64.self)
        #expect(wide["foo"] == 1)
        #expect(temporary.cache(of: Int.self)["foo"] == 1)
    }

    // MARK: Reporting

    @Test func aFailureOfOneValueIsReportedOnceUntilItIsSetAgain() async throws {
        let numbers = temporary.cache(of: Int.self)
        let texts = temporary.cache(of: String.self)
        texts["foo"] = "no number"
        var failures = numbers.failures.makeAsyncIterator()
        for _ in 0..<3 { #expect(numbers["foo"] == nil) }
        texts["foo"] = "no number either"
        #expect(numbers["foo"] == nil)
        try temporary.manager.close()
        numbers["foo"] = 1  // Another failure, which ends the listening.
        var codes: [VellumError.Code] = []
        while let failure = await failures.next(isolation: #isolation), failure.code != .closed {
            codes.append(failure.code)
        }
        #expect(codes == [.notDecodable, .notDecodable])
    }

    @Test func aFileThatWasSetAsideIsReportedToTheFirstObserver() async throws {
        try write("xyz")
        let cache = temporary.cache()
        var failures = cache.failures.makeAsyncIterator()
        #expect(await failures.next(isolation: #isolation)?.code == .damagedFile)
    }

    @Test func failuresEndWithTheCache() async throws {
        var cache: MiniCache<String, Int>? = MiniCacheManager(
            name: "Gone",
            directory: temporary.directory
        ).cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        let failures = try #require(cache?.failures)
        cache = nil
        for await _ in failures {}
    }

    @Test func aDamagedValueOfTheSizeOfARememberedMissHidesNoKey() throws {
        let cache = temporary.cache(of: Data.self)
        try cache.set(Data(count: 63), forKey: "damaged")
        try cache.set(Data(count: 10), forKey: "other")
        try temporary.manager.close()
        try RawDatabase(temporary.file).execute(
            "UPDATE entries SET checksum = checksum + 1 WHERE id = (1 << 40) + 1"
        )
        #expect(try temporary.cache(of: Data.self).keys().sorted() == ["damaged", "other"])
    }

    /// The system may empty the folder of caches while an app runs.
    @Test func aCacheWhoseFolderWasDeletedGoesOnInANewFile() throws {
        let cache = temporary.cache()
        try cache.set(1, forKey: "before")
        try FileManager.default.removeItem(at: temporary.directory)
        // It is looked at again within 20 ms.
        while !FileManager.default.fileExists(atPath: temporary.file.path) {
            try cache.set(2, forKey: "after")
        }
        #expect(try cache.value(forKey: "before") == nil)
        #expect(try cache.value(forKey: "after") == 2)
        #expect(temporary.cache()["after"] == 2)
    }

    @Test func aManagerWhoseFileWasDeletedCloses() throws {
        for name in ["a", "b", "c"] { try temporary.cache(name).set(1, forKey: "key") }
        try FileManager.default.removeItem(at: temporary.directory)
        try temporary.manager.close()
        try temporary.cache("a").set(2, forKey: "key")
        #expect(temporary.cache("a")["key"] == 2)
    }
}
