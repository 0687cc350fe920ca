internal import Foundation
internal import Synchronization
public import VellumCore

/// One archive of a ``DatabaseFile``: entries that are stored on disk.
///
/// Opened by ``DatabaseFile`` under a store, or without one by `DatabaseFile.archive(named:capacity:interceptedBy:)`.
///
/// Reads and writes run concurrently. A commit runs only prepared statements; touches and checkpoints have their own transactions and
/// threads.
@usableFromInline package final class DiskArchive: Sendable {
    /// The file that holds the archive.
    package let file: DatabaseFile

    let number: Int64
    let name: String
    /// The version of the cache that the archive holds; `nil` if it is not one.
    let cacheVersion: String?
    let checksum: Checksum
    let changes: ArchiveChanges
    private let shape = Locked<IndexShape?>(nil)
    private let closed = Atomic(false)
    /// Whether the validity of an entry depends on touches that may not be in the file yet.
    let hasSlidingUses = Atomic(false)
    /// How many updates of keys are running.
    let updates = Atomic(0)
    private let owner = Locked(WeakOwner())
    /// The disk limit, which the writer updates.
    let mirror: LimitMirror
    /// The outcome of the limit that was set on opening, to report to the first owner.
    private let openingOutcome: Locked<LimitOutcome?> = Locked(nil)

    private struct WeakOwner {
        weak var value: (any DiskArchiveDelegate)?
    }

    /// Intercepts calls in tests.
    let interceptor: (any DiskArchiveInterceptor)?

    init(
        file: DatabaseFile, _ found: ArchiveTable.Found, name: String, cacheVersion: String?, entryLimit: Int,
        interceptor: (any DiskArchiveInterceptor)? = nil
    ) {
        self.file = file
        self.interceptor = interceptor
        number = found.id
        self.name = name
        self.cacheVersion = cacheVersion
        mirror = LimitMirror(entries: entryLimit)
        checksum = Checksum(archiveName: name, hash: found.hash)
        changes = ArchiveChanges(file.changesFile, archive: number, hash: found.hash)
    }

    deinit { file.remove(self) }

    @usableFromInline package var capacity: Capacity { mirror.capacity }

    @usableFromInline package func resize(to capacity: Capacity) throws(VellumError) -> [RemovedEntry] {
        // It may evict.
        try file.transactions.refuseWrite()
        mirror.update(entries: capacity.entries)
        return try setLimit { _, _ in StoredLimit(given: capacity) }.removed
    }

    @usableFromInline package func raise(to capacity: Capacity) throws(VellumError) {
        // Usually nothing changes.
        guard capacity != mirror.capacity || !mirror.isGiven else { return }
        mirror.update(entries: max(capacity.entries, mirror.capacity.entries))
        // Computed inside the transaction, because another process may have raised the limit further.
        _ = try setLimit { stored, _ in StoredLimit(bytes: max(stored.bytes, Int64(capacity.bytes)), isGiven: 1) }
    }

    @usableFromInline package func currentCapacity() throws(VellumError) -> Capacity {
        _ = try setLimit { stored, _ in stored }
        return capacity
    }

    private func setLimit(_ newLimit: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit) throws(VellumError) -> LimitOutcome {
        try checkOpen()
        let outcome = try file.withUsableFile { () throws(SQLiteError) in try file.setLimit(of: self, newLimit) }
        file.finish(outcome, of: self)
        return outcome
    }

    func keep(_ outcome: LimitOutcome) { openingOutcome.withLock { $0 = outcome } }

    // MARK: Reading

    @usableFromInline package func entry(forKey key: EntryKey) throws(VellumError) -> Entry? {
        try intercepting(.entry(key)) { () throws(VellumError) in
            let found = try read { (archive) throws(SQLiteError) in try archive.entry(forKey: key) }
            switch found {
            case .entry(let entry):
                if entry.idle != nil { hasSlidingUses.store(true, ordering: .relaxed) }
                return entry
            case nil: return nil
            case .damaged: throw .corruptEntry
            }
        }
    }

    /// Reads the entries under the keys, in their order, from one snapshot.
    ///
    /// - Returns: Also the first key whose entry is damaged.
    func entries(forKeys keys: [EntryKey]) throws(VellumError) -> (entries: [Entry?], damaged: EntryKey?) {
        let found = try intercepting(.entries(keys)) { () throws(VellumError) in
            try read { (archive) throws(SQLiteError) -> [ArchiveReader.Found?] in
                var found: [ArchiveReader.Found?] = []
                found.reserveCapacity(keys.count)
                for key in keys { found.append(try archive.entry(forKey: key)) }
                return found
            }
        }
        var entries: [Entry?] = []
        entries.reserveCapacity(keys.count)
        for (key, found) in zip(keys, found) {
            switch found {
            case .entry(let entry):
                if entry.idle != nil { hasSlidingUses.store(true, ordering: .relaxed) }
                entries.append(entry)
            case .damaged: return ([], key)
            case nil: entries.append(nil)
            }
        }
        return (entries, nil)
    }

    @usableFromInline package func lastUse(ofKey key: EntryKey) throws(VellumError) -> UseStamp? {
        let written = try intercepting(.lastUse(key)) { () throws(VellumError) in
            try read { (archive) throws(SQLiteError) in try archive.lastUse(ofKey: key) }
        }
        guard let written else { return nil }
        guard let known = currentOwner?.lastUse(ofKey: key, entryID: written.entryID) else { return written.stamp }
        return max(known, written.stamp)
    }

    /// Whether an entry may have an age of its own.
    func mayExpire() throws(VellumError) -> Bool { try read { (archive) throws(SQLiteError) in try archive.mayExpire() } }

    /// The bytes of entries that this process has evicted since the archive was opened.
    package var evictedSize: DataSize { DataSize(bytes: mirror.bytesEvicted) }

    @usableFromInline package func totals() throws(VellumError) -> StorageUsage {
        try intercepting(.totals) { () throws(VellumError) in
            try read { (archive) throws(SQLiteError) in try archive.totals() }
        }
    }

    @usableFromInline package func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(VellumError)
        -> [ListedKey]
    {
        let pending = currentOwner?.pendingTouches() ?? []
        return try intercepting(.keysByUse) { () throws(VellumError) in
            try read { (archive) throws(SQLiteError) in
                try archive.keysByUse(limit: limit, validAt: now, under: expiration, pending: pending)
            }
        }
    }

    /// - Parameter onlyCommitted: Whether relaxed writes of an open transaction need not be seen.
    func read<Result: Sendable>(
        onlyCommitted: Bool = false, _ body: (ArchiveReader) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        try checkOpen()
        let result = try file.withUsableFile { () throws(SQLiteError) -> Result? in
            guard let cacheVersion else { return try file.read(archive: number, checksum, onlyCommitted: onlyCommitted, body) }
            return try readIfHolding(cacheVersion, onlyCommitted: onlyCommitted, body)
        }
        guard let result else { throw .closed }
        return result
    }

    private func readIfHolding<Result: Sendable>(
        _ version: String, onlyCommitted: Bool, _ body: (ArchiveReader) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        guard !isReplaced else { throw .versionReplaced }
        do throws(SQLiteError) {
            return try file.read(archive: number, checksum, onlyCommitted: onlyCommitted) { (reader) throws(SQLiteError) in
                try reader.require(version: version)
                return try body(reader)
            }
        } catch {
            if error.isVersionReplaced, !isReplaced {
                mirror.setReplaced()
                currentOwner?.archiveWasReplaced()
            }
            throw error
        }
    }

    /// Whether the archive was opened with another version of its cache since. It then finds nothing and refuses every write, for good.
    @usableFromInline package var isReplaced: Bool { mirror.isReplaced }

    /// The index that this process declared; `nil` if it declared none.
    var indexShape: IndexShape? { shape.withLock { $0 } }

    func setIndexShape(_ new: IndexShape) { shape.withLock { $0 = new } }

    var currentOwner: (any DiskArchiveDelegate)? { owner.withLock { $0.value } }

    @usableFromInline package var isClosed: Bool { closed.load(ordering: .acquiring) || file.isClosed }

    func checkOpen() throws(VellumError) {
        guard !closed.load(ordering: .acquiring) else { throw .closed }
    }

    // MARK: Writing

    @usableFromInline package func commit(
        _ writes: [ArchiveWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        if file.transactions.areRunning, writes.contains(where: { $0.changesFile }) { try file.transactions.refuseWrite() }
        var last: DiskArchive?
        for write in writes where write.archive !== last {
            last = write.archive
            guard write.archive.file === file else { throw .differentFiles }
            try write.archive.checkOpen()
            if write.archive.updates.load(ordering: .relaxed) > 0 { try write.archive.refuse(writes) }
        }
        if writes.contains(where: \.isSliding) { hasSlidingUses.store(true, ordering: .relaxed) }
        try intercepting(.commit(writes: writes.count, durability)) { () throws(VellumError) in
            try file.commit(writes, durability: durability, committed: committed)
        }
    }

    /// Throws if the caller is inside the update of a key that it writes: the update would be overtaken by it again and again.
    private func refuse(_ writes: [ArchiveWrite]) throws(VellumError) {
        guard UpdateTurn.isActive else { return }
        for write in writes where write.archive === self {
            // What is only required may be read by the closure.
            guard write.changesFile else { continue }
            guard !UpdateTurn.isActive(for: write.key, in: self) else { throw .recursiveUpdate }
        }
    }

    @usableFromInline package func removeUnused(before stamp: UseStamp, limit: Int) throws(VellumError) -> [RemovedEntry] {
        try checkOpen()
        try file.transactions.refuseWrite()
        return try intercepting(.removeUnused) { () throws(VellumError) in
            try file.withUsableFile { () throws(SQLiteError) in try file.removeUnused(number, before: stamp, limit: limit) }
        }
    }

    @usableFromInline package func setRetention(_ expiration: Expiration, staleWindow: Int64) throws(VellumError) {
        try checkOpen()
        // The archive of this number holds another version, which has readers of its own.
        guard !isReplaced else { return }
        try file.withUsableFile { () throws(SQLiteError) in
            try file.setRetention(
                RetentionPolicy(age: expiration.age, idle: expiration.idle, staleWindow: staleWindow, seen: .never), on: number)
        }
    }

    // MARK: Touches

    @usableFromInline package func attach(to owner: any DiskArchiveDelegate) {
        self.owner.withLock { $0.value = owner }
        file.attach(owner, to: self)
        let outcome = openingOutcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        guard let outcome else { return }
        if outcome.isLowered {
            owner.archiveDidReport(.limitLowered(outcome.change))
        } else if !outcome.removed.isEmpty {
            owner.archiveDidRemove(outcome.removed, .evicted)
        }
    }

    @usableFromInline package func touchesArePending(isUrgent: Bool) {
        if isUrgent { file.runMaintenance { (file) throws(SQLiteError) in _ = try file.writeTouches(number) } }
        file.scheduleWritingTouches()
    }

    @usableFromInline package func write(_ touches: [Touch]) { file.write(touches, of: number) }

    // MARK: Closing

    @usableFromInline package func flush() throws(VellumError) {
        try checkOpen()
        try intercepting(.flush) { () throws(VellumError) in try file.flush() }
    }

    @usableFromInline package func close() throws(VellumError) {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do throws(VellumError) {
            // A suspended file has no uncommitted writes.
            if file.state != .suspended {
                try file.checkLocation()
                try file.flush()
            }
        } catch {
            // Nothing is left of a file that has vanished, and its owners have been told what was lost.
            if error.code == .vanished { return file.remove(self) }
            // A damaged file cannot be written. It is released, so that it can be opened again. The same applies after a failed sync,
            // because no later sync can be trusted.
            if error.code == .damagedFile || file.hasLostSync { file.remove(self) } else { closed.store(false, ordering: .releasing) }
            throw error
        }
        file.remove(self)
    }
}

extension VellumError {
    package static let differentFiles = VellumError(
        .differentFiles, "A transaction can only hold reads and writes of archives of one file. Commit one for each file.")
}

/// Intercepts the calls that reach an archive on disk, so that tests can make them fail or run code between them.
///
/// Memory hits do not reach it. Without an interceptor each call costs one comparison with `nil`.
package protocol DiskArchiveInterceptor: AnyObject, Sendable {
    /// Called before the call is carried out. If it throws, the call fails with that error.
    func willCarryOut(_ call: DiskArchive.Call) throws(VellumError)

    /// Called after the call succeeded, before its result is returned.
    func didCarryOut(_ call: DiskArchive.Call)
}

extension DiskArchive {
    /// A call of an archive on disk.
    package enum Call: Hashable, Sendable {
        case entry(EntryKey)
        case entries([EntryKey])
        case lastUse(EntryKey)
        case totals
        case keysByUse
        case commit(writes: Int, Durability)
        case removeUnused
        case flush
    }

    func intercepting<Result>(_ call: Call, _ body: () throws(VellumError) -> Result) throws(VellumError) -> Result {
        guard let interceptor else { return try body() }
        try interceptor.willCarryOut(call)
        let result = try body()
        interceptor.didCarryOut(call)
        return result
    }
}
