import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// A commit has room in the file, however full the disk is when the log is copied into it.
@Suite(.ownThreads)
struct RoomTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    private func pages(of file: DatabaseFile) throws -> Int64 {
        try #require(
            try file.withWriter { (writer) throws(SQLiteError) in try writer.bytesOfPages }
        )
    }

    /// What another process does at any time. Its connection keeps no room behind the pages.
    private func checkpoint() throws {
        try RawDatabase(setup.url).execute("PRAGMA wal_checkpoint(PASSIVE)")
    }

    @Test func aCheckpointOfAnotherProcessTakesNoRoomFromALaterCommit() throws {
        let store = try setup.store()
        var wasShortened = false
        for number in 0..<400 {
            try store.record(Data(number, count: 900), forKey: EntryKey("\(number)"))
            // Room ahead of a checkpoint may be gone, but not that of a commit after it.
            #expect(
                try Int64(setup.folder.size(of: "Archives.sqlite")) >= pages(of: store.disk.file),
                "after \(number)"
            )
            let before = setup.folder.size(of: "Archives.sqlite")
            if number % 7 == 0 { try checkpoint() }
            wasShortened = wasShortened || setup.folder.size(of: "Archives.sqlite") < before
        }
        #expect(wasShortened, "The checkpoints must take some room away.")
    }

    /// Also where the background has not come to it.
    @Test func aRecordOnAFullDiskDeletesWhatIsLeftOfEmptiedArchives() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try file.store(
            named: "data",
            codec: IdentityCodec(),
            memory: Capacity(1.byte),
            disk: Capacity(.unlimited)
        )
        var count = 0
        let failure = code {
            while true {
                try store.record(Data(count, count: 4000), forKey: EntryKey("\(count)"))
                count += 1
            }
        }
        #expect(failure == .diskFull)
        try file.withoutMaintenance {
            try store.removeAll()
            // More than the room that is kept for deletions.
            for number in 0..<100 {
                try store.record(Data(number, count: 4000), forKey: EntryKey("new \(number)"))
            }
        }
        #expect(try store.count() == 100)
        try file.close()
    }

    @Test(arguments: UInt64(0)..<3)
    func noEntryTakesMoreThanItsBound(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try setup.store()
        let (file, archive) = (store.disk.file, store.disk)
        let keys = LongRun.number(200, usually: 60)
        for number in 0..<LongRun.number(300, usually: 100) {
            let length =
                [1, 20, 900, 4000, 40_000, EntryKey.maximumLength].randomElement(using: &random)
                ?? 1
            let start = String(repeating: "k", count: max(0, length - 4))
            let key = EntryKey(start + "\(number % keys)")
            let entry = Entry(
                bytes: Data(number, count: .random(in: 0..<20_000, using: &random)),
                written: setup.clock.now
            )
            let write = ArchiveWrite(
                archive: archive.archive,
                key: key,
                operation: .store(entry),
                stamp: store.memory.stamp(at: setup.clock.now)
            )
            let found = try file.withWriter { (writer) throws(SQLiteError) in
                let before = try writer.bytesOfPages
                let (growth, _) = try writer.transaction { (transaction) throws(SQLiteError) in
                    _ = try transaction.edit(of: write.archive).apply(write)
                    return transaction.greatestGrowth
                }
                return (grown: try writer.bytesOfPages - before, bound: growth ?? 0)
            }
            let (grown, bound) = try #require(found)
            #expect(grown <= bound, "seed \(seed), key of \(length) bytes")
        }
    }

    /// The header of a log without a commit names no size.
    @Test func aLogWithoutACommitNamesNoPages() throws {
        try setup.store().record(Data(1, count: 100_000), forKey: "a")
        try setup.close()
        let connection = try Connection(path: setup.url.path)
        try connection.execute("BEGIN IMMEDIATE")
        let pages = try connection.int("PRAGMA page_count")?.value
        #expect(connection.pagesOfLastCommit() == nil || connection.pagesOfLastCommit() == pages)
        try connection.execute("ROLLBACK")
    }
}
