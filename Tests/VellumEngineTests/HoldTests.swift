import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

@Suite(.ownThreads)
struct HoldTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// Another process may replace a damaged file by a repaired one while this one opens it.
    @Test func openingRetriesWhenTheFileVanishes() throws {
        var tries = 0
        let hold = try StoreHold<Data>.open { () throws(VellumError) in
            tries += 1
            if tries < 4 { throw .vanished }
            return try DatabaseFile.open(at: setup.url).hold(named: "a", codec: IdentityCodec())
        }
        #expect(tries == 4)
        try hold.store.record(Data(count: 1), forKey: "k")
        try hold.close()
    }

    @Test func otherFailuresAreNotRetried() throws {
        var tries = 0
        let error = #expect(throws: VellumError.self) {
            _ = try StoreHold<Data>.open { () throws(VellumError) in
                tries += 1
                throw VellumError(.diskFull, "")
            }
        }
        #expect(error?.code == .diskFull && tries == 1)
    }

    /// C10: if closing fails, the same store stays in use; there is never a second one beside it.
    @Test func aStoreWhoseClosingFailedStaysShared() throws {
        let file = try setup.open()
        func open() throws -> StoreHold<Data> { try file.hold(named: "a", codec: IdentityCodec()) }
        let hold = try open()
        try hold.store.record(Data(count: 1), forKey: "k")
        // Another connection holds the lock, and a touch is pending, which nobody can write.
        let other = try RawDatabase(setup.url)
        try other.execute("BEGIN IMMEDIATE")
        _ = file.withWriter { $0.connection.busyHandler.milliseconds = 50 }
        _ = try hold.store.value(forKey: "k")
        let error = #expect(throws: VellumError.self) { try hold.close() }
        #expect(error?.code == .busy)
        #expect(!hold.mark.isClosed)
        try other.execute("ROLLBACK")
        #expect(try open().store === hold.store)
        try hold.close()
        #expect(try open().store !== hold.store)
        try file.close()
    }

    @Test func aLimitOfEntriesIsKeptWhenItIsChanged() throws {
        let archive = try setup.open().archive(named: "a", capacity: .unlimited)
        let driver = ArchiveHarness(archive)
        for number in 0..<10 { try driver.store([UInt8(number)], EntryKey("\(number)")) }
        #expect(try archive.resize(to: Capacity(1.megaByte, entries: 4)).count == 6)
        #expect(try archive.totals().entries == 4)
        try driver.store([1], "new")
        #expect(try archive.totals().entries == 4)
    }

    /// Power loss must not take the name of a new folder in its parent.
    @Test func theParentOfEveryNewFolderIsSynced() throws {
        var synced: [String] = []
        let base = setup.folder.url.path
        try FileSystem.makeFolder(base + "/a/b/c") {
            synced.append(($0 as NSString).lastPathComponent)
        }
        #expect(synced == ["a", "b", "c"])
        try FileSystem.makeFolder(base + "/a/b/c") { synced.append($0) }
        #expect(synced.count == 3)
        #expect(throws: FileError.self) {
            try FileSystem.makeFolder(base + "/d") { (path) throws(FileError) in
                throw FileError(.syncing, EIO, path)
            }
        }
    }

    #if os(Linux)
        /// Closing one connection must not drop the locks of another (sqlite.org/howtocorrupt.html,
        /// 2.2).
        @Test func onlyTheLastConnectionClosesTheWALIndex() throws {
            let store = try setup.store()
            try store.record(Data(count: 1), forKey: "k")
            let identity = try #require(FileIdentity(path: setup.url.path))
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                    (try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/" + $0
                    )) == setup.url.path + "-shm"
                }
            }
            #expect(
                OpenDatabases.shared.holder(of: 128..<129, in: identity, at: setup.url.path)
                    == .unlocked
            )
            // SQLite's descriptor and ours.
            #expect(try descriptors() == 2)
            do {
                let other = try Connection(path: setup.url.path)
                _ = try other.int(SQL.tableCount)
            }
            #expect(try descriptors() == 2)
            try setup.close()
            #expect(try descriptors() == 0)
            #expect(
                OpenDatabases.shared.holder(of: 128..<129, in: identity, at: setup.url.path)
                    == .unknown
            )
        }
    #endif

    /// A connection is counted until it is closed: a new file may have the number of one that was
    /// removed before that.
    @Test func aFileWithTheNumberOfARemovedOneHasADescriptor() throws {
        let setup = try Setup()
        _ = try setup.open()
        try setup.close()
        let identity = try #require(FileIdentity(path: setup.url.path))
        for path in [setup.url.path + " that was removed", setup.url.path] {
            OpenDatabases.shared.add(identity, at: path)
        }
        #expect(OpenDatabases.shared.file(of: identity) != nil)
        for _ in 0..<2 { OpenDatabases.shared.remove(identity) }
        #expect(!OpenDatabases.shared.isOpen(identity))
    }

    // MARK: Attempts to restart the log

    @Test func attemptsToRestartTheLogBackOffAndReportOnce() {
        var backoff = RestartBackoff()
        var (now, reports, tries): (Int64, Int, Int) = (0, 0, 0)
        #expect(backoff.tries > 1)
        while now < 60_000 {
            if backoff.fail(at: now, copied: 7) { reports += 1 }
            tries += 1
            #expect(backoff.nextTry > now && backoff.nextTry <= now + RestartBackoff.longest)
            now = backoff.nextTry
        }
        #expect(reports == 1)
        #expect(tries < 40)
        #expect(backoff.tries == 1)
        backoff.succeed()
        #expect(backoff == RestartBackoff())
    }

    /// A reader that is only slow must not make the log grow.
    @Test func attemptsContinueWhileReadersMakeProgress() {
        var backoff = RestartBackoff()
        for number in 0..<100 {
            let isReported = backoff.fail(at: Int64(number), copied: number)
            #expect(!isReported)
            #expect(backoff.nextTry <= Int64(number) + 2)
            #expect(backoff.tries > 1)
        }
    }

    /// Otherwise a reader that is idle for a moment keeps others from restarting the log.
    @Test func anIdleReaderEndsItsSnapshotOnceAProcessWantsToRestartTheLog() throws {
        let file = try setup.open()
        let store = try setup.store(memory: 1.byte)
        for number in 0..<10 {
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
        _ = try store.value(forKey: "1")
        let other = try Connection(path: setup.url.path)
        try store.record(Data(1, count: 100), forKey: "1")
        var reads: [UInt64] = []
        // Which would end the snapshot by itself, or keep the log for a moment.
        try file.withoutMaintenance {
            var isLeft = true
            try whileRestartIsRequested(file) { isLeft = file.readers.endIdleLeases(since: &reads) }
            #expect(!isLeft)
            try other.restartLog(timeout: 0)
            // Nor does a new one stay open.
            try whileRestartIsRequested(file) { _ = try store.value(forKey: "2") }
            try store.record(Data(2, count: 100), forKey: "2")
            try other.restartLog(timeout: 0)
        }
    }

    /// A request is valid for a second at most.
    private func whileRestartIsRequested(_ file: DatabaseFile, _ body: () throws -> Void) throws {
        let page = file.location.changesFile.page
        repeat {
            page.requestLogRestart(until: CoarseClock.milliseconds + ChangePage.longestRequest)
            try body()
        } while !page.isLogRestartRequested(at: CoarseClock.milliseconds)
        page.requestLogRestart(until: 0)
    }

    // MARK: Stored limits

    @Test func aDefaultLimitOnlyGrows() throws {
        let stored = StoredLimit(bytes: 100, isGiven: 0)
        #expect(try stored.opened(given: nil, otherwise: Capacity(50), holding: 10) == stored)
        #expect(try stored.opened(given: nil, otherwise: Capacity(500), holding: 10).bytes == 500)
        #expect(try stored.opened(given: nil, otherwise: Capacity(50), holding: 300).bytes == 300)
        #expect(
            try stored.opened(given: Capacity(7), otherwise: Capacity(50), holding: 300)
                == StoredLimit(bytes: 7, isGiven: 1)
        )
        #expect(
            try StoredLimit(bytes: 7, isGiven: 1).opened(
                given: nil,
                otherwise: Capacity(50),
                holding: 300
            ).bytes == 7
        )
    }

    @Test func aCacheKeepsItsLimitWhenItsVersionIsReplaced() throws {
        let file = try setup.open()
        let first = try file.store(
            named: "f",
            codec: IdentityCodec(),
            cacheVersion: "1",
            disk: Capacity(100_000)
        )
        for number in 0..<50 { try first.record(Data(count: 1000), forKey: EntryKey("\(number)")) }
        let second = try file.store(
            named: "f",
            codec: IdentityCodec(),
            cacheVersion: "2",
            defaults: .init(memory: .unlimited, disk: Capacity(2000))
        )
        #expect(second.capacities.disk.bytes == 100_000)
        #expect(try second.count() == 0)
        try file.close()
    }

    /// Salvaged archives keep their limits.
    @Test func salvagedArchivesKeepTheirLimits() throws {
        let store = try setup.open().store(named: "a", codec: IdentityCodec(), disk: Capacity(5000))
        try store.record(Data(count: 1), forKey: "k")
        try store.close()
        try setup.close()
        try Data().write(to: URL(fileURLWithPath: setup.url.path + "-damaged"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: setup.url.path + "-damaged"))
        #expect(
            try setup.open().store(
                named: "a",
                codec: IdentityCodec(),
                defaults: .init(memory: .unlimited, disk: Capacity(100))
            ).capacities.disk.bytes == 5000
        )
    }
}
