internal import Foundation
internal import Synchronization
public import VellumCore

/// An archive of an open file, for the store that owns it.
///
/// Opened by ``DatabaseFile`` under a store, or without one by
/// `DatabaseFile.archive(named:version:capacity:)`.
@usableFromInline package struct DiskArchive: Sendable {
    /// The file that holds the archive.
    @usableFromInline package let file: DatabaseFile
    @usableFromInline package let archive: Archive
    let changes: ArchiveChanges

    package init(file: DatabaseFile, _ archive: Archive) {
        self.file = file
        self.archive = archive
        changes = ArchiveChanges(
            file.location.changesFile,
            archive: archive.id,
            hash: archive.checksum.hash
        )
    }

    package var name: String { archive.name }

    // MARK: The limit

    /// The limit of memory that a store may have: nothing would tell it what others have written to
    /// a file that it only reads.
    func allowed(_ memory: Capacity) -> Capacity {
        file.access == .reading ? Capacity(bytes: 0, entries: 0) : memory
    }

    @usableFromInline package var capacity: Capacity { archive.limit.capacity }

    @usableFromInline package func resize(
        to capacity: Capacity
    ) throws(VellumError) -> [RemovedEntry] {
        // It may evict.
        try file.transactions.refuseWrite()
        archive.limit.update(entries: capacity.entries)
        return try setLimit { _, _ in .given(capacity) }.removed
    }

    @usableFromInline package func raise(to capacity: Capacity) throws(VellumError) {
        let known = archive.limit.capacity
        // Usually nothing changes.
        guard capacity != known || !archive.limit.isGiven else { return }
        archive.limit.update(entries: max(capacity.entries, known.entries))
        // Computed inside the transaction, because another process may have raised the limit
        // further.
        _ = try setLimit { stored, _ in
            StoredLimit(bytes: max(stored.bytes, Int64(capacity.bytes)), isGiven: 1)
        }
    }

    @usableFromInline package func currentCapacity() throws(VellumError) -> Capacity {
        _ = try setLimit { stored, _ in stored }
        return capacity
    }

    private func setLimit(
        _ newLimit: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit
    ) throws(VellumError) -> LimitOutcome {
        try archive.checkOpen()
        let outcome = try file.withUsableFile { () throws(SQLiteError) in
            try file.setLimit(of: archive, newLimit)
        }
        file.finish(outcome, of: archive)
        return outcome
    }

    /// The bytes of entries that this process has evicted since the archive was opened.
    package var evictedSize: DataSize { DataSize(bytes: archive.limit.bytesEvicted) }

    // MARK: Reading

    @usableFromInline package func entry(forKey key: EntryKey) throws(VellumError) -> Entry? {
        try found(
            try file.reading(archive) { tables throws(SQLiteError) in
                try tables.entry(forKey: key)
            }
        )
    }

    /// What was found in the file, if it matches its checksum.
    func found(_ found: ArchiveTables.Found?) throws(VellumError) -> Entry? {
        switch found {
        case .entry(let entry):
            if entry.idle != nil { archive.hasSlidingUses.store(true, ordering: .relaxed) }
            return entry
        case .damaged: throw .corruptEntry
        case nil: return nil
        }
    }

    /// Reads the entries under the keys, in their order, from one snapshot.
    ///
    /// - Parameter body: Runs when they are read, under the writer's lock, so that no commit of
    ///   this process falls in between; `nil` to read without that lock.
    /// - Returns: Also the first key whose entry is damaged.
    func entries(
        forKeys keys: [EntryKey],
        inCommitOrder body: (() -> Void)? = nil
    ) throws(VellumError) -> (entries: [Entry?], damaged: EntryKey?) {
        var found: [ArchiveTables.Found?] = []
        if let body {
            try file.readingInCommitOrder(archive) { tables throws(SQLiteError) in
                body()
                found = try tables.entries(forKeys: keys)
            }
        } else {
            found = try file.reading(archive) { tables throws(SQLiteError) in
                try tables.entries(forKeys: keys)
            }
        }
        var entries: [Entry?] = []
        entries.reserveCapacity(keys.count)
        for (key, found) in zip(keys, found) {
            if case .damaged = found { return ([], key) }
            entries.append(try self.found(found))
        }
        return (entries, nil)
    }

    @usableFromInline package func lastUse(ofKey key: EntryKey) throws(VellumError) -> UseStamp? {
        let written = try file.reading(archive) { tables throws(SQLiteError) in
            try tables.lastUse(ofKey: key)
        }
        guard let written else { return nil }
        guard let known = archive.owner?.lastUse(ofKey: key, entryID: written.entryID) else {
            return written.stamp
        }
        return max(known, written.stamp)
    }

    /// For how long the programs that read the archive keep entries.
    func policies() throws(VellumError) -> [RetentionPolicy] {
        try file.reading(archive) { tables throws(SQLiteError) in
            try tables.allPolicies(of: archive)
        }
    }

    /// Whether an entry may have an age of its own.
    func mayExpire() throws(VellumError) -> Bool {
        try file.reading(archive) { tables throws(SQLiteError) in try tables.mayExpire() }
    }

    @usableFromInline package func totals() throws(VellumError) -> StorageUsage {
        try file.reading(archive) { tables throws(SQLiteError) in try tables.totals() }
    }

    @usableFromInline package func keysByUse(
        limit: Int,
        validAt now: WallInstant,
        under expiration: Expiration,
        withExpired: Bool = false
    ) throws(VellumError) -> [ListedKey] {
        let pending = archive.owner?.pendingTouches() ?? []
        return try file.reading(archive, interruptedWhen: Lane.cancellation) {
            tables throws(SQLiteError) in
            try tables.keysByUse(
                limit: limit,
                validAt: now,
                under: expiration,
                withExpired: withExpired,
                pending: pending
            )
        }
    }

    /// The entries of a group, each with its last use in the file.
    func members(of group: EntryKey) throws(VellumError) -> [ListedEntry] {
        try file.reading(archive) { tables throws(SQLiteError) in
            guard try tables.fileHasMembers() else { return [] }
            return try tables.members(of: group, after: tables.clearedThrough())
        }
    }

    // MARK: Writing

    /// Removes up to `limit` entries that were last used before `stamp`.
    ///
    /// - Returns: How many were removed.
    @usableFromInline package func removeUnused(
        before stamp: UseStamp,
        limit: Int
    ) throws(VellumError) -> Int {
        try archive.checkOpen()
        try file.transactions.refuseWrite()
        return try file.withUsableFile { () throws(SQLiteError) in
            let removed = try file.inTransaction(archive) { edit throws(SQLiteError) in
                var entries: [RemovedEntry] = []
                let most = edit.isOnFullDisk ? min(limit, 16) : limit
                while entries.count < most, let entry = try edit.removeOldest(before: stamp) {
                    entries.append(entry)
                }
                edit.noteRemoval(of: entries, .unused)
                return entries.count
            }
            guard let removed else { throw archive.unlisted }
            return removed
        }
    }

    @usableFromInline package func setRetention(
        _ expiration: Expiration,
        staleWindow: Int64
    ) throws(VellumError) {
        try archive.checkOpen()
        // The archive of this number holds another version, which has readers of its own.
        guard !archive.isReplaced else { return }
        try file.withUsableFile { () throws(SQLiteError) in
            try file.setRetention(
                RetentionPolicy(
                    age: expiration.age,
                    idle: expiration.idle,
                    staleWindow: staleWindow,
                    seen: .never
                ),
                on: archive
            )
        }
    }

    // MARK: The owner

    /// Throws if the archive is closed, or the file suspended or gone.
    @usableFromInline func checkUsable() throws(VellumError) {
        try archive.checkOpen()
        try file.checkUsable()
    }

    /// Whether relaxed writes of the file wait for their commit.
    @usableFromInline var hasOpenBatch: Bool {
        file.writing.openBatch.exists.load(ordering: .acquiring)
    }

    @usableFromInline package func attach(to owner: any ArchiveOwner) {
        file.attach(owner, to: archive)
    }

    @usableFromInline package func touchesArePending(isUrgent: Bool) {
        if isUrgent {
            file.runMaintenance { file throws(SQLiteError) in
                _ = try file.writeTouches(of: archive)
            }
        }
        file.scheduleWritingTouches()
    }

    // MARK: Closing

    @usableFromInline package var isClosed: Bool {
        archive.isClosed.load(ordering: .acquiring) || file.isClosed
    }

    @usableFromInline package func flush() throws(VellumError) {
        try archive.checkOpen()
        try file.flush()
    }

    @usableFromInline package func close() throws(VellumError) {
        guard !archive.isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do throws(VellumError) {
            // A suspended file has no uncommitted writes.
            if file.state != .suspended {
                try file.checkLocation()
                try file.flush()
                try file.mappingErrors { () throws(SQLiteError) in
                    try file.writeSizing(of: archive, isClosing: true)
                }
            }
        } catch {
            // Nothing is left of a file that has vanished, and its owners have been told what was
            // lost.
            if error.code == .vanished { return file.remove(archive) }
            // A damaged file cannot be written. It is released, so that it can be opened again. The
            // same applies after a failed sync, because no later sync can be trusted.
            if error.code == .damagedFile || file.log.hasLostSync {
                file.remove(archive)
            } else {
                archive.isClosed.store(false, ordering: .releasing)
            }
            throw error
        }
        file.remove(archive)
    }
}

extension VellumError {
    package static let differentFiles = VellumError(
        .differentFiles,
        """
        A transaction can only hold reads and writes of archives of one file. Commit one for each \
        file.
        """
    )
}
