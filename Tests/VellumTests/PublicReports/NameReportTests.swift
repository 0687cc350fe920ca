import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import Testing
import Vellum
import VellumTestSupport

/// Public bug reports of libraries of this field: names of files, folders, keys of caches and storages.
@Suite(.timeLimit(.minutes(1)))
struct NameReportTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func names(in folder: URL) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

    // MARK: Names

    /// oven-sh/bun PR #37006, sparklemotion/sqlite3-ruby PR #732: a path with U+0000 opens the file whose name ends there.
    @Test func aPathWithU0000OpensNoOtherFile() async throws {
        let sound = folder.file("app")
        try ArchivesFactory(directory: sound).store(for: User.self).record(User(name: "anna"))
        let before = try names(in: folder.url)

        let truncated = URL(fileURLWithPath: folder.url.path + "/app\0/other", isDirectory: true)
        #expect(throws: VellumError.self) { try ArchivesFactory(directory: truncated).store(for: User.self).count() }

        let manager = MiniCacheManager(
            name: "Caches", directory: URL(fileURLWithPath: folder.url.path + "/caches\0/other", isDirectory: true))
        let cache: MiniCache<String, Int> = manager.cache(cacheName: "A", cacheVersion: .custom("1"), maxAge: .forever)
        #expect(throws: MiniCacheError.self) { try cache.set(1, forKey: "a") }

        let storage = SQLiteStorage<Int>(fileURL: URL(fileURLWithPath: folder.url.path + "/storage\0/other.sqlite"))
        await #expect(throws: (any Error).self) { try await storage.set(1, forKey: "a") }

        #expect(try names(in: folder.url) == before)
    }

    /// calebevans/mulder PR #86, mar-file-system/GUFI#126: parts of a path are taken for a query, a fragment or an escape.
    @Test(arguments: ["a#b", "a?mode=memory", "a%41", "a%2Fb", "file:a", "a\nb", "'a\"b", " a ", "-a", "a&b;c", "日本語 🇪🇺"])
    func aFolderMayHaveAnyName(name: String) throws {
        let directory = folder.url.appendingPathComponent(name, isDirectory: true)
        do {
            let factory = ArchivesFactory(directory: directory)
            try factory.store(for: User.self).record(User(name: "anna"))
            try factory.close()
        }
        #expect(try names(in: folder.url) == [name])
        #expect(try names(in: directory).contains("Archives.sqlite"))
        #expect(try ArchivesFactory(directory: directory).store(for: User.self).keys() == ["anna"])
    }

    /// rfjakob/gocryptfs PR #992, amule-org/amule PR #312: a name from another source is in another normal form, and another file is made.
    @Test func equalNamesOfManagersNameOneFile() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        #expect(composed == decomposed)
        func cache(_ name: String) -> MiniCache<String, Int> {
            MiniCacheManager(name: name, directory: folder.url).cache(cacheName: "A", cacheVersion: .custom("1"), maxAge: .forever)
        }
        try cache(composed).set(1, forKey: "a")
        #expect(try cache(decomposed).value(forKey: "a") == 1)
        #expect(try names(in: folder.url).filter { $0.hasSuffix(".sqlite") }.count == 1)
    }

    // MARK: Links

    /// PHP-CS-Fixer/PHP-CS-Fixer PR #9856, NVIDIA/cuda-python PR #2857: a link in the folder of a cache leads reads or writes elsewhere.
    @Test func aLinkInAFolderLeadsNowhere() async throws {
        let outside = folder.file("outside")
        try Data("outside".utf8).write(to: outside)
        let storage = DiskFolderStorage(folderURL: folder.file("storage"))
        try await storage.set(Data("first".utf8), forKey: "other")
        let place = storage.fileURL(forFilename: "key")
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)

        await #expect(throws: (any Error).self) { try await storage.retrieve(forKey: "key") }
        try await storage.set(Data("inside".utf8), forKey: "key")
        #expect(try await storage.retrieve(forKey: "key") == Data("inside".utf8))
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)
        try await storage.removeAll()
        #expect(try Data(contentsOf: outside) == Data("outside".utf8))
    }

    // MARK: Keys

    struct Place: Codable, Hashable, Sendable {
        var name: String
        var position: [Double?]
    }

    enum Shape: Codable, Hashable, Sendable {
        case circle(radius: Double)
        case point
    }

    /// grantjenks/python-diskcache#54: a key that the cache lists finds nothing.
    @Test func aListedKeyFindsItsValue() throws {
        let manager = MiniCacheManager(name: "Caches", directory: folder.url)
        func check<Key: Codable & Hashable & Sendable>(_ keys: Key...) throws {
            let cache: MiniCache<Key, Int> = manager.cache(cacheName: "\(Key.self)", cacheVersion: .custom("1"), maxAge: .forever)
            for (number, key) in keys.enumerated() { try cache.set(number, forKey: key) }
            let listed = try cache.keys()
            #expect(Set(listed) == Set(keys), "\(Key.self)")
            for key in listed {
                #expect(try cache.value(forKey: key) == keys.firstIndex(of: key), "\(Key.self)")
                #expect(try cache.removeValue(forKey: key), "\(Key.self)")
            }
            #expect(try cache.count() == 0, "\(Key.self)")
        }
        try check(1.0, 0.1, 0.0, 1e300, .leastNonzeroMagnitude, -.greatestFiniteMagnitude)
        try check(0.1 as Float, 16_777_216, .greatestFiniteMagnitude)
        try check(CGFloat(1), 0.5)
        try check(Decimal(string: "0.1")!, 5, Decimal(sign: .plus, exponent: 60, significand: 7), .greatestFiniteMagnitude)
        try check(Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 0.1), .distantPast, .distantFuture)
        try check(UUID(), UUID())
        try check(Data(), Data([1, 2]))
        try check(URL(string: "https://a.example/b?c=d#e")!, URL(fileURLWithPath: "/a b"))
        try check(true, false)
        try check(UInt64.max, 0)
        try check(Int.min, -1, 0, .max)
        try check(Int128.min, 0, .max)
        try check(UInt128.max, 0)
        try check(Int?.none, 3)
        try check(["a": 1], ["b": 2, "a": 1], [:])
        try check([1: "a"], [2: "b"])
        try check([[1, nil], []], [[]])
        try check(Place(name: "e\u{301}", position: [1, nil]), Place(name: "", position: []))
        try check(Shape.point, .circle(radius: 1), .circle(radius: 0.5))
        try check(0..<3, 3..<3)
        try check(DateInterval(start: .distantPast, duration: 1.5))
        try check(Duration.seconds(1), .nanoseconds(-1))
        try check(IndexSet([1, 2, 5]), IndexSet())
        try check(Locale(identifier: "de_CH"), Locale(identifier: "en"))
        try check(TimeZone(identifier: "Europe/Zurich")!, TimeZone(secondsFromGMT: 3600)!)
        try check("\u{1}", "\u{1}5", "\u{1}:", "", "5", "\u{1}\u{301}")
    }

    /// grantjenks/python-diskcache#28: keys that are equal are two entries, because their encodings differ.
    @Test func equalKeysAreOneEntry() throws {
        let manager = MiniCacheManager(name: "Caches", directory: folder.url)
        func check<Key: Codable & Equatable & Sendable>(_ one: Key, _ other: Key) throws {
            #expect(one == other, "\(Key.self)")
            let cache: MiniCache<Key, Int> = manager.cache(cacheName: "\(Key.self)", cacheVersion: .custom("1"), maxAge: .forever)
            do {
                try cache.set(1, forKey: one)
            } catch  where error.code == .invalidKey {
                return  // Such a type cannot be a key.
            }
            #expect(try cache.value(forKey: other) == 1, "\(Key.self)")
        }
        try check(Decimal(string: "1.50")!, Decimal(string: "1.5")!)
        try check(0.0, -0.0)
        try check(["a": 1, "b": 2], ["b": 2, "a": 1])
        try check(Set(1...20), Set((1...20).reversed()))
        try check(Measurement(value: 1, unit: UnitLength.kilometers), Measurement(value: 1000, unit: UnitLength.meters))
        try check(Place(name: "\u{E9}", position: [0]), Place(name: "e\u{301}", position: [-0.0]))
    }

    /// ben-manes/caffeine#600: entries whose key is not equal to itself are never found, and never evicted.
    @Test func aKeyThatIsNotEqualToItselfLeavesNothing() async throws {
        let memory = MemoryStorage<Double, Int>()
        let recent = try LRUStorage<Double, Int>(maxCount: 10)
        for number in 0..<100 {
            try await memory.set(number, forKey: .nan)
            try await recent.set(number, forKey: .nan)
        }
        #expect(memory.storage.count <= 1)
        #expect(recent.totals.entries <= 1)
        let combined = memory.combined(with: recent)
        for number in 0..<100 { try await combined.set(number, forKey: .nan) }
        #expect(memory.storage.count <= 1)
    }
}
