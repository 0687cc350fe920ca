public import VellumCore

/// What memory knows of an entry beside its payload.
@frozen
@usableFromInline
package struct EntryFacts: Sendable {
    /// The last use.
    @usableFromInline package var stamp: UseStamp
    /// The disk's number of the entry, 0 for a memory-only entry.
    @usableFromInline package var row: Int64
    @usableFromInline package var validity: Validity
    /// Whether the disk has not written the last use down.
    @usableFromInline package var isDirty: Bool

    @inlinable
    package init(stamp: UseStamp, row: Int64, validity: Validity, isDirty: Bool) {
        self.stamp = stamp
        self.row = row
        self.validity = validity
        self.isDirty = isDirty
    }
}

/// The entries of a memory cache in exact order of use, which of them the disk does not hold, and which last uses it has not written down.
///
/// A pure value over an ``LRUList``.
///
/// - Complexity: O(1) for every operation that does not say otherwise.
@usableFromInline
struct EntryList<Payload> {
    @usableFromInline typealias List = LRUList<EntryKey, Payload, EntryFacts>
    @usableFromInline typealias Item = List.Item
    @usableFromInline typealias Slot = List.Slot

    @usableFromInline var list = List()
    /// How many entries the disk does not hold.
    @usableFromInline private(set) var memoryOnlyCount = 0
    // First in, first out: those before `firstDirty` were handed to the disk.
    @usableFromInline var dirty: ContiguousArray<Slot> = []
    @usableFromInline var firstDirty = 0

    @usableFromInline init() {}

    @inlinable var count: Int { list.count }
    /// The sum of the costs.
    @inlinable var bytes: Int { list.totalCost }
    @inlinable var oldestKey: EntryKey? { list.oldestKey }

    // MARK: Reading

    @inlinable
    func slot(of key: EntryKey) -> Slot? { list.slot(of: key) }

    /// Whether a reader may have the entry now.
    @inlinable
    func isValid(_ slot: Slot, at now: WallInstant, _ key: EntryKey, under expiration: Expiration) -> Bool {
        list[metadataOf: slot].validity.contains(now, key, lastUse: list[metadataOf: slot].stamp, under: expiration)
    }

    @inlinable
    func peek(_ key: EntryKey) -> Item? { list.peek(key) }

    /// The most recently used entries, newest first. O(limit).
    func newest(_ limit: Int) -> [(key: EntryKey, item: Item)] { list.newest(limit) }

    // MARK: Changing

    /// Moves the entry to the front under a new stamp. Returns whether it is the first use that the disk must write down.
    @inlinable
    mutating func touch(_ slot: Slot, stamp: UseStamp) -> Bool {
        list.moveToFront(slot)
        list[metadataOf: slot].stamp = stamp
        guard !list[metadataOf: slot].isDirty, list[metadataOf: slot].row != 0 else { return false }
        list[metadataOf: slot].isDirty = true
        dirty.append(slot)
        return dirty.count - firstDirty == 1
    }

    /// Puts the entry in front of all others and returns what it replaced.
    @inlinable
    mutating func insert(_ item: Item, forKey key: EntryKey) -> Item? {
        if item.metadata.row == 0 { memoryOnlyCount += 1 }
        let (slot, old) = list.insert(item, forKey: key)
        if item.metadata.isDirty { dirty.append(slot) }
        if let old, old.metadata.row == 0 { memoryOnlyCount -= 1 }
        return old
    }

    /// Takes the entry out.
    @inlinable
    mutating func remove(_ key: EntryKey) -> Item? {
        guard let slot = list.slot(of: key) else { return nil }
        // A free slot is not dirty: it may still be in the queue.
        let wasDirty = list[metadataOf: slot].isDirty
        list[metadataOf: slot].isDirty = false
        guard var item = list.remove(key) else { return nil }
        item.metadata.isDirty = wasDirty
        if item.metadata.row == 0 { memoryOnlyCount -= 1 }
        return item
    }

    /// Replaces the payload under the key by another form of the same value.
    mutating func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) { list.exchange(key, replacement) }

    /// Notes that the disk no longer holds the entry. Returns whether it is here.
    @inlinable
    mutating func markMemoryOnly(_ key: EntryKey) -> Bool {
        guard let slot = list.slot(of: key) else { return false }
        if list[metadataOf: slot].row != 0 {
            list[metadataOf: slot].row = 0
            list[metadataOf: slot].isDirty = false
            memoryOnlyCount += 1
        }
        return true
    }

    /// Takes everything out and releases the memory. O(n).
    mutating func removeAll() -> [Payload] {
        let all = list.removeAll()
        self = EntryList()
        return all
    }

    // MARK: Uses that the disk has not written down

    @inlinable
    var hasDirty: Bool { firstDirty < dirty.count }

    /// How many uses ``takeDirty(_:)`` may have to hand out: at least as many as it has.
    var dirtyCount: Int { dirty.count - firstDirty }

    /// Uses that the disk has not written down, at most `limit`, each handed out once. O(limit).
    mutating func takeDirty(_ limit: Int) -> [Touch] {
        var touches: [Touch] = []
        while touches.count < limit, firstDirty < dirty.count {
            let slot = dirty[firstDirty]
            firstDirty += 1
            guard list[metadataOf: slot].isDirty else { continue }
            list[metadataOf: slot].isDirty = false
            touches.append(Touch(row: list[metadataOf: slot].row, stamp: list[metadataOf: slot].stamp))
        }
        if firstDirty == dirty.count || firstDirty > max(4096, dirty.count / 2) {
            dirty.removeFirst(firstDirty)
            firstDirty = 0
        }
        return touches
    }

    /// All of them, without handing them out. O(n).
    func pendingDirty() -> [Touch] {
        Set(dirty[firstDirty...]).compactMap { slot in
            let facts = list[metadataOf: slot]
            return facts.isDirty ? Touch(row: facts.row, stamp: facts.stamp) : nil
        }
    }

    /// Stops the process if the list is not whole: for tests. O(n).
    func checkInvariants() {
        list.checkInvariants()
        let memoryOnly = list.newest(.max).count { $0.item.metadata.row == 0 }
        precondition(memoryOnly == memoryOnlyCount, "\(memoryOnly) entries are memory-only, not \(memoryOnlyCount).")
    }
}

extension EntryList: Sendable where Payload: Sendable {}

extension LRUList.Item where Key == EntryKey, Metadata == EntryFacts {
    @inlinable
    package init(payload: Payload, cost: Int, stamp: UseStamp, row: Int64, validity: Validity, isDirty: Bool) {
        self.init(payload: payload, cost: cost, metadata: EntryFacts(stamp: stamp, row: row, validity: validity, isDirty: isDirty))
    }

    @inlinable package var stamp: UseStamp { metadata.stamp }
    @inlinable package var row: Int64 { metadata.row }
    @inlinable package var validity: Validity { metadata.validity }
    @inlinable package var isDirty: Bool { metadata.isDirty }

    /// Whether a reader may have the entry now.
    @usableFromInline package func isValid(at now: WallInstant, _ key: EntryKey, under expiration: Expiration = .never) -> Bool {
        validity.contains(now, key, lastUse: stamp, under: expiration)
    }
}
