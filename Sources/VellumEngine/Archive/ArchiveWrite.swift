public import VellumCore

/// One change of one tier.
@usableFromInline package struct ArchiveWrite: Sendable {
    @usableFromInline package enum Change: Sendable {
        /// Store the entry under the key, whatever is there. An entry larger than the tier's bytes is not stored, evicts
        /// nothing, and what was there is removed, so that it cannot come back.
        case store(Entry)
        /// Store the entry under the key if nothing valid is there.
        case storeIfAbsent(Entry)
        /// Remove what is under the key.
        case remove
        /// Remove the entry of this row if it is still of this revision.
        case removeUnchanged(row: Int64, revision: UInt32)
        /// Remove every entry of the tier, whatever the key.
        case removeAll
    }

    @usableFromInline package var archive: DiskArchive
    @usableFromInline package var key: EntryKey
    @usableFromInline package var change: Change
    @usableFromInline package var stamp: UseStamp
    /// Whether memory takes what is to be stored, also where it is too large for the tier.
    @usableFromInline package var isKeptInMemory = true
    /// What must be so, or the tier leaves everything as it is and says ``WriteOutcome/wasDeclined``.
    @usableFromInline package var condition: WriteCondition?

    @usableFromInline package init(archive: DiskArchive, key: EntryKey, change: Change, stamp: UseStamp, condition: WriteCondition? = nil) {
        self.archive = archive
        self.key = key
        self.change = change
        self.stamp = stamp
        self.condition = condition
    }
}

/// What became of a ``ArchiveWrite``.
@usableFromInline package struct WriteOutcome: Sendable {
    /// Where the entry is now; 0 if this tier does not hold what was to be stored.
    @usableFromInline package var row: Int64 = 0
    /// Whether the key was there before.
    @usableFromInline package var wasPresent = false
    /// Whether a ``ArchiveWrite/Change/storeIfAbsent(_:)`` found the key taken, a
    /// ``ArchiveWrite/Change/removeUnchanged(row:revision:)`` found another entry, or the write's condition was not met, and it did
    /// nothing.
    @usableFromInline package var wasDeclined = false
    /// What had to leave for it.
    @usableFromInline package var evicted: [EntryKey] = []
    /// The place of the commit among the changes that others hear of, where they can.
    @usableFromInline package var change: OwnChange?

    @usableFromInline package init() {}
}
