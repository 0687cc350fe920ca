import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A transaction as the engine passes it down: what it does goes with it, and its commit says what
/// it changed.
@Suite(.ownThreads)
struct TransactionTests {
    private struct Failure: Error {}

    private let setup: Setup
    private let store: Store<Data>
    private let file: DatabaseFile
    private let archive: Archive

    init() throws {
        setup = try Setup()
        store = try setup.store(disk: 1000)
        (file, archive) = (store.disk.file, store.disk.archive)
    }

    private func write(_ key: EntryKey, _ count: Int, in other: Archive? = nil) -> ArchiveWrite {
        ArchiveWrite(
            archive: other ?? archive,
            key: key,
            operation: .store(Entry(bytes: Data(1, count: count), written: setup.clock.now)),
            stamp: store.memory.stamp(at: setup.clock.now)
        )
    }

    private func transaction<Result: Sendable>(
        _ body: (Transaction) throws(SQLiteError) -> Result
    ) throws -> (Result, Commit) {
        try #require(
            try file.withWriter { (writer) throws(SQLiteError) in try writer.transaction(body) }
        )
    }

    /// The hashes of the keys that were announced since.
    private func announced(since generation: UInt64) -> ChangedKeys {
        let page = file.location.changesFile.page
        return page.changes(
            of: archive.id,
            after: generation,
            through: page.generation(of: archive.id).value,
            notBy: 0
        )
    }

    /// Two callers' writes in one transaction: those of the first are undone, those of the second
    /// committed.
    @Test func twoCallersStandInOneTransactionAndOneIsUndone() async throws {
        for number in 0..<5 {
            try store.record(Data(1, count: 100), forKey: EntryKey("old \(number)"))
        }
        let generation = file.location.changesFile.page.generation(of: archive.id).value
        let others = store.observer(of: "old 4")
        defer { others.stop() }
        let own = store.observer(of: "second")
        defer { own.stop() }
        others.begin()
        own.begin()
        let (_, commit) = try transaction { (transaction) throws(SQLiteError) in
            do throws(SQLiteError) {
                // It evicts, overwrites and removes, and is then found to be impossible.
                try transaction.attempt { () throws(SQLiteError) in
                    let edit = try transaction.edit(of: archive)
                    _ = try edit.apply(write("first", 700))
                    _ = try edit.apply(write("old 4", 50))
                    try edit.removeAll()
                    throw .tooLarge
                }
            } catch {
                guard error.code == SQLiteError.tooLarge.code else { throw error }
            }
            _ = try transaction.edit(of: archive).apply(write("second", 200))
            return ()
        }
        let hash = archive.checksum.hash
        // Announcement, commit, totals, entries, order, memory.
        #expect(announced(since: generation) == .keys([hash.of("second")]))
        #expect(commit.changes.map(\.keys) == [.keys([hash.of("second")])])
        #expect(commit.changes.allSatisfy { $0.removed.isEmpty })
        #expect(try store.disk.totals() == StorageUsage(entries: 6, bytes: 700))
        #expect(store.disk.evictedSize == 0)
        #expect(try store.value(forKey: "first") == nil)
        for number in 0..<5 {
            #expect(try store.value(forKey: EntryKey("old \(number)")) == Data(1, count: 100))
        }
        #expect(try store.value(forKey: "second") == Data(1, count: 200))
        #expect(try file.verify().isIntact)
        // Observers hear of the second alone: both hear of one commit at the same time.
        #expect(await own.wait())
        #expect(!others.isDirty)
    }

    /// A part that begins another index, and is undone, leaves the index and its statements as they
    /// were.
    @Test func anIndexThatWasBegunInAPartThatIsUndoneIsGone() throws {
        let people = try setup.people()
        try people.record(Person.crowd(20))
        try people.waitForIndex()
        let archive = people.disk.archive
        let (_, _) = try transaction { (transaction) throws(SQLiteError) in
            do throws(SQLiteError) {
                try transaction.attempt { () throws(SQLiteError) in
                    try transaction.edit(of: archive).declareIndex(anew: true)
                    throw .tooLarge
                }
            } catch {}
            return ()
        }
        try people.record(Person.crowd(25))
        #expect(try people.disagreements() == [])
        #expect(try file.verify().isIntact)
    }

    @Test func whatIsRolledBackLeavesNothing() throws {
        try store.record(Data(1, count: 900), forKey: "old")
        let generation = file.location.changesFile.page.generation(of: archive.id).value
        #expect(throws: SQLiteError.self) {
            try transaction { (transaction) throws(SQLiteError) -> Void in
                _ = try transaction.edit(of: archive).apply(write("new", 800))
                throw .tooLarge
            }
        }
        #expect(announced(since: generation) == .keys([]))
        #expect(try store.disk.totals() == StorageUsage(entries: 1, bytes: 900))
        #expect(store.disk.evictedSize == 0)
        try store.record(Data(1, count: 50), forKey: "next")
        #expect(try store.disk.totals() == StorageUsage(entries: 2, bytes: 950))
    }

    /// A commit says which keys, under which number, and what it evicted.
    @Test func aCommitSaysWhatItChanged() throws {
        for number in 0..<5 { try store.record(Data(1, count: 200), forKey: EntryKey("\(number)")) }
        let before = file.location.changesFile.page.generation(of: archive.id).value
        let (_, commit) = try transaction { (transaction) throws(SQLiteError) in
            let edit = try transaction.edit(of: archive)
            _ = try edit.apply(write("a", 300))
            _ = try edit.apply(write("b", 1))
            return ()
        }
        let change = try #require(commit.changes.first)
        let hash = archive.checksum.hash
        #expect(
            commit.changes.count == 1 && change.archive == archive.id && change.known === archive
        )
        #expect(change.removed.map(\.cause) == [.evicted])
        #expect(change.removed.flatMap(\.entries).map(\.key) == ["0", "1"])
        #expect(
            Set(change.keys.single.map(\.hash))
                == Set(["a", "b", "0", "1"].map { hash.of(EntryKey($0)) })
        )
        #expect(change.number?.previous == before)
        #expect(
            change.number?.last == file.location.changesFile.page.generation(of: archive.id).value
        )
        let (_, emptied) = try transaction { (transaction) throws(SQLiteError) in
            try transaction.edit(of: archive).removeAll()
        }
        #expect(
            emptied.changes.first?.keys == ChangedKeys(all: .removed) && emptied.due.mayHoldCleared
        )
        #expect(emptied.due.commits == commit.due.commits + 1)
    }

    /// Relaxed writes share a transaction. One that fails takes no other with it.
    @Test(arguments: [false, true])
    func aRelaxedWriteThatFailsIsUndoneAlone(isShared: Bool) throws {
        let relaxed = try setup.store("relaxed", disk: 100)
        let kept = write("kept", 50, in: relaxed.disk.archive)
        var large = write("large", 500, in: relaxed.disk.archive)
        large.isKeptInMemory = false
        // Under one lock, so that nobody commits in between.
        let outcome = try #require(
            try file.withWriter { (writer) throws(SQLiteError) in
                let commit = try writer.carryOut([kept], isRelaxed: true, sharing: { isShared }) {
                    _ in
                }
                var failure: SQLiteError?
                do throws(SQLiteError) {
                    _ = try writer.carryOut([large], isRelaxed: true, sharing: { isShared }) { _ in
                    }
                } catch {
                    failure = error
                }
                return (commit: commit, failure: failure, isOpen: writer.batch != nil)
            }
        )
        #expect(outcome.failure?.code == SQLiteError.tooLarge.code)
        #expect(outcome.isOpen == !isShared && outcome.commit.due.isOpen == !isShared)
        #expect((outcome.commit.changes.first?.number == nil) == !isShared)
        try file.flush()
        #expect(try relaxed.disk.totals() == StorageUsage(entries: 1, bytes: 50))
    }
}
