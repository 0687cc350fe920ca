public import VellumCore

/// The store that owns an archive, as the archive calls it back.
///
/// The archive calls from any thread, and may hold a lock during the call, except for
/// ``indexed(_:of:)``. An owner answers from memory and must not call an archive.
@usableFromInline package protocol ArchiveOwner: AnyObject, Sendable {
    /// Returns the last use of an entry if it may not be in the file yet; otherwise `nil`.
    func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp?

    /// Makes every later stamp greater than `stamp`, the last one in the file: the clock may have
    /// been set back.
    func raiseStamp(to stamp: UseStamp)

    /// Takes at most `limit` touches that are not in the file. The archive writes them and then
    /// calls ``finishTouches(written:)``. Calls do not overlap.
    func takeTouches(limit: Int) -> [Touch]

    /// Ends ``takeTouches(limit:)``. If the touches could not be written, they can be taken again.
    func finishTouches(written: Bool)

    /// Returns all touches that may not be in the file yet, without taking them. O(touches).
    func pendingTouches() -> [Touch]

    /// An upper bound of the number of touches that ``takeTouches(limit:)`` could take now. O(1).
    var pendingTouchCount: Int { get }

    /// Returns what the hit ratio would be with other limits; `nil` if that is not known yet.
    ///
    /// - Parameter bytes: The limit of the disk, or what is there.
    func sizing(ofDisk bytes: Int) -> Sizing?

    /// Whether memory may have, or may have had, entries that the file does not have.
    var mayHaveMemoryOnly: Bool { get }

    /// Reports an event for the owner's observers.
    func archiveDidReport(_ event: StoreEvent)

    /// Reports that entries were removed, but not by a write of the owner. Memory must drop expired
    /// entries; it may keep evicted ones.
    func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause)

    /// Reports that writes under ``Durability/relaxed`` were lost, so that the memory cache may
    /// differ from the file.
    func archiveDidLoseWrites(_ error: VellumError)

    /// Reports that the archive holds another version of its cache now: memory must drop
    /// everything.
    func archiveWasReplaced()

    /// Returns the entry's values for the index. Decodes the entry, so the archive calls it without
    /// holding a lock.
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome

    /// The entries that it could not decode.
    var undecodable: UndecodableEntries { get }
}

extension ArchiveOwner {
    @usableFromInline package var mayHaveMemoryOnly: Bool { false }
    @usableFromInline package func sizing(ofDisk bytes: Int) -> Sizing? { nil }
    @usableFromInline package func archiveDidRemove(
        _ entries: [RemovedEntry],
        _ cause: RemovalCause
    ) {}
    @usableFromInline package func archiveWasReplaced() {}
    @usableFromInline package func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome {
        .noPlace
    }
}

/// An entry that was removed.
@usableFromInline package struct RemovedEntry: Hashable, Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var id: Int64
    /// Whether it had groups: memory must not keep it alone, because nobody would find it there
    /// when they are removed.
    var hadGroups = false
}

/// A key, and the last use and the size of its entry.
@usableFromInline package struct ListedKey: Hashable, Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var lastUse: UseStamp
    /// Encoded bytes.
    @usableFromInline package var bytes: Int
    /// Whether it is not expired.
    package var isValid: Bool
}

/// The outcome of setting an archive's limit.
struct LimitOutcome: Sendable {
    var before: StoredLimit
    var after: StoredLimit
    /// The entries that were evicted, and their bytes.
    var removed: [RemovedEntry] = []
    var removedBytes = 0
    /// Whether the archive still holds more than it may.
    var isOver = false

    /// The outcome with that of the next transaction.
    func followed(by next: LimitOutcome) -> LimitOutcome {
        LimitOutcome(
            before: before,
            after: after,
            removed: removed + next.removed,
            removedBytes: removedBytes + next.removedBytes
        )
    }

    /// Whether less fits than before. A new archive counts as unlimited if something was evicted.
    var isLowered: Bool { before == .unknown ? !removed.isEmpty : after.bytes < before.bytes }

    var change: LimitChange {
        LimitChange(
            from: before == .unknown ? .unlimited : before.size,
            to: after.size,
            removed: StorageUsage(entries: removed.count, bytes: removedBytes)
        )
    }
}
