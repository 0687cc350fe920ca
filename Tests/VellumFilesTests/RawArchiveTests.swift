import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumEngine
import VellumFiles
import VellumTestSupport

/// What a file shows of its archives without their types.
@Suite(.ownThreads)
struct RawArchiveTests {
    private struct Note: ArchiveCodable, Equatable {
        static var archiveName: String { "Note" }
        var primaryKey: String
        var text = ""
    }

    /// An object with a form of its own.
    private struct Blob: Archivable {
        static var archiveName: String { "Blob" }
        var primaryKey: String { "blob" }
        func archive() throws -> Data { Data([0xFF, 0x00]) }
        static func deArchive(fromData data: Data) throws -> any Archivable { Blob() }
    }

    private struct Visitor: ArchiveCodable, VersionedArchive {
        static var archiveName: String { "Visitor" }
        static let archiveVersion = 3
        static func migrate(_ old: StoredObject) throws -> Migrated<Visitor> {
            .object(try old.decode(Visitor.self))
        }
        var primaryKey: String
    }

    /// Written when the file is closed, for tools to show.
    @Test(arguments: [500, 3000]) func whatIsKnownOfOtherLimitsIsInTheFile(reads: Int) throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url, durability: .relaxed)
        let notes = try factory.store(for: Note.self, diskLimit: 5.megaBytes)
        for number in 0..<reads {
            let key = "\(number % 100)"
            if try notes.access(archiveWithKey: key) == nil {
                try notes.record(Note(primaryKey: key, text: "text"))
            }
        }
        let known = try notes.statistics().sizing
        #expect((known != nil) == (reads >= 1000))
        try factory.close()
        for _ in 0..<2 {
            let file = try ArchiveFile(at: folder.file("Archives.sqlite"))
            let summary = try #require(try file.archives().first).summary()
            #expect(summary.sizing == known)
            #expect(try file.verify().isIntact)
            try file.close()
            // It stays there while others use the file.
            let again = ArchivesFactory(directory: folder.url)
            try again.store(for: Note.self).record(Note(primaryKey: "other"))
            try again.close()
        }
    }

    @Test func aFileListsWhatItHas() throws {
        let factory = ArchivesFactory.inMemory()
        let notes = try factory.store(for: Note.self, diskLimit: 5.megaBytes)
        try notes.record(
            contentsOf: ["b", "a", "ä"].map {
                Note(primaryKey: $0, text: String(repeating: "x", count: $0.utf8.count * 100))
            }
        )
        try factory.store(for: Visitor.self).record(Visitor(primaryKey: "1"))
        try factory.store(for: Animal.self).record(contentsOf: [Animal]())
        let archives = try factory.file().archives()
        #expect(archives.map(\.name) == ["Note", "Visitor", "Animal"])
        let summary = try archives[0].summary()
        #expect(try summary.entries == 3 && summary.size.bytes == notes.statistics().disk.bytes)
        #expect(
            summary.limit == 5.megaBytes && summary.isLimitGiven && summary.cacheVersion == nil
                && summary.waiting == 0
        )
        #expect(
            summary.oldest != nil
                && summary.newest.map { abs($0.timeIntervalSinceNow) < 60 } == true
        )
        #expect(try archives[1].summary().typeVersion == 3)
        #expect(try archives[2].summary().indexes.count == 11)
        #expect(
            try archives[2].summary().indexes.contains {
                $0.properties == ["home.city", "home.zip"]
            }
        )
        #expect(
            try archives[2].summary().indexes.contains {
                $0.properties == ["labels"] && $0.isOfElements
            }
        )
        #expect(try factory.rawArchive(named: "Nobody") == nil)
    }

    /// SQLite has no part of an empty key.
    @Test(arguments: [RawArchive.Order.recorded, .size, .use])
    func anEmptyKeyIsListed(_ order: RawArchive.Order) throws {
        let factory = ArchivesFactory.inMemory()
        let keys = ["", "a", "\0", "a\0b", "\u{10FFFF}"]
        try factory.store(for: Note.self).record(
            contentsOf: keys.map { Note(primaryKey: $0, text: "x") }
        )
        let archive = try #require(try factory.rawArchive(named: "Note"))
        #expect(try Set(archive.entries(order: order).map(\.key)) == Set(keys))
        #expect(
            try Set(archive.entries(withPrefix: "a", order: order).map(\.key)) == ["a", "a\0b"]
        )
        #expect(try archive.entries(withPrefix: "\0", order: order).map(\.key) == ["\0"])
        #expect(try archive.statistics().ages.values.reduce(0, +) == keys.count)
        #expect(try Self.found(in: archive).count == keys.count)
    }

    private static func found(
        in archive: RawArchive,
        where isIncluded: (CBORValue) -> Bool = { _ in true }
    ) throws -> [String] {
        var keys: [String] = []
        try archive.find(where: isIncluded) { keys.append($0.entry.key) }
        return keys
    }

    @Test func anObjectWhoseAgeHasEndedIsNotFound() throws {
        let clock = ManualClock()
        let factory = ArchivesFactory.inMemory(clock: clock.wallClock)
        let store = try factory.store(for: Note.self)
        try store.record(Note(primaryKey: "b"))
        try store.record(Note(primaryKey: "a", text: "x"), expiration: .after(.seconds(10)))
        let archive = try #require(try factory.rawArchive(named: "Note"))
        #expect(try Self.found(in: archive) == ["b", "a"])
        #expect(try Self.found(in: archive) { $0["text"] == "x" } == ["a"])
        clock.advance(by: .seconds(20))
        #expect(try Self.found(in: archive) == ["b"])
    }

    @Test func keysComeByPrefixAndInThreeOrders() throws {
        let clock = ManualClock()
        let factory = ArchivesFactory.inMemory(clock: clock.wallClock)
        let store = try factory.store(for: Note.self)
        for (key, size) in [("ab", 10), ("ac", 30), ("b", 20), ("e\u{301}", 5)] {
            try store.record(Note(primaryKey: key, text: String(repeating: "x", count: size)))
            clock.advance(by: .seconds(1))
        }
        _ = try store.access(archiveWithKey: "ab")
        try store.flush()
        let archive = try #require(try factory.rawArchive(named: "Note"))
        func keys(
            _ prefix: String,
            _ order: RawArchive.Order,
            _ limit: Int = .max
        ) throws -> [String] {
            try archive.entries(withPrefix: prefix, order: order, limit: limit).map(\.key)
        }
        #expect(try keys("", .recorded) == ["ab", "ac", "b", "\u{E9}"])
        #expect(try keys("", .use) == ["ab", "\u{E9}", "b", "ac"])
        #expect(try keys("", .size, 2) == ["ac", "b"])
        #expect(
            try keys("a", .recorded) == ["ab", "ac"] && keys("a", .size) == ["ac", "ab"]
                && keys("a", .use, 1) == ["ab"]
        )
        #expect(try keys("\u{E9}", .recorded) == ["\u{E9}"] && keys("x", .use).isEmpty)
        let entry = try #require(try archive.entry(forKey: "ab"))
        #expect(
            entry.lastUsed > entry.recorded && entry.expires == nil && entry.idle == nil
                && entry.typeVersion == 0
        )
        #expect(try entry.size == archive.encodedData(forKey: "ab")?.count)
        #expect(try archive.entry(forKey: "none") == nil && archive.value(forKey: "none") == nil)
    }

    @Test func listingsOfManyEntriesAreWholeAndInOrder() throws {
        let factory = ArchivesFactory.inMemory()
        let store = try factory.store(for: Note.self, diskLimit: .unlimited)
        let keys = (0..<9000).map { "\($0)" }
        try store.record(contentsOf: keys.map { Note(primaryKey: $0) })
        let archive = try #require(try factory.rawArchive(named: "Note"))
        #expect(try archive.entries().map(\.key) == keys)
        #expect(try archive.entries(limit: 5000).map(\.key) == Array(keys.prefix(5000)))
        var all: [String] = []
        try archive.forEachEntry { all.append($0.key) }
        #expect(all == keys)
        let statistics = try archive.statistics()
        #expect(
            statistics.sizes.values.reduce(0, +) == 9000 && statistics.ages == [0: 9000]
                && statistics.typeVersions == [0: 9000]
        )
        try store.deleteAll()
        #expect(
            try archive.entries().isEmpty && archive.summary().entries == 0
                && archive.entries(order: .use).isEmpty
        )
    }

    @Test func valuesOfEveryFormAreShown() throws {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Blob.self).record(Blob())
        #expect(
            try factory.rawArchive(named: "Blob")?.value(forKey: "blob")
                == .bytes(Data([0xFF, 0x00]))
        )
        let manager = MiniCacheManager(
            name: "json",
            directory: try TemporaryDirectory().url,
            format: .json
        )
        let cache: MiniCache<String, [String: Decimal]> = manager.cache(
            cacheName: "c",
            cacheVersion: .custom("7"),
            maxAge: .hours(1)
        )
        let exact = try #require(Decimal(string: "12345678901234567.89"))
        try cache.set(["a": 1, "b": 0.5, "c": exact], forKey: "k")
        let raw = try #require(try manager.rawCache(named: "c"))
        let key = try #require(try raw.entries().first?.key)
        #expect(try raw.value(forKey: key)?.json() == #"{"a":1,"b":0.5,"c":12345678901234567.89}"#)
        #expect(try raw.summary().cacheVersion == "7")
    }

    @Test func entriesAreRemovedUnlessThisProgramHasTheArchiveOpen() throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        let store = try factory.store(for: Note.self)
        try store.record(contentsOf: ["a", "b", "c"].map { Note(primaryKey: $0) })
        let open = try #require(try factory.rawArchive(named: "Note"))
        let error = #expect(throws: VellumError.self) { try open.remove(keys: ["a"]) }
        #expect(error?.code == .contradiction)
        try factory.close()
        let file = try ArchiveFile(at: folder.file("Archives.sqlite"), access: .writing)
        let archive = try #require(try file.archive(named: "Note"))
        #expect(try archive.remove(keys: ["a", "x", "c"]) == 2)
        #expect(try archive.entries().map(\.key) == ["b"])
        try file.close()
        #expect(
            try ArchivesFactory(directory: folder.url).store(for: Note.self).fetch() == [
                Note(primaryKey: "b")
            ]
        )
    }

    @Test func filesAreFoundInAFolder() throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url.appendingPathComponent("App"))
        try factory.store(for: Note.self).record(Note(primaryKey: "a"))
        let cache: MiniCache<String, Int> = MiniCacheManager(name: "caches", directory: folder.url)
            .cache(
                cacheName: "c",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        try cache.set(1, forKey: "a")
        try Data("no database".utf8).write(to: folder.file("other.sqlite"))
        try Data().write(to: folder.file("empty.sqlite"))
        #expect(mkfifo(folder.file("fifo.sqlite").path, 0o600) == 0)
        for name in ["App/Archives.sqlite", "caches.sqlite"] {
            #expect(throws: Never.self) { try ArchiveFile(at: folder.file(name)).close() }
        }
        #expect(
            ArchiveFile.files(in: folder.url).map(\.lastPathComponent) == [
                "Archives.sqlite", "caches.sqlite",
            ]
        )
        #expect(ArchiveFile.files(in: folder.file("none")).isEmpty)
    }

    @Test func changesOfAnyProgramAreTold() async throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        let store = try factory.store(for: Note.self)
        let file = try factory.file()
        var changes = file.changes().makeAsyncIterator()
        let isTold = Flag()
        let writing = OnThread { () -> Result<Void, any Error> in
            Result {
                var number = 0
                try blockUntil("the first change is told") {
                    try store.record(Note(primaryKey: "k\(number % 3)"))
                    try store.delete(archiveWithKey: "gone")
                    number += 1
                    return isTold.isSet
                }
            }
        }
        defer { isTold.set() }
        let change = try await changes.next()
        isTold.set()
        try writing.result().get()
        #expect(
            change?.archive == "Note" && change?.present.allSatisfy { $0.hasPrefix("k") } == true
        )
    }

    @Test func whatWasDroppedIsNoArchive() throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        let drops: [(ArchivesFactory) throws -> Bool] = [
            { try $0.drop(archiveNamed: "Note") },
            { try $0.file().drop(archiveNamed: "Note") },
        ]
        // With an entry, after all were deleted, and with none ever.
        let fillings: [(ArchiveStore<Note>) throws -> Void] = [
            { try $0.record(Note(primaryKey: "a")) }, { try $0.deleteAll() }, { _ in },
        ]
        for drop in drops {
            for fill in fillings {
                try fill(factory.store(for: Note.self, diskLimit: 5.megaBytes))
                try factory.close()
                #expect(try factory.file().archives().map(\.name) == ["Note"])
                #expect(try drop(factory))
                for _ in 0..<2 {
                    #expect(try factory.file().archives().isEmpty)
                    #expect(try factory.rawArchive(named: "Note") == nil)
                    #expect(try !drop(factory))
                    try factory.close()
                }
            }
        }
        let manager = MiniCacheManager(name: "caches", directory: folder.url)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        try cache.set(7, forKey: "a")
        try manager.close()
        #expect(try manager.drop(cacheNamed: "Counter"))
        #expect(try !manager.drop(cacheNamed: "Counter"))
        #expect(try manager.storedFile().archives().isEmpty)
        try manager.close()
    }

    private struct Moved: ArchiveCodable {
        static var archiveName: String { "Old.Thing" }
        var primaryKey: String
    }

    /// Of an archive that is made, those which its type may have had as another name.
    @Test func archivesOfTheSameTypeNameAreFoundUnlessTheyAreInUse() throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        let names = ["New.Thing", "Thing", "A.B.Thing"]
        let others = ["Old.Thing", "New.Things", "New.AThing", "New.thing", "Old.Thing.Part", ""]
        try factory.store(for: Moved.self).record(Moved(primaryKey: "a"))
        for name in names + others {
            #expect(try factory.openFile().namesakes(of: name).isEmpty, "\(name) while it is open")
        }
        try factory.close()
        for name in names { #expect(try factory.openFile().namesakes(of: name) == ["Old.Thing"]) }
        for name in others { #expect(try factory.openFile().namesakes(of: name) == [], "\(name)") }
        #expect(try factory.drop(archiveNamed: "Old.Thing"))
        for name in names { #expect(try factory.openFile().namesakes(of: name) == [], "\(name)") }
        try factory.close()
    }
}
