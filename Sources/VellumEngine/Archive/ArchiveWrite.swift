public import VellumCore

/// A write to one archive.
@usableFromInline package struct ArchiveWrite: Sendable {
    @usableFromInline package enum Operation: Sendable {
        /// Stores the entry under the key and replaces the one that is there. An entry larger than
        /// the archive's limit is not stored and evicts nothing; the one that is there is removed,
        /// so that it cannot come back.
        case store(Entry)
        /// Stores the entry unless there is a valid one under the key.
        case storeIfAbsent(Entry)
        /// Gives the entry with this id, if its revision is still this one, the dates of `entry`.
        /// Its value stays as it is.
        case renew(Entry, revision: UInt32)
        /// Removes the entry under the key.
        case remove
        /// Removes the entry under the key because its age has ended: no load is overtaken by that.
        case removeExpired
        /// Removes the entry if its id and revision are still these.
        case removeUnchanged(entryID: Int64, revision: UInt32)
        /// Removes every entry of the archive. The key has no effect.
        case removeAll
        /// Removes every entry of the group whose name the key is.
        case removeGroup
        /// Announces that every key that begins with the key is removed. Their entries are removed
        /// one by one.
        case announcePrefix
        /// Changes nothing: the entry under the key is only what the condition is about.
        case require
    }

    @usableFromInline package var archive: Archive
    @usableFromInline package var key: EntryKey
    @usableFromInline package var operation: Operation
    @usableFromInline package var stamp: UseStamp
    /// Whether the memory cache keeps the entry even if it is too large for the archive.
    @usableFromInline package var isKeptInMemory = true
    /// The groups of the value.
    @usableFromInline package var grouping = Grouping.none
    /// The entry that is probably under the key, as memory knows it: the writer then need not look
    /// for it.
    @usableFromInline package var known: KnownEntry?
    /// The condition under which the write applies. If it is not met, nothing changes and the
    /// outcome is ``WriteOutcome/wasDeclined``.
    @usableFromInline package var condition: WriteCondition?

    /// Whether it is more than a condition.
    var changesFile: Bool { if case .require = operation { false } else { true } }

    @usableFromInline package init(
        archive: Archive,
        key: EntryKey,
        operation: Operation,
        stamp: UseStamp,
        condition: WriteCondition? = nil
    ) {
        self.archive = archive
        self.key = key
        self.operation = operation
        self.stamp = stamp
        self.condition = condition
    }
}

/// The result of an ``ArchiveWrite``.
@usableFromInline package struct WriteOutcome: Sendable {
    /// The id of the stored entry; 0 if none was stored.
    @usableFromInline package var entryID: Int64 = 0
    /// Whether there was an entry under the key before.
    @usableFromInline package var wasPresent = false
    /// How many entries were removed with their group.
    @usableFromInline package var removedCount = 0
    /// Whether nothing was changed: ``ArchiveWrite/Operation/storeIfAbsent(_:)`` found a valid
    /// entry, ``ArchiveWrite/Operation/removeUnchanged(entryID:revision:)`` or
    /// ``ArchiveWrite/Operation/renew(_:revision:)`` found another entry, or the condition was not
    /// met.
    @usableFromInline package var wasDeclined = false
    /// The position of the commit among the archive's changes; `nil` if no other process can see
    /// it.
    @usableFromInline package var change: OwnChange?

    @usableFromInline package init() {}
}
