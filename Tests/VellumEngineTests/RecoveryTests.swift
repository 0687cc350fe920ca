import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// C14: damage is detected and reported, and hides no other entry.
@Suite(.ownThreads)
struct RecoveryTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    private func fill(_ count: Int) throws {
        let store = try setup.store()
        for number in 0..<count {
            try store.record(Data(number, count: 200), forKey: EntryKey("\(number)"))
        }
        try setup.close()
    }

    @Test(arguments: [
        "UPDATE entries SET bytes = zeroblob(200) WHERE id = (1 << 40) + 5",
        "UPDATE entries SET written = written + 1 WHERE id = (1 << 40) + 5",
        "UPDATE entries SET expires = 99999999999999 WHERE id = (1 << 40) + 5",
        "UPDATE entries SET idle = 5 WHERE id = (1 << 40) + 5",
        """
        UPDATE entries SET bytes = (SELECT bytes FROM entries WHERE id = (1 << 40) + 6) WHERE id = \
        (1 << 40) + 5
        """,
    ])
    func aModifiedEntryIsReportedAsDamagedAndDoesNotHideOthers(_ sql: String) async throws {
        try fill(10)
        try RawDatabase(setup.url).execute(sql)
        let store = try setup.store()
        let events = store.events.events()
        let error = #expect(throws: VellumError.self) { try store.value(forKey: "4") }
        #expect(error?.code == .damagedEntry)
        #expect(try store.values().count == 9)
        var iterator = events.makeAsyncIterator()
        guard case .damagedEntry("4", _) = await iterator.next() else {
            Issue.record("Nothing was reported.")
            return
        }
        #expect(try setup.open().verify().archives.map(\.damagedEntries) == [["4"]])
        try store.record(Data("new".utf8), forKey: "4")
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "4") == Data("new".utf8))
    }

    /// P3: an entry that was moved to another key or archive is not a value of it.
    @Test func anEntryUnderAnotherKeyIsDamaged() throws {
        try fill(3)
        let sums = [
            "strings": try setup.store().disk.archive.checksum,
            "other": try setup.store("other").disk.archive.checksum,
        ]
        func hash(_ key: String, _ archive: String) throws -> Int64 {
            let checksum = try #require(sums[archive])
            return EntryKey(key).withBytes { checksum.storedHash(ofKey: $0) }
        }
        let database = try RawDatabase(setup.url)
        try database.execute(
            """
            UPDATE entries SET key = CAST('x' AS BLOB), hash = \(try hash("x", "strings")) WHERE \
            id = (1 << 40) + 1
            """
        )
        try database.execute(
            """
            INSERT INTO entries SELECT id + (1 << 40), \(try hash("1", "other")), key, written, \
            expires, idle, stamp, checksum, 0, bytes
            FROM entries WHERE id = (1 << 40) + 2
            """
        )
        #expect(throws: VellumError.self) { try setup.store().value(forKey: "x") }
        #expect(throws: VellumError.self) { try setup.store("other").value(forKey: "1") }
        #expect(try setup.store().value(forKey: "1") != nil)
    }

    /// A sound entry of another key is not damaged: the index may hide the one that was asked for.
    @Test func anIndexThatLeadsToAnotherKeyIsDamaged() throws {
        try fill(3)
        let hash = try setup.store().disk.archive.checksum.storedHash(ofKey: "1")
        try setup.close()
        try RawDatabase(setup.url).execute(
            "UPDATE entries SET hash = \(hash) WHERE id = (1 << 40) + 1"
        )
        #expect(code { _ = try setup.store().value(forKey: "1") } == .damagedFile)
    }

    /// Also if the number was sound when the archive was opened.
    @Test func aDamagedNumberOfRemovedEntriesHidesNone() throws {
        try fill(10)
        let store = try setup.store()
        try RawDatabase(setup.url).execute("UPDATE archives SET cleared = 5")
        // No reader keeps what it has seen before.
        try store.disk.file.log.emptyLog()
        #expect(code { _ = try store.value(forKey: "2") } == .damagedFile)
    }

    /// P35: a log that stayed behind would be replayed over the new file.
    @Test func aFileWhoseFirstPageIsDamagedIsSetAsideWithItsLog() throws {
        try fill(500)
        var bytes = try Data(contentsOf: setup.url)
        // After the header of the file: the schema table.
        bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xEE, count: 3996))
        try bytes.write(to: setup.url)
        try Data("stale log".utf8).write(to: URL(fileURLWithPath: setup.url.path + "-wal"))
        do {
            let store = try setup.store()
            #expect(try store.count() == 0)
            try store.record(Data("new".utf8), forKey: "a")
        }
        #expect(try setup.store().value(forKey: "a") == Data("new".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path)
        let aside = names.filter { $0.contains(".damaged-") }.sorted()
        #expect(
            aside.count { name in
                !["-wal", "-shm", "-changes", "-damaged"].contains { name.hasSuffix($0) }
            } == 1
        )
        #expect(!names.contains("Archives.sqlite-damaged"))
    }

    /// Damage found while the archive is open is repaired, as far as possible, by the next opening.
    @Test func damageIsSalvagedByTheNextOpening() async throws {
        try fill(2000)
        try setup.store("second").record(Data("two".utf8), forKey: "b")
        try setup.close()
        var bytes = try Data(contentsOf: setup.url)
        let root = try RawDatabase(setup.url).int(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'entries_by_hash'"
        )
        bytes.replaceSubrange(
            (root - 1) * 4096..<root * 4096,
            with: Data(repeating: 0xEE, count: 4096)
        )
        try bytes.write(to: setup.url)
        do {
            let store = try setup.store()
            let error = #expect(throws: VellumError.self) { try store.value(forKey: "77") }
            #expect(error?.code == .damagedFile)
            let file = try setup.open()
            #expect(try !file.verify().isIntact)
            try file.close()
        }
        let store = try setup.store()
        #expect(try store.count() == 2000)
        #expect(try store.value(forKey: "77") == Data(77, count: 200))
        #expect(try setup.store("second").value(forKey: "b") == Data("two".utf8))
        #expect(try setup.open().verify().isIntact)
    }

    @Test func salvagedEntriesAreReported() async throws {
        try fill(2000)
        var bytes = try Data(contentsOf: setup.url)
        let leaf = bytes.count / 4096 / 2
        bytes.replaceSubrange(
            leaf * 4096..<(leaf + 1) * 4096,
            with: Data(repeating: 0xEE, count: 4096)
        )
        try bytes.write(to: setup.url)
        let damaged = try setup.open()
        #expect(try !damaged.verify().isIntact)
        try damaged.close()
        let file = try setup.open()
        let pendingEvents = Listener()
        let archive = try file.archive(named: "strings", capacity: .unlimited)
        archive.attach(to: pendingEvents)
        guard case .setAside(let url, let salvaged) = pendingEvents.events.withLock({ $0.first })
        else {
            Issue.record("Nothing was reported.")
            return
        }
        #expect(FileManager.default.fileExists(atPath: url.path))
        let kept = try archive.totals().entries
        #expect(salvaged > 1900 && salvaged == kept)
    }

    private final class Listener: ArchiveOwner {
        let undecodable = UndecodableEntries()
        let events = Locked<[StoreEvent]>([])
        func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? { nil }
        func raiseStamp(to stamp: UseStamp) {}
        func takeTouches(limit: Int) -> [Touch] { [] }
        func finishTouches(written: Bool) {}
        func pendingTouches() -> [Touch] { [] }
        var pendingTouchCount: Int { 0 }
        func archiveDidReport(_ event: StoreEvent) { events.withLock { $0.append(event) } }
        func archiveDidLoseWrites(_ error: VellumError) {}
    }

    @Test(arguments: 1...UInt64(LongRun.number(10, usually: 5)))
    func aFileWithAnyDestroyedPageOpensAndReturnsOnlyRecordedValues(_ seed: UInt64) throws {
        try fill(600)
        var random = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: setup.url)
        let page = Int.random(in: 0..<bytes.count / 4096, using: &random)
        let start = page * 4096 + (page == 0 ? 100 : 0)
        bytes.replaceSubrange(
            start..<(page + 1) * 4096,
            with: (start..<(page + 1) * 4096).map { _ in UInt8.random(in: 0...255, using: &random) }
        )
        try bytes.write(to: setup.url)
        do {
            let store = try setup.store()
            for number in 0..<600 {
                do throws(VellumError) {
                    if let value = try store.value(forKey: EntryKey("\(number)")) {
                        #expect(value == Data(number, count: 200))
                    }
                } catch {
                    #expect([.damagedEntry, .damagedFile].contains(error.code), "\(error)")
                }
            }
        } catch let error as VellumError {
            #expect(error.code == .damagedFile, "seed \(seed): \(error)")
        }
    }
}
