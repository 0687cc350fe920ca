internal import Foundation
internal import Synchronization
public import Tiers

/// One archive of an ``SQLiteFile``: the tier that outlives the process.
///
/// Made by ``SQLiteFile/store(named:codec:inFamily:memory:disk:defaults:remembering:indexing:durability:whenDifferent:)``, or by
/// ``SQLiteFile/tier(named:capacity:)`` to stand under a store of one's own.
///
/// Reads run beside writes. A commit is lean: prepared statements, the order of use outside the row's transaction,
/// checkpoints on a thread of their own.
public final class SQLiteTier: Tier {
    /// The file that the archive lies in.
    public let file: SQLiteFile

    let number: Int64
    let name: String
    let checksum: Checksum
    public let changes: (any ChangeFeed)?
    private let shape = Locked<IndexShape?>(nil)
    private let closed = Atomic(false)
    /// Whether the validity of an entry hangs on uses that the owner may not have told yet.
    let hasSlidingUses = Atomic(false)
    private let owner = Locked(WeakOwner())
    /// The disk limit, which the writer keeps up to date.
    let mirror: LimitMirror
    /// What happened to the archive while it was opened, for the first owner.
    private let openingOutcome: Locked<LimitOutcome?> = Locked(nil)

    private struct WeakOwner {
        weak var value: (any TierOwner)?
    }

    init(file: SQLiteFile, number: Int64, name: String, entryLimit: Int) {
        self.file = file
        self.number = number
        self.name = name
        mirror = LimitMirror(entries: entryLimit)
        checksum = Checksum(archiveName: name)
        changes = ArchiveChanges(file.changes, archive: number)
    }

    deinit { file.remove(self) }

    public var capacity: Capacity { mirror.capacity }

    public func resize(to capacity: Capacity) throws(StoreError) -> [EntryKey] {
        mirror.update(entries: capacity.entries)
        return try setLimit { _, _ in StoredLimit(given: capacity) }.removed.map(\.key)
    }

    public func raise(to capacity: Capacity) throws(StoreError) {
        // Most often it is what the archive has.
        guard capacity != mirror.capacity || !mirror.isGiven else { return }
        mirror.update(entries: max(capacity.entries, mirror.capacity.entries))
        // Decided inside the transaction: another process may have raised it further.
        _ = try setLimit { stored, _ in StoredLimit(bytes: max(stored.bytes, Int64(capacity.bytes)), isGiven: 1) }
    }

    public func currentCapacity() throws(StoreError) -> Capacity {
        _ = try setLimit { stored, _ in stored }
        return capacity
    }

    private func setLimit(_ change: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit) throws(StoreError) -> LimitOutcome {
        try checkOpen()
        let outcome = try file.entering { () throws(SQLiteError) in try file.setLimit(of: self, change) }
        file.finish(outcome, of: self)
        return outcome
    }

    func keep(_ outcome: LimitOutcome) { openingOutcome.withLock { $0 = outcome } }

    // MARK: Reading

    public func entry(forKey key: EntryKey) throws(StoreError) -> Lookup<Entry> {
        switch try read({ (archive) throws(SQLiteError) in try archive.entry(forKey: key) }) {
        case .entry(let entry):
            if entry.idle != nil { hasSlidingUses.store(true, ordering: .relaxed) }
            return .hit(entry)
        case nil: return .miss(.absent)
        case .damaged:
            throw .unsoundEntry
        }
    }

    public func lastUse(ofKey key: EntryKey) throws(StoreError) -> UseStamp? {
        guard let written = try read({ (archive) throws(SQLiteError) in try archive.lastUse(ofKey: key) }) else { return nil }
        guard let told = currentOwner?.latestUse(ofKey: key, row: written.row) else { return written.stamp }
        return max(told, written.stamp)
    }

    public func totals() throws(StoreError) -> TierTotals {
        try read { (archive) throws(SQLiteError) in try archive.totals() }
    }

    public func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(StoreError) -> [KeyUse] {
        let pending = currentOwner?.pendingUses() ?? []
        return try read { (archive) throws(SQLiteError) in
            try archive.keysByUse(limit: limit, validAt: now, under: expiration, pending: pending)
        }
    }

    func read<Result: Sendable>(_ body: (ArchiveReader) throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        try checkOpen()
        let result = try file.entering { () throws(SQLiteError) in try file.read(archive: number, checksum, body) }
        guard let result else { throw .closed }
        return result
    }

    /// What the index is to hold, as far as this process said.
    var indexShape: IndexShape? { shape.withLock { $0 } }

    func setIndexShape(_ new: IndexShape) { shape.withLock { $0 = new } }

    var currentOwner: (any TierOwner)? { owner.withLock { $0.value } }

    public var isClosed: Bool { closed.load(ordering: .acquiring) || file.isClosed }

    func checkOpen() throws(StoreError) {
        guard !closed.load(ordering: .acquiring) else { throw .closed }
    }

    // MARK: Writing

    public func commit(
        _ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(StoreError) {
        var last: (any Tier)?
        for write in writes where write.tier !== last {
            last = write.tier
            guard let tier = archive(of: write) else {
                throw StoreError(.differentFiles, "A transaction can only hold writes to archives of one file. Commit one for each file.")
            }
            try tier.checkOpen()
        }
        if writes.contains(where: \.isSliding) { hasSlidingUses.store(true, ordering: .relaxed) }
        try file.commit(writes, through: self, durability: durability, committed: committed)
    }

    /// The archive that a write is for, if it lies in this archive's file.
    func archive(of write: TierWrite) -> SQLiteTier? {
        if write.tier === self { return self }
        guard let tier = write.tier.underlying as? SQLiteTier, tier.file === file else { return nil }
        return tier
    }

    public func removeUnused(before stamp: UseStamp, limit: Int) throws(StoreError) -> [EntryKey] {
        try checkOpen()
        return try file.entering { () throws(SQLiteError) in try file.removeUnused(number, before: stamp, limit: limit) }
    }

    public func claim(_ expiration: Expiration, grace: Int64) throws(StoreError) {
        try checkOpen()
        try file.entering { () throws(SQLiteError) in
            try file.claim(Claim(age: expiration.age, idle: expiration.idle, grace: grace, seen: .never), on: number)
        }
    }

    // MARK: The order of use

    public func attach(to owner: any TierOwner) {
        self.owner.withLock { $0.value = owner }
        file.attach(owner, to: self)
        let outcome = openingOutcome.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        guard let outcome else { return }
        if outcome.isLowered {
            owner.tierDidReport(.limitLowered(outcome.change))
        } else if !outcome.removed.isEmpty {
            owner.tierDidRemove(outcome.removed, .evicted)
        }
    }

    public func usesAreWaiting(isPressing: Bool) {
        if isPressing { file.runChore { (file) throws(SQLiteError) in _ = try file.writeUses(number) } }
        file.scheduleWritingOfUses()
    }

    public func record(uses: [Use]) { file.write(uses, of: number) }

    // MARK: Ending

    public func flush() throws(StoreError) {
        try checkOpen()
        try file.flush()
    }

    public func close() throws(StoreError) {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do throws(StoreError) {
            // What is suspended was committed.
            if !file.isSuspended.load(ordering: .acquiring) { try file.flush() }
        } catch {
            // Of a damaged file nothing more can be written: it must be let go of, so that it can be opened anew.
            // And after a sync that failed none is believed.
            if error.code == .damagedFile || file.hasLostSync { file.remove(self) } else { closed.store(false, ordering: .releasing) }
            throw error
        }
        file.remove(self)
    }
}
