internal import Synchronization
internal import VellumCore

/// One transaction of the connection that writes: an edit of each archive that it has used, and
/// what it announces when it is committed (decision 74).
///
/// ```swift
/// let transaction = try writer.begin()
/// let edit = try transaction.edit(of: archive)
/// try edit.removeAll()
/// let commit = try transaction.commit()
/// ```
///
/// Everything that it does goes with it: a transaction that is rolled back has left nothing. Used
/// inside the writer's lock, so Swift's checks for exclusive access are off.
final class Transaction {
    @exclusivity(unchecked) private(set) var edits: [ArchiveEdit] = []
    /// The number of calls whose writes it holds, and the bytes of these.
    @exclusivity(unchecked) private var writes = 0
    @exclusivity(unchecked) private var bytes = 0
    /// Whether it writes which entries it removes, instead of deleting their rows
    /// (``RemovedTable``).
    private let marksRemovals: Bool
    /// How many of the edits are becoming visible.
    @exclusivity(unchecked) private var changing = 0
    /// Outlives it.
    private unowned(unsafe) let writer: Writer

    /// The caller has begun it.
    init(_ writer: Writer, marksRemovals: Bool = false) {
        self.writer = writer
        self.marksRemovals = marksRemovals
    }

    /// Whether it holds no writes.
    var isEmpty: Bool { writes == 0 }

    /// Whether relaxed writes must be committed, which bounds what a killed process may lose.
    var isFull: Bool { writes >= 256 || bytes >= 1 << 20 }

    /// Counts the writes of one call.
    func count(bytes new: Int) {
        writes += 1
        bytes += new
    }

    /// What the transaction does to an archive. Reads the archive's totals when it first uses it.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of
    ///   the cache.
    func edit(of archive: Archive) throws(SQLiteError) -> ArchiveEdit {
        for edit in edits where edit.archive === archive { return edit }
        let tables = writer.tables(of: archive)
        let edit = ArchiveEdit(
            archive,
            try writer.contents(of: archive, tables),
            tables,
            on: writer
        )
        if marksRemovals { edit.removed = [] }
        edits.append(edit)
        return edit
    }

    /// Runs a part of the transaction that can be undone alone: if it throws, the rest of the
    /// transaction stays as it was.
    ///
    /// - Throws: The error of `body`. If SQLite has rolled back the whole transaction, it is not
    ///   open any more.
    func attempt<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        let connection = writer.connection
        let count = edits.count
        let states = edits.map(\.state)
        try connection.execute(SQL.beginPart)
        do throws(SQLiteError) {
            let result = try body()
            try connection.execute(SQL.endPart)
            return result
        } catch {
            edits.removeLast(edits.count - count)
            for (edit, state) in zip(edits, states) { edit.restore(state) }
            if connection.isInTransaction { writer.undoPart() }
            throw error
        }
    }

    func holdsEdit(of archive: Archive) -> Bool { edits.contains { $0.archive === archive } }

    /// What has become visible in this process since the last call.
    func takeChanges() -> [Commit.Change] { edits.map { $0.takeChange() } }

    // MARK: The end

    /// What it has done becomes visible step by step, in the file and in memory, until
    /// ``endChange()``.
    func beginChange() {
        changing = edits.count
        for edit in edits { edit.archive.moment.add(1, ordering: .sequentiallyConsistent) }
    }

    func endChange() {
        for edit in edits.prefix(changing) {
            edit.archive.moment.add(1, ordering: .sequentiallyConsistent)
        }
        changing = 0
    }

    /// Stores the totals, makes room for the log, announces what has changed, and commits.
    func commit() throws(SQLiteError) -> Commit {
        for edit in edits { try edit.store() }
        if marksRemovals { try writer.markRemovals(edits.flatMap { $0.removed ?? [] }) }
        CrashPoint.reached(.totalsStored)
        try writer.makeRoom(for: self)
        let announced = try writer.announce(edits)
        CrashPoint.reached(.changesAnnounced)
        do throws(SQLiteError) {
            try writer.runCommit()
        } catch {
            writer.finish(announced)
            throw error
        }
        CrashPoint.reached(.committed)
        writer.finish(announced)
        // The process that sets the file aside waits for a commit, but not forever. A later commit
        // is in a file that is no longer used.
        if announced != nil, writer.isFileRetired { throw .vanished }
        CrashPoint.reached(.changesFinished)
        return writer.didCommit(self)
    }

    /// Whether it stores entries.
    var stores: Bool { edits.contains { $0.state.splitPages > 0 } }

    /// How much of the room in the file must be left after the transaction: a later one that writes
    /// which entries it removes finds it.
    func room(leftOf bytes: Int64) -> Int64 {
        marksRemovals ? 0 : Writer.roomForRemovals(in: bytes)
    }

    /// How many bytes of pages the transaction adds at most; `nil` if that is unknown.
    var greatestGrowth: Int64? {
        var bytes: Int64 = 0
        for edit in edits {
            guard !edit.state.hasUnknownGrowth, edit.state.splitPages > 0 else { return nil }
            // Of a page of content at least half is used.
            bytes += edit.state.splitPages * writer.pageSize + 2 * edit.state.newContent
        }
        return bytes
    }
}
