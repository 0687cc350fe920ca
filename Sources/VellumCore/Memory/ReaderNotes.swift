/// What the readers of a memory cache note under one of its locks, until somebody who has all locks
/// takes it over.
@usableFromInline
struct ReaderNotes: StampingNotes, Sendable {
    @usableFromInline var stamps: UseStamps
    @usableFromInline var hits = 0
    /// Entries whose uses became dirty under this lock.
    @usableFromInline var dirty: ContiguousArray<Int32> = []
    /// For the sample of uses, in their order.
    var uses: ContiguousArray<UsedEntry> = []
    /// How many misses the sample has yet to be told of, and how many hits it knows of.
    var misses = 0
    var reportedHits = 0

    @inlinable static var mostDirty: Int { 256 }
    /// Of all locks together two hundred, or eight each.
    static let mostUses = max(8, 256 / ThreadNumber.lockCount)

    @usableFromInline
    init(stamps: UseStamps) {
        self.stamps = stamps
        dirty.reserveCapacity(Self.mostDirty)
    }

    /// Returns whether so many uses are noted that the caller should have them taken over.
    @usableFromInline
    mutating func noteHit(
        _ hash: UInt64,
        size: Int,
        _ validity: Validity,
        at now: WallInstant
    ) -> Bool {
        uses.append(UsedEntry(.read, hash, size: size, validity, lastUse: now))
        return uses.count >= Self.mostUses
    }
}
