import Foundation
import Synchronization
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

/// P7: files that disappear while they are open.
@Suite(.ownThreads)
struct VanishedFileTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// Simulates that a few milliseconds have passed.
    private func forgetLastLook(_ file: DatabaseFile) {
        file.location.lastLook.store(.min / 2, ordering: .relaxed)
    }

    /// The last connection removes the log when it closes, and nothing is lost.
    @Test func closingAFileDoesNotReportItAsVanished() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        forgetLastLook(file)
        try store.record(Data("two".utf8), forKey: "b")
        try file.close()
        forgetLastLook(file)
        #expect(code { try store.record(Data("three".utf8), forKey: "c") } == .closed)
        #expect(code { _ = try store.count() } == .closed)
        try file.close()
        let hasVanished = (file.state == .vanished)
        #expect(!hasVanished)
        #expect(try setup.store().value(forKey: "b") == Data("two".utf8))
    }

    enum Loss: CaseIterable {
        case database, folder, everyFile, replaced

        var leavesLog: Bool { self == .database || self == .replaced }

        func happen(to setup: Setup) throws {
            let manager = FileManager.default
            switch self {
            case .database: try manager.removeItem(at: setup.url)
            case .folder: try manager.removeItem(at: setup.folder.url)
            case .everyFile:
                for name in try manager.contentsOfDirectory(atPath: setup.folder.url.path) {
                    try manager.removeItem(at: setup.folder.file(name))
                }
            case .replaced:
                try manager.moveItem(at: setup.url, to: setup.folder.file("elsewhere"))
                try Data().write(to: setup.url)
            }
        }
    }

    @Test(arguments: Loss.allCases)
    func aVanishedFileIsReportedAndCanBeReopened(_ loss: Loss) throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        try loss.happen(to: setup)
        forgetLastLook(file)
        #expect(code { try store.record(Data("two".utf8), forKey: "b") } == .vanished)
        #expect(code { _ = try store.value(forKey: "a") } == .vanished)
        #expect(code { _ = try store.count() } == .vanished)
        #expect(store.isClosed)
        // Nothing of the old file reaches the new one, even when its last handle is released; but
        // if the log was left, it is salvaged.
        let new = try setup.store()
        #expect(try new.count() == (loss.leavesLog ? 1 : 0))
        #expect(try new.value(forKey: "a") == (loss.leavesLog ? Data("one".utf8) : nil))
        try new.record(Data("new".utf8), forKey: "a")
        try new.flush()
        withExtendedLifetime(store) {}
        #expect(try new.value(forKey: "a") == Data("new".utf8))
        #expect(try setup.open().verify().isIntact)
    }

    /// Such an error says nothing of the disk.
    @Test(arguments: [
        SQLiteError.lostTransaction.code, 14 /* SQLITE_CANTOPEN */, SQLiteError.foundDamaged.code,
    ])
    func anErrorOfTheSystemAfterTheFolderWasRemovedMeansThatTheFileVanished(_ number: Int32) throws
    {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        func fail() throws(VellumError) {
            try file.mappingErrors { () throws(SQLiteError) in
                throw SQLiteError(code: number, message: "It failed.")
            }
        }
        if number != SQLiteError.foundDamaged.code {
            let error = #expect(throws: VellumError.self) { try fail() }
            #expect(error?.code != .vanished)
        }
        try FileManager.default.removeItem(at: setup.folder.url)
        let error = #expect(throws: VellumError.self) { try fail() }
        #expect(error?.code == .vanished)
        #expect(error?.message.contains("a folder above it") == true)
        #expect(store.isClosed)
    }

    @Test func entriesOfALogThatWasDeletedWhileOpenAreKept() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        _ = try store.count()
        forgetLastLook(file)
        _ = try store.count()
        try FileManager.default.removeItem(atPath: setup.url.path + "-wal")
        forgetLastLook(file)
        #expect(code { try store.record(Data("two".utf8), forKey: "b") } == .vanished)
        #expect(try setup.store().value(forKey: "a") == Data("one".utf8))
    }

    /// Memory hits do not look for the file: the touches that they leave are written in the
    /// background, which does.
    @Test(arguments: Loss.allCases) func aProcessThatOnlyHitsMemoryNoticesThatItsFileHasVanished(
        _ loss: Loss
    ) async throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        try loss.happen(to: setup)
        try await until("memory has forgotten the entry") {
            try store.valueInMemory(forKey: "a", setup.clock.now, .never) == nil
        }
        #expect(code { _ = try store.value(forKey: "a") } == .vanished)
    }

    /// It would never hear again what others write.
    @Test func aProcessThatOnlyHitsMemoryNoticesThatTheChangePageIsAnother() async throws {
        let store = try setup.store()
        let file = try setup.open()
        try store.record(Data("one".utf8), forKey: "a")
        try FileManager.default.removeItem(atPath: setup.url.path + "-changes")
        // As another process does.
        let other = try ChangesFile(besides: file.path)
        try await until("the new change page is used") {
            _ = try store.valueInMemory(forKey: "a", setup.clock.now, .never)
            return !file.location.changesFile.isReplaced
        }
        #expect(file.location.changesFile.page.now == other.page.now)
        #expect(try store.value(forKey: "a") == Data("one".utf8))
    }

    /// Not even if its number is that of a process that lives: setting aside waits for nobody who
    /// cannot be committing.
    @Test func aFileIsSetAsideWithoutWaitingForADeadWriter() throws {
        let store = try setup.store()
        let file = try setup.open()
        _ = file.location.changesFile.page.announce(
            [.init(archive: store.disk.archive.id, keys: ChangedKeys(all: .written))],
            by: 77,
            of: getpid()
        )
        let identity = try #require(FileIdentity(path: file.path))
        // Other tests commit to other files of this process.
        blockUntil("nobody is taken for one who commits") {
            !OpenDatabases.shared.mayBeCommitting(identity, at: file.path)
        }
        try ChangesFile.retire(besides: file.path)
        #expect(code { try store.record(Data("two".utf8), forKey: "b") } == .vanished)
    }

    /// Other processes must see the writes of this one, even if the change page was deleted.
    @Test func aDeletedChangePageIsRecreated() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        try FileManager.default.removeItem(atPath: setup.url.path + "-changes")
        forgetLastLook(file)
        try store.record(Data("two".utf8), forKey: "b")
        // As another process would open it.
        let other = try ChangesFile(besides: file.path)
        let before = other.page.generation(of: 1).value
        try store.record(Data("three".utf8), forKey: "c")
        #expect(
            other.page.changes(
                of: 1,
                after: before,
                through: other.page.generation(of: 1).value,
                notBy: other.author
            )
                == .keys([store.disk.archive.checksum.hash.of("c")])
        )
        #expect(try store.value(forKey: "a") == Data("one".utf8))
    }

    @Test func aFileThatAnotherProcessSetAsideRejectsWrites() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        try ChangesFile.retire(besides: file.path)
        #expect(code { try store.record(Data("two".utf8), forKey: "b") } == .vanished)
        #expect(code { _ = try store.value(forKey: "a") } == .vanished)
    }

    /// What is written while its entries are copied would not be in the copy.
    @Test func aFileRejectsWritesFromTheBeginningOfItsRepair() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        // Takes the place of the mark, so that the repair ends before the file is set aside.
        try FileManager.default.createDirectory(
            atPath: file.path + Recovery.markSuffix,
            withIntermediateDirectories: false
        )
        #expect(throws: (any Error).self) {
            try Recovery.repair(file.path, file.kind, at: setup.clock.now)
        }
        #expect(FileIdentity(path: file.path) != nil)
        #expect(code { try store.record(Data("two".utf8), forKey: "b") } == .vanished)
    }

    /// A suspended file has no descriptor, so the system may give its number to the next file.
    @Test func aFileWithTheNumberOfADeletedSuspendedFileIsNotTakenForIt() throws {
        for round in 0..<20 {
            let file = try DatabaseFile.open(at: setup.folder.file("deleted"))
            try file.suspend()
            for name in try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path)
            where name.hasPrefix("deleted") {
                try FileManager.default.removeItem(at: setup.folder.file(name))
            }
            let other = try StoreHold<Data>.open { () throws(VellumError) in
                try DatabaseFile.open(at: setup.folder.file("other \(round)"), kind: .caches)
                    .hold(named: "Test", codec: IdentityCodec(), StoreOptions())
            }
            try other.store.record(Data(round, count: 10), forKey: "a")
            // Which of the two depends on whether it was noticed by now that the file is gone.
            let refusal = code { _ = try file.archiveNames() }
            #expect(refusal == .vanished || refusal == .suspended)
        }
    }
}
