import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What meets relaxed writes that are not committed yet. The batch may be committed at any moment,
/// which changes no result.
@Suite(.ownThreads)
struct OpenBatchTests {
    private let setup: Setup
    private let store: Store<Data>
    private let file: DatabaseFile

    init() throws {
        setup = try Setup()
        store = try setup.store(disk: 1000, durability: .relaxed)
        file = store.disk.file
    }

    private func fill(_ count: Int) throws {
        for number in 0..<count {
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
        try file.commitBatch()
    }

    /// What ends a batch because something else begins.
    enum Ending: CaseIterable, Sendable {
        case opening, currentLimit, emptyingTheLog, restartingTheLog, closingAnother,
            droppingNothing, transaction, suspending, query, check

        fileprivate func run(on store: Store<Data>, _ setup: Setup) throws {
            let file = store.disk.file
            switch self {
            case .opening: _ = try setup.store("other")
            case .currentLimit: _ = try store.currentCapacities()
            case .emptyingTheLog: try file.log.emptyLog()
            case .restartingTheLog: try file.checkpoint()
            case .closingAnother: try setup.store("other").close()
            case .droppingNothing: #expect(try !file.dropArchive(named: "none"))
            case .transaction: try setup.store("other").record(Data(1, count: 1), forKey: "1")
            case .suspending:
                try file.suspend()
                try file.resume()
            case .query: _ = try file.archiveList()
            case .check: _ = try FileHealth(of: file, timeout: .zero)
            }
        }
    }

    @Test(arguments: Ending.allCases) func whatWasEmptiedIsDeletedWhateverEndsTheBatch(
        _ ending: Ending
    ) throws {
        try setup.store("other").close()
        try fill(8)
        try store.removeAll()
        try ending.run(on: store, setup)
        try file.commitBatch()
        file.waitForMaintenance()
        #expect(
            try RawDatabase(setup.url).int("SELECT count(*) FROM entries")
                == (ending == .transaction ? 1 : 0)
        )
        #expect(try file.verify().isIntact)
    }

    /// A batch is committed after 256 writes, or by the work in the background: not once for each
    /// update.
    @Test func updatesJoinTheBatch() throws {
        func commits() -> UInt64 { file.writing.withWriter { $0.lasting.commits } ?? 0 }
        try fill(8)
        let before = commits()
        try file.withoutMaintenance {
            for number in 0..<200 {
                let key = EntryKey("new \(number % 50)")
                let isNew = try store.update(key, AgeOfUpdated(nil, ofNew: nil)) { value in
                    defer { value = Data(number, count: 10) }
                    return value == nil
                }
                #expect(isNew == (number < 50))
            }
            #expect(commits() - before < 100)
        }
    }

    /// However long the work in the background takes, a killed process loses no more than a batch.
    @Test(arguments: [(256, 10), (3, 400_000)])
    func aFullBatchIsCommittedAtOnce(calls: Int, bytes: Int) throws {
        func commits() -> UInt64 { file.writing.withWriter { $0.lasting.commits } ?? 0 }
        let large = try setup.store("large", durability: .relaxed)
        try file.commitBatch()
        try file.withoutMaintenance {
            let before = commits()
            for number in 1...calls {
                #expect(commits() == before)
                try large.record(Data(number, count: bytes), forKey: EntryKey("\(number)"))
            }
            #expect(commits() == before + 1)
        }
    }

    /// Several processes: what a relaxed write evicts does not hide the number under which it was
    /// announced.
    @Test(arguments: [1, 2]) func aSharedWriteThatEvictsHasItsNumber(writes: Int) throws {
        try fill(10)
        var outcomes: [WriteOutcome] = []
        let all = (0..<writes).map { number in
            ArchiveWrite(
                archive: store.disk.archive,
                key: EntryKey("new \(number)"),
                operation: .store(Entry(bytes: Data(1, count: 400), written: setup.clock.now)),
                stamp: store.memory.stamp(at: setup.clock.now)
            )
        }
        let commit = try #require(
            try file.withWriter { (writer) throws(SQLiteError) in
                try writer.carryOut(all, isRelaxed: true, sharing: { true }) { outcomes = $0 }
            }
        )
        #expect(outcomes.count == writes && outcomes.allSatisfy { $0.change != nil })
        #expect(
            commit.changes.count == 1
                && commit.changes[0].removed.flatMap(\.entries).count == 4 * writes
        )
        #expect(outcomes.allSatisfy { $0.change == commit.changes[0].number })
    }

    @Test func theListOfArchivesHasThem() throws {
        try fill(8)
        try store.remove("1")
        try store.record(Data(2, count: 50), forKey: "2")
        #expect(try file.archiveList().map(\.usage) == [StorageUsage(entries: 7, bytes: 650)])
        try store.removeAll()
        #expect(try file.archiveList().map(\.usage) == [StorageUsage(entries: 0, bytes: 0)])
    }

    /// An entry whose age is not in the file yet expires, whatever policy is set meanwhile.
    @Test(arguments: [Expiration.never, .after(.seconds(1000))]) func anAgeIsKnownToASweep(
        policy: Expiration
    ) throws {
        try store.record(Data(1, count: 10), forKey: "a", expiration: .after(.seconds(60)))
        try store.setRetention(policy, staleWindow: .seconds(100))
        try file.commitBatch()
        setup.clock.advance(by: .seconds(86_400))
        file.sweepEverything()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 0)
    }

    /// A policy that could not be written, because the file is suspended, is written when it can
    /// be.
    @Test func aPolicyOfASuspendedFileIsNotTakenForWritten() throws {
        let archive = store.disk.archive
        try file.suspend()
        let policy = RetentionPolicy(age: 1000, idle: .max, staleWindow: 0, seen: .never)
        try file.setRetention(policy, on: archive)
        #expect(archive.upkeep.withLock { !$0.policiesWritten.isRecent(at: setup.clock.now) })
        try file.resume()
        file.sweepEverything()
        #expect(archive.upkeep.withLock { $0.policiesWritten.isRecent(at: setup.clock.now) })
        #expect(
            try RawDatabase(setup.url).int(
                "SELECT count(*) FROM retention WHERE archive = \(archive.id)"
            ) == 1
        )
    }
}
