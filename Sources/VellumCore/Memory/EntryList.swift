/// The metadata of an entry in memory.
@frozen
@usableFromInline
package struct EntryFacts: Sendable {
    /// The entry's id on disk; 0 for a memory-only entry.
    @usableFromInline package var entryID: Int64
    @usableFromInline package var validity: Validity

    @inlinable
    package init(entryID: Int64, validity: Validity) {
        self.entryID = entryID
        self.validity = validity
    }
}

/// The entries of a memory cache in order of use. It tracks which entries are memory-only, and
/// which last uses are not on disk yet.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
@usableFromInline
struct EntryList<Payload>: ~Copyable {
    @usableFromInline typealias List = LRUList<EntryKey, Payload, EntryFacts>
    @usableFromInline typealias Item = List.Item
    @usableFromInline typealias Slot = List.Slot

    @usableFromInline var list = List()
    /// The number of entries that are not on disk.
    @usableFromInline private(set) var memoryOnlyCount = 0
    // A first-in, first-out queue of entries with dirty uses. Elements before `firstDirty` were
    // taken.
    @usableFromInline var dirty: ContiguousArray<Slot> = []
    @usableFromInline var firstDirty = 0

    @usableFromInline init() {}

    @inlinable var usage: StorageUsage { StorageUsage(entries: list.count, bytes: list.totalCost) }

    // MARK: Reading

    /// Whether the entry is valid now for a reader with this expiration.
    @inlinable
    borrowing func isValid(
        _ slot: Slot,
        at now: WallInstant,
        _ key: EntryKey,
        under expiration: Expiration
    ) -> Bool {
        list[metadataOf: slot].validity.contains(
            now,
            key,
            lastUse: list.stamp(of: slot),
            under: expiration
        )
    }

    @inlinable
    borrowing func peek(_ key: EntryKey, hash: UInt64) -> Item? {
        list.slot(of: key, hash: hash).flatMap { list.item($0) }
    }

    /// Makes the stamp the last use of the entry. Returns whether the caller must note that it is
    /// dirty now.
    @inlinable
    borrowing func touch(_ slot: Slot, _ stamp: UseStamp) -> Bool {
        list.use(slot, stamp, marksDirty: list[metadataOf: slot].entryID != 0)
    }

    // MARK: Changing

    /// Inserts the entry and returns the entry it replaced.
    @inlinable
    mutating func insert(_ item: Item, forKey key: EntryKey, hash: UInt64) -> Item? {
        if item.entryID == 0 { memoryOnlyCount += 1 }
        let (slot, old) = list.insert(item, forKey: key, hash: hash)
        if item.isDirty {
            dirty.append(slot)
            forgetCleanIfMany()
        }
        if let old, old.entryID == 0 { memoryOnlyCount -= 1 }
        return old
    }

    /// Removes the entry and returns it.
    @inlinable
    mutating func remove(_ slot: Slot) -> (key: EntryKey, item: Item)? {
        guard let removed = list.remove(slot) else { return nil }
        if removed.item.entryID == 0 { memoryOnlyCount -= 1 }
        return removed
    }

    /// Removes the entry and returns it.
    @inlinable
    mutating func remove(_ key: EntryKey, hash: UInt64) -> Item? {
        list.slot(of: key, hash: hash).flatMap { remove($0)?.item }
    }

    /// Marks the entry as no longer on disk. Returns whether it is in memory.
    @inlinable
    mutating func markMemoryOnly(_ key: EntryKey, hash: UInt64) -> Bool {
        guard let slot = list.slot(of: key, hash: hash) else { return false }
        if list[metadataOf: slot].entryID != 0 {
            list[metadataOf: slot].entryID = 0
            list.setDirty(slot, false)
            memoryOnlyCount += 1
        }
        return true
    }

    /// Removes every entry, releases the list's memory, and returns the payloads. O(n).
    mutating func removeAll() -> [Payload] {
        let all = list.removeAll().map(\.payload)
        memoryOnlyCount = 0
        dirty = []
        firstDirty = 0
        return all
    }

    // MARK: Touches that are not on disk

    @inlinable
    var hasDirty: Bool { firstDirty < dirty.count }

    /// An upper bound of the number of touches that ``takeDirty(_:)`` can return.
    var dirtyCount: Int { dirty.count - firstDirty }

    /// Adds entries that became dirty. O(slots).
    @usableFromInline
    mutating func noteDirty(_ slots: ContiguousArray<Slot>) {
        dirty += slots
        forgetCleanIfMany()
    }

    /// Drops what is not dirty any more once it would fill memory, because nothing is written to
    /// the disk. O(n), once for as many.
    @inlinable
    mutating func forgetCleanIfMany() {
        if dirty.count - firstDirty > 2 * list.count + 4096 { forgetClean() }
    }

    @usableFromInline
    mutating func forgetClean() {
        var seen: Set<Slot> = []
        dirty = ContiguousArray(
            dirty[firstDirty...].filter { list.isDirty($0) && seen.insert($0).inserted }
        )
        firstDirty = 0
    }

    /// Takes at most `limit` touches that are not on disk. Each is returned once. O(limit).
    mutating func takeDirty(_ limit: Int) -> [Touch] {
        var touches: [Touch] = []
        while touches.count < limit, firstDirty < dirty.count {
            let slot = dirty[firstDirty]
            firstDirty += 1
            guard list.isDirty(slot) else { continue }
            list.setDirty(slot, false)
            touches.append(touch(slot))
        }
        if firstDirty == dirty.count || firstDirty > max(4096, dirty.count / 2) {
            dirty.removeFirst(firstDirty)
            firstDirty = 0
        }
        return touches
    }

    /// Returns all touches that are not on disk, without taking them. O(touches).
    borrowing func pendingDirty() -> [Touch] {
        Set(dirty[firstDirty...]).filter {
            list.isDirty($0)
        }.map { touch($0) }
    }

    /// Returns the same, with those that readers have noted and nobody has taken over. O(n).
    borrowing func allDirty() -> [Touch] {
        list.dirtySlots().map { touch($0) }
    }

    private borrowing func touch(_ slot: Slot) -> Touch {
        Touch(entryID: list[metadataOf: slot].entryID, stamp: list.stamp(of: slot))
    }

    /// Stops the process if the counts are inconsistent. For tests. O(n).
    borrowing func checkInvariants() {
        list.checkInvariants()
        let memoryOnly = list.newest { $0.entryID == 0 }.count
        precondition(
            memoryOnly == memoryOnlyCount,
            "\(memoryOnly) entries are memory-only, not \(memoryOnlyCount)."
        )
    }
}

extension EntryList: Sendable where Payload: Sendable {}

extension LRUList.Item where Key == EntryKey, Metadata == EntryFacts {
    @inlinable
    package init(
        payload: Payload,
        cost: Int,
        stamp: UseStamp = .never,
        entryID: Int64,
        validity: Validity = .forever,
        isDirty: Bool = false
    ) {
        self.init(
            payload: payload,
            cost: cost,
            stamp: stamp,
            isDirty: isDirty,
            metadata: EntryFacts(entryID: entryID, validity: validity)
        )
    }

    @inlinable package var entryID: Int64 { metadata.entryID }
    @inlinable package var validity: Validity { metadata.validity }

    /// Returns the entry with a later use, which has yet to be written to the disk, if it is there.
    @inlinable
    func used(_ stamp: UseStamp) -> Self {
        var used = self
        used.stamp = stamp
        used.isDirty = metadata.entryID != 0
        return used
    }

    /// Whether the entry is valid now for a reader with this expiration.
    @usableFromInline package func isValid(
        at now: WallInstant,
        _ key: EntryKey,
        under expiration: Expiration = .never
    ) -> Bool {
        validity.contains(now, key, lastUse: stamp, under: expiration)
    }
}
