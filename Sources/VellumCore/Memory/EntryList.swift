/// The metadata of an entry in memory.
@frozen
@usableFromInline
package struct EntryFacts: Sendable {
    /// The entry's id on disk; 0 for a memory-only entry.
    @usableFromInline package var entryID: Int64
    @usableFromInline package var validity: Validity
    /// Whether the last use has not been written to the disk.
    @usableFromInline package var isDirty: Bool

    @inlinable
    package init(entryID: Int64, validity: Validity, isDirty: Bool) {
        self.entryID = entryID
        self.validity = validity
        self.isDirty = isDirty
    }
}

/// The entries of a part of a memory cache in exact order of use. It tracks which entries are memory-only, and which last uses are not on disk yet.
///
/// A value type over an ``LRUList``.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
@usableFromInline
struct EntryList<Payload> {
    @usableFromInline typealias List = LRUList<EntryKey, Payload, EntryFacts>
    @usableFromInline typealias Item = List.Item
    @usableFromInline typealias Slot = List.Slot

    @usableFromInline var list = List()
    /// The number of entries that are not on disk.
    @usableFromInline private(set) var memoryOnlyCount = 0
    // A first-in, first-out queue. Elements before `firstDirty` were taken.
    @usableFromInline var dirty: ContiguousArray<Slot> = []
    @usableFromInline var firstDirty = 0

    @usableFromInline init() {}

    @inlinable var count: Int { list.count }
    /// The sum of the costs.
    @inlinable var bytes: Int { list.totalCost }

    // MARK: Reading

    @inlinable
    func slot(of key: EntryKey) -> Slot? { list.slot(of: key) }

    /// Whether the entry is valid now for a reader with this expiration.
    @inlinable
    func isValid(_ slot: Slot, at now: WallInstant, _ key: EntryKey, under expiration: Expiration) -> Bool {
        list[metadataOf: slot].validity.contains(now, key, lastUse: list.stamp(of: slot), under: expiration)
    }

    @inlinable
    func peek(_ key: EntryKey) -> Item? { list.peek(key) }

    // MARK: Changing

    /// Makes the stamp the last use of the entry. Returns whether its touch is the only one in the queue.
    @inlinable
    mutating func touch(_ slot: Slot, stamp: UseStamp) -> Bool {
        list.use(slot, stamp)
        guard !list[metadataOf: slot].isDirty, list[metadataOf: slot].entryID != 0 else { return false }
        list[metadataOf: slot].isDirty = true
        dirty.append(slot)
        return dirty.count - firstDirty == 1
    }

    /// Inserts the entry and returns the entry it replaced.
    @inlinable
    mutating func insert(_ item: Item, forKey key: EntryKey) -> Item? {
        if item.metadata.entryID == 0 { memoryOnlyCount += 1 }
        let (slot, old) = list.insert(item, forKey: key)
        if item.metadata.isDirty { dirty.append(slot) }
        if let old, old.metadata.entryID == 0 { memoryOnlyCount -= 1 }
        return old
    }

    /// Removes the entry and returns it.
    @inlinable
    mutating func remove(_ key: EntryKey) -> Item? {
        guard let slot = list.slot(of: key) else { return nil }
        // The slot may still be in the queue, so it must not stay dirty.
        let wasDirty = list[metadataOf: slot].isDirty
        list[metadataOf: slot].isDirty = false
        guard var item = list.remove(key) else { return nil }
        item.metadata.isDirty = wasDirty
        if item.metadata.entryID == 0 { memoryOnlyCount -= 1 }
        return item
    }

    /// Replaces the payload under the key with another form of the same value.
    mutating func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) { list.exchange(key, replacement) }

    /// Marks the entry as no longer on disk. Returns whether it is in memory.
    @inlinable
    mutating func markMemoryOnly(_ key: EntryKey) -> Bool {
        guard let slot = list.slot(of: key) else { return false }
        if list[metadataOf: slot].entryID != 0 {
            list[metadataOf: slot].entryID = 0
            list[metadataOf: slot].isDirty = false
            memoryOnlyCount += 1
        }
        return true
    }

    /// Removes every entry, releases the list's memory, and returns the payloads. O(n).
    mutating func removeAll() -> [Payload] {
        let all = list.removeAll()
        self = EntryList()
        return all
    }

    // MARK: Touches that are not on disk

    @inlinable
    var hasDirty: Bool { firstDirty < dirty.count }

    /// An upper bound of the number of touches that ``takeDirty(_:)`` can return.
    var dirtyCount: Int { dirty.count - firstDirty }

    /// Takes at most `limit` touches that are not on disk. Each is returned once. O(limit).
    mutating func takeDirty(_ limit: Int) -> [Touch] {
        var touches: [Touch] = []
        while touches.count < limit, firstDirty < dirty.count {
            let slot = dirty[firstDirty]
            firstDirty += 1
            guard list[metadataOf: slot].isDirty else { continue }
            list[metadataOf: slot].isDirty = false
            touches.append(Touch(entryID: list[metadataOf: slot].entryID, stamp: list.stamp(of: slot)))
        }
        if firstDirty == dirty.count || firstDirty > max(4096, dirty.count / 2) {
            dirty.removeFirst(firstDirty)
            firstDirty = 0
        }
        return touches
    }

    /// Returns all touches that are not on disk, without taking them. O(n).
    func pendingDirty() -> [Touch] {
        Set(dirty[firstDirty...]).compactMap { slot in
            let facts = list[metadataOf: slot]
            return facts.isDirty ? Touch(entryID: facts.entryID, stamp: list.stamp(of: slot)) : nil
        }
    }

    /// Stops the process if the counts are inconsistent. For tests. O(n).
    func checkInvariants() {
        list.checkInvariants()
        let memoryOnly = list.newest { $0.entryID == 0 }.count
        precondition(memoryOnly == memoryOnlyCount, "\(memoryOnly) entries are memory-only, not \(memoryOnlyCount).")
    }
}

extension EntryList: Sendable where Payload: Sendable {}

extension LRUList.Item where Key == EntryKey, Metadata == EntryFacts {
    @inlinable
    package init(
        payload: Payload, cost: Int, stamp: UseStamp = .never, entryID: Int64, validity: Validity = .forever, isDirty: Bool = false
    ) {
        self.init(
            payload: payload, cost: cost, stamp: stamp, metadata: EntryFacts(entryID: entryID, validity: validity, isDirty: isDirty))
    }

    @inlinable package var entryID: Int64 { metadata.entryID }
    @inlinable package var validity: Validity { metadata.validity }
    @inlinable package var isDirty: Bool { metadata.isDirty }

    /// Returns the entry with a later use, which has yet to be written to the disk, if it is there.
    @inlinable
    func used(_ stamp: UseStamp) -> Self {
        var used = self
        (used.stamp, used.metadata.isDirty) = (stamp, metadata.entryID != 0)
        return used
    }

    /// Whether the entry is valid now for a reader with this expiration.
    @usableFromInline package func isValid(at now: WallInstant, _ key: EntryKey, under expiration: Expiration = .never) -> Bool {
        validity.contains(now, key, lastUse: stamp, under: expiration)
    }
}
