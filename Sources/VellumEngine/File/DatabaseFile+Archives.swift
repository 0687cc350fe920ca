internal import Foundation
internal import Synchronization
package import VellumCore

// The archives of the file: opened for a store, with an owner, and closed.

extension DatabaseFile {
    /// Opens the disk tier of an archive for a store of the caller.
    ///
    /// - Important: Open at most one tier for a name at a time: an archive has one owner.
    package func archive(named name: String, version: String? = nil, capacity: Capacity) throws(VellumError) -> DiskArchive {
        let opened = try openArchive(named: name, version: version, mayReplaceVersion: true, disk: capacity, otherwise: capacity)
        finish(opened.limits, of: opened.archive.archive)
        return opened.archive
    }

    /// An archive that was opened, and what that changed in the file.
    struct OpenedArchive {
        var archive: DiskArchive
        var limits: LimitOutcome
        /// The version of the cache that it held before, if that was another one.
        var replaced: ReplacedVersion?
    }

    func openArchive(
        named name: String, version: String?, mayReplaceVersion: Bool, disk: Capacity?, otherwise fallback: Capacity
    ) throws(VellumError) -> OpenedArchive {
        let normal = EntryKey(name).normalized
        let version = version.map { EntryKey($0).normalized }
        let opened = try withUsableFile { () throws(SQLiteError) in
            try log.retryingWhenFull { () throws(SQLiteError) in
                try writing.list { (writer) throws(SQLiteError) -> (Archive, ReplacedVersion?) in
                    let found = try writer.archive(named: normal)
                    // An earlier handle's relaxed writes.
                    try writer.commitBatch()
                    CrashPoint.reached(.archiveCommitted)
                    let archive = Archive(found, name: normal, cacheVersion: version, limit: KnownLimit(entries: (disk ?? fallback).entries))
                    let replaced = try version.flatMap { (version) throws(SQLiteError) in
                        try writer.setVersion(version, of: found, mayReplace: mayReplaceVersion, at: clock.now())
                    }
                    try writer.prepareSweep(of: archive)
                    return (archive, replaced)
                }
            }
        }
        guard let (archive, replaced) = opened else { throw unusable }
        if archive.upkeep.withLock({ $0.sweepMap.hasUnread }) { scheduleSweep() }
        if replaced != nil { scheduleDeletingCleared() }
        do throws(VellumError) {
            let outcome = try withUsableFile { () throws(SQLiteError) in
                try setLimit(of: archive) { stored, held in stored.opened(given: disk, otherwise: fallback, holding: held) }
            }
            archive.keep(outcome)
            return OpenedArchive(archive: DiskArchive(file: self, archive), limits: outcome, replaced: replaced)
        } catch {
            remove(archive)
            throw error
        }
    }

    /// Logs a lowered limit. Called without a lock.
    func finish(_ outcome: LimitOutcome, of archive: Archive) {
        if outcome.isLowered { Log.limitLowered(archive.name, outcome.change) }
    }

    /// Changes the disk limit of an archive and evicts entries above it, in small transactions. Call ``finish(_:of:)`` afterwards.
    ///
    /// - Parameter newLimit: Returns the new limit for the stored one and the number of bytes held.
    func setLimit(
        of archive: Archive, _ newLimit: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit
    ) throws(SQLiteError) -> LimitOutcome {
        // Usually the limit is unchanged and not exceeded: then nothing is written.
        let unchanged = try withWriter(of: archive) { (writer) throws(SQLiteError) -> LimitOutcome? in
            try writer.commitBatch()
            writer.forgetContents()
            let totals = try writer.contents(of: archive).totals
            let capacity = archive.limit.capacity(of: totals.limit)
            let isOver = capacity.isExceeded(byBytes: Int(totals.bytes), entries: Int(totals.entries))
            let isSame = newLimit(totals.limit, totals.bytes) == totals.limit
            return isSame && !isOver ? LimitOutcome(before: totals.limit, after: totals.limit) : nil
        }
        if let unchanged { return unchanged }
        var outcome: LimitOutcome?
        while true {
            let before = outcome
            let step = try inTransaction(archive) { (edit) throws(SQLiteError) in
                try edit.setLimit { stored, held in before == nil ? newLimit(stored, held) : stored }
            }
            guard let step else { throw .closedArchive }
            archive.note(step.after)
            CrashPoint.reached(.shrinkBatchCommitted)
            outcome = before?.followed(by: step) ?? step
            if !step.isOver { break }
            // Nothing was left to evict, although the totals exceed the limit: they are damaged.
            if step.removed.isEmpty { throw SQLiteError(code: SQLiteError.corrupt, message: "The archive's totals are wrong.") }
        }
        guard let outcome else { throw .closedArchive }
        return outcome
    }

    /// Returns the names of the archives in the file, in the order of their creation.
    package func archiveNames() throws(VellumError) -> [String] {
        let names = try withUsableFile { () throws(SQLiteError) in
            try withWriter { (writer) throws(SQLiteError) in try writer.archiveNames() }
        }
        guard let names else { throw unusable }
        return names
    }

    /// Removes up to `limit` entries that were last used before `stamp`.
    ///
    /// - Returns: How many were removed.
    func removeUnused(_ archive: Archive, before stamp: UseStamp, limit: Int) throws(SQLiteError) -> Int {
        let removed = try inTransaction(archive) { (edit) throws(SQLiteError) in
            var entries: [RemovedEntry] = []
            while entries.count < limit, let entry = try edit.removeOldest(before: stamp) { entries.append(entry) }
            edit.noteRemoval(of: entries, .unused)
            return entries.count
        }
        guard let removed else { throw .closedArchive }
        return removed
    }

    /// Sets the owner of an archive, and reports the events of opening the file to the first one.
    func attach(_ owner: any ArchiveOwner, to archive: Archive) {
        let outcome = archive.setOwner(owner)
        do throws(SQLiteError) {
            let newest = try withWriter(of: archive) { (writer) throws(SQLiteError) in
                let newest = try RecencyTables.readNewestStamp(of: archive.id, on: writer.connection)
                // Later uses count on from it.
                try newest.check()
                return newest
            }
            if let newest { owner.raiseStamp(to: newest) }
        } catch {
            Log.error("The eviction order of an archive could not be read.", error)
        }
        let events = opening.withLock { opening in
            defer { opening.events = [] }
            return opening.events
        }
        for event in events { owner.archiveDidReport(event) }
        guard let outcome else { return }
        if outcome.isLowered {
            owner.archiveDidReport(.limitLowered(outcome.change))
        } else if !outcome.removed.isEmpty {
            owner.archiveDidRemove(outcome.removed, .evicted)
        }
    }

    /// Commits relaxed writes and removes an archive that is being closed.
    func remove(_ archive: Archive) {
        // A forked child must not write to its parent's file.
        guard location.isOfThisProcess else { return }
        stores.remove(archive)
        writing.remove(archive) { writer in
            do throws(SQLiteError) {
                try writer.commitBatch()  // It may hold this archive's writes and totals.
            } catch {
                Log.error("Relaxed writes could not be committed when an archive was closed.", error)
            }
        }
    }
}

/// A store of any type.
protocol OpenableStore: AnyObject, Sendable {
    var valueType: Any.Type { get }

    /// Whether the store is still of the archive's version, and of this one, if one is wanted.
    func holds(version: String?) -> Bool
}

/// The open stores by the names of their archives.
final class StoreTable: Sendable {
    /// Held while a store is opened, so that concurrent callers get the same one.
    let opening = Locked(())
    let table = Locked<[EntryKey: OpenStore]>([:])
    /// The archives for which a notice about ignored sizes was logged.
    private let noticed = Locked<Set<String>>([])

    // A class, because a weak existential in an optional struct is misread by the compiler of Swift 6.3.
    final class OpenStore {
        weak var store: (any OpenableStore)?
        let id: ObjectIdentifier
        let archive: Archive
        /// The number of handles that hold the store.
        var holds = 0
        /// Whether a handle has ever held it.
        var wasHeld = false
        /// Whether anyone gave a size since it was opened.
        var isMemoryGiven = false
        var isDiskGiven = false

        init(_ store: any OpenableStore, _ archive: Archive) {
            self.store = store
            self.id = ObjectIdentifier(store)
            self.archive = archive
        }
    }

    func open(_ name: EntryKey) -> (any OpenableStore)? {
        table.withLock { $0[name]?.store }
    }

    func add(_ store: any OpenableStore, _ name: EntryKey, _ archive: Archive) {
        table.withLock { $0[name] = OpenStore(store, archive) }
    }

    /// Notes which sizes are given.
    ///
    /// - Returns: Which of them are the first since the store was opened.
    func giveSizes(to store: any OpenableStore, memory: Bool, disk: Bool) -> (isFirstOfMemory: Bool, isFirstOfDisk: Bool) {
        table.withLock { table in
            guard let open = table.values.first(where: { $0.id == ObjectIdentifier(store) }) else { return (false, false) }
            defer {
                open.isMemoryGiven = open.isMemoryGiven || memory
                open.isDiskGiven = open.isDiskGiven || disk
            }
            return (memory && !open.isMemoryGiven, disk && !open.isDiskGiven)
        }
    }

    /// Notes that a size of the disk could not be applied.
    func takeBackDiskSize(of store: any OpenableStore) {
        table.withLock { table in table.values.first { $0.id == ObjectIdentifier(store) }?.isDiskGiven = false }
    }

    /// Whether nothing was logged yet about ignored sizes of the archive.
    func isFirstNotice(of name: String) -> Bool { noticed.withLock { $0.insert(name).inserted } }

    func remove(_ archive: Archive) {
        table.withLock { table in table = table.filter { $0.value.archive !== archive } }
    }
}

extension Writer {
    /// Returns an archive, and creates it if it is missing.
    ///
    /// - Parameter limit: The limit of a new archive.
    func archive(named name: String, withLimit limit: StoredLimit = .unknown) throws(SQLiteError) -> ArchiveTable.Found {
        if let found = try ArchiveTable.find(name, on: connection) { return found }
        return try transaction { (_) throws(SQLiteError) in
            // Checked again, now that no other process can add it.
            if let found = try ArchiveTable.find(name, on: connection) { return found }
            guard let added = try ArchiveTable.insert(name, limit, on: connection) else { throw .closedArchive }
            CrashPoint.reached(.archiveAdded)
            return added
        }.0
    }

    func archiveNames() throws(SQLiteError) -> [String] {
        let list = try connection.prepare(ArchiveTable.list)
        var names: [String] = []
        while try list.step() { names.append(ArchiveTable.Listed(list).name ?? "") }
        return names
    }
}

extension ArchiveEdit {
    /// Changes the limit, and evicts some of the entries above it.
    fileprivate func setLimit(_ newLimit: (StoredLimit, Int64) -> StoredLimit) throws(SQLiteError) -> LimitOutcome {
        let (before, held) = (state.totals.limit, usage.bytes)
        let after = newLimit(before, Int64(held))
        state.totals.limit = after
        let removed = try evict(atMost: isOnFullDisk ? 16 : 512)
        return LimitOutcome(before: before, after: after, removed: removed, removedBytes: held - usage.bytes, isOver: isOverLimit)
    }
}
