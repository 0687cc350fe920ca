public import VellumCore

/// What a tier may ask of the store that owns it, and what it tells it. The tier may call from any thread, and while
/// it holds a lock of its own, but for the last; an owner answers from memory and calls no tier.
@usableFromInline package protocol DiskArchiveDelegate: AnyObject, Sendable {
    /// The last use of an entry that the tier may not have been told of yet.
    func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp?

    /// Every use from now on must be stamped later than this one, which is the last that the tier knows: the clock may have gone
    /// back since.
    func uses(areLaterThan stamp: UseStamp)

    /// Uses that the tier has not been told of, at most `limit`. The tier writes them down, then calls ``finishTouches(written:)``;
    /// one taker at a time.
    func takeTouches(limit: Int) -> [Touch]

    /// The uses that were taken are committed, or could not be and must be handed out again.
    func finishTouches(written: Bool)

    /// All the uses that the tier may not have committed yet, without handing them out. O(uses).
    func pendingTouches() -> [Touch]

    /// How many uses ``takeTouches(limit:)`` has to hand out by now, or a few more. O(1).
    var pendingTouchCount: Int { get }

    /// Something happened that the owner's observers should know.
    func archiveDidReport(_ event: StoreEvent)

    /// Entries left the tier by no write of the owner's: those whose time was over leave memory, too; of others memory may keep
    /// what it has.
    func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause)

    /// Writes that the tier took under ``Durability/relaxed`` could not be kept: what the owner remembers may be wrong.
    func archiveDidLoseWrites(_ error: StoreError)

    /// What an index is to hold of an entry. Decodes it, so a tier asks while it holds no lock.
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome
}

extension DiskArchiveDelegate {
    @usableFromInline package func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {}
    @usableFromInline package func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome { .noPlace }
}

/// An entry that is no longer there.
@usableFromInline package struct RemovedEntry: Hashable, Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var row: Int64

    @usableFromInline package init(key: EntryKey, row: Int64) {
        self.key = key
        self.row = row
    }
}

/// A key, and the last use and the size of its entry.
@usableFromInline package struct ListedKey: Hashable, Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var lastUse: UseStamp
    /// Encoded bytes.
    @usableFromInline package var bytes: Int

    @usableFromInline package init(key: EntryKey, lastUse: UseStamp, bytes: Int) {
        self.key = key
        self.lastUse = lastUse
        self.bytes = bytes
    }
}
