/// Entries in exact order of use: a dictionary into a doubly linked list that lives in two arrays.
///
/// A pure value without a lock, a clock or a limit of its own; ``MemoryCache`` is its shell. What leaves comes back as
/// values for the caller to release, outside whatever lock it holds. Links are indices, so a list of a million
/// entries is freed without recursion, and they stand apart from the entries, so that moving an entry to the front
/// touches eight bytes of each neighbour.
///
/// - Complexity: O(1) for every operation, but for those that say otherwise.
@usableFromInline
package struct LRUList<Key: Hashable, Payload> {
    /// One entry and what must be known of it.
    @frozen
    @usableFromInline
    package struct Item {
        @usableFromInline package var payload: Payload
        /// Encoded bytes.
        @usableFromInline package var cost: Int
        /// The last use.
        @usableFromInline package var stamp: UseStamp
        /// The disk's handle, 0 for an entry that lives in memory alone.
        @usableFromInline package var row: Int64
        @usableFromInline package var validity: Validity
        /// Whether the disk has not been told of the last use.
        @usableFromInline package var isDirty: Bool

        @inlinable
        package init(payload: Payload, cost: Int, stamp: UseStamp, row: Int64, validity: Validity, isDirty: Bool) {
            self.payload = payload
            self.cost = cost
            self.stamp = stamp
            self.row = row
            self.validity = validity
            self.isDirty = isDirty
        }
    }

    @usableFromInline package typealias Slot = Int32

    /// What is known of an entry but for its key and payload. Apart from those, so that looking at it retains nothing.
    @usableFromInline package struct Facts {
        @usableFromInline package var stamp: UseStamp
        @usableFromInline package var validity: Validity
        @usableFromInline package var row: Int64
        @usableFromInline package var cost: Int
        @usableFromInline package var isDirty: Bool

        @inlinable
        init(_ item: Item) {
            stamp = item.stamp
            validity = item.validity
            row = item.row
            cost = item.cost
            isDirty = item.isDirty
        }

        @inlinable
        package static var none: Facts {
            Facts(stamp: .never, validity: .forever, row: 0, cost: 0, isDirty: false)
        }

        @inlinable
        init(stamp: UseStamp, validity: Validity, row: Int64, cost: Int, isDirty: Bool) {
            self.stamp = stamp
            self.validity = validity
            self.row = row
            self.cost = cost
            self.isDirty = isDirty
        }
    }

    @usableFromInline package struct Links {
        @usableFromInline package var newer: Slot
        @usableFromInline package var older: Slot

        @inlinable
        init(newer: Slot, older: Slot) {
            self.newer = newer
            self.older = older
        }
    }

    @usableFromInline package var slots: [Key: Slot] = [:]
    // Slot 0 is no entry: it closes the ring. The one older than it is the newest, the one newer than it the oldest.
    @usableFromInline package var links: ContiguousArray<Links> = [Links(newer: 0, older: 0)]
    @usableFromInline package var facts: ContiguousArray<Facts> = [.none]
    @usableFromInline package var payloads: ContiguousArray<Payload?> = [nil]
    @usableFromInline package var keys: ContiguousArray<Key?> = [nil]
    // Slots without an entry, chained by `older`; 0 ends the chain.
    @usableFromInline package var firstFree: Slot = 0
    // First in, first out: what was told already lies before `firstUntold`.
    @usableFromInline package var untold: ContiguousArray<Slot> = []
    @usableFromInline package var firstUntold = 0

    /// The sum of the costs.
    @inlinable package var bytes: Int { sum }
    @usableFromInline package var sum = 0
    /// How many entries the disk does not hold.
    @inlinable package var memoryOnlyCount: Int { memoryOnly }
    @usableFromInline package var memoryOnly = 0

    @usableFromInline package init() {}

    @inlinable
    package var count: Int { slots.count }

    // MARK: Reading

    @inlinable
    package func slot(of key: Key) -> Slot? { slots[key] }

    /// The entry under the key, without using it.
    @inlinable
    package func peek(_ key: Key) -> Item? {
        slots[key].flatMap(item)
    }

    @inlinable
    package func item(_ slot: Slot) -> Item? {
        let facts = facts[Int(slot)]
        return payloads[Int(slot)].map { payload in
            Item(
                payload: payload, cost: facts.cost, stamp: facts.stamp, row: facts.row, validity: facts.validity, isDirty: facts.isDirty)
        }
    }

    /// The most recently used entries, newest first. O(limit).
    @usableFromInline package func newest(_ limit: Int) -> [(key: Key, item: Item)] {
        var found: [(key: Key, item: Item)] = []
        var slot = links[0].older
        while slot != 0, found.count < limit {
            if let key = keys[Int(slot)], let item = item(slot) { found.append((key, item)) }
            slot = links[Int(slot)].older
        }
        return found
    }

    /// The key of the least recently used entry.
    @inlinable
    package var oldestKey: Key? {
        let slot = links[0].newer
        return slot == 0 ? nil : keys[Int(slot)]
    }

    // MARK: Using

    /// Moves the entry to the front under a new stamp. Returns whether it is the first use that the disk must be told of.
    @inlinable
    package mutating func touch(_ slot: Slot, stamp: UseStamp) -> Bool {
        moveToFront(slot)
        facts[Int(slot)].stamp = stamp
        guard !facts[Int(slot)].isDirty, facts[Int(slot)].row != 0 else { return false }
        facts[Int(slot)].isDirty = true
        untold.append(slot)
        return untold.count - firstUntold == 1
    }

    /// The payload under the key, moved to the front under a new stamp; `nil` if there is none, or none that is valid.
    @inlinable
    package mutating func use(_ key: Key, stamp: UseStamp, if isValid: (Validity, _ lastUse: UseStamp) -> Bool) -> Payload? {
        guard let slot = slots[key], isValid(facts[Int(slot)].validity, facts[Int(slot)].stamp) else { return nil }
        _ = touch(slot, stamp: stamp)
        return payloads[Int(slot)]
    }

    /// Uses that the disk has not been told of, at most `limit`, each handed out once. O(limit).
    @usableFromInline package mutating func takeDirty(_ limit: Int) -> [Touch] {
        var uses: [Touch] = []
        while uses.count < limit, firstUntold < untold.count {
            let slot = untold[firstUntold]
            firstUntold += 1
            let fact = facts[Int(slot)]
            guard fact.isDirty else { continue }
            facts[Int(slot)].isDirty = false
            uses.append(Touch(row: fact.row, stamp: fact.stamp))
        }
        if firstUntold == untold.count || firstUntold > max(4096, untold.count / 2) {
            untold.removeFirst(firstUntold)
            firstUntold = 0
        }
        return uses
    }

    @inlinable
    package var hasDirty: Bool { firstUntold < untold.count }

    /// How many uses ``takeDirty(_:)`` may have to hand out: at least as many as it has.
    @usableFromInline package var dirtyCount: Int { untold.count - firstUntold }

    /// The same, all of them, without handing them out. O(n).
    @usableFromInline package func pendingDirty() -> [Touch] {
        Set(untold[firstUntold...]).compactMap { slot in
            let fact = facts[Int(slot)]
            return fact.isDirty ? Touch(row: fact.row, stamp: fact.stamp) : nil
        }
    }

    // MARK: Changing

    /// Puts the entry in front of all others and returns what it replaced.
    @inlinable
    package mutating func insert(_ item: Item, forKey key: Key) -> Item? {
        sum += item.cost
        if item.row == 0 { memoryOnly += 1 }
        if let slot = slots[key] {
            let old = self.item(slot)
            forget(facts[Int(slot)])
            (facts[Int(slot)], payloads[Int(slot)]) = (Facts(item), item.payload)
            moveToFront(slot)
            if item.isDirty { untold.append(slot) }
            return old
        }
        let slot = takeSlot(key, item)
        slots[key] = slot
        linkAtFront(slot)
        if item.isDirty { untold.append(slot) }
        return nil
    }

    /// Takes the entry out.
    @inlinable
    package mutating func remove(_ key: Key) -> Item? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        unlink(slot)
        let item = item(slot)
        forget(facts[Int(slot)])
        (facts[Int(slot)], payloads[Int(slot)], keys[Int(slot)]) = (.none, nil, nil)
        links[Int(slot)].older = firstFree
        firstFree = slot
        return item
    }

    /// Puts another payload for the same value in the place of what is under the key.
    @usableFromInline package mutating func exchange(_ key: Key, _ replacement: (Payload) -> Payload?) {
        guard let slot = slots[key], let payload = payloads[Int(slot)], let new = replacement(payload) else { return }
        payloads[Int(slot)] = new
    }

    /// Notes that the disk no longer holds the entry. Returns whether it is here.
    @inlinable
    package mutating func markMemoryOnly(_ key: Key) -> Bool {
        guard let slot = slots[key] else { return false }
        if facts[Int(slot)].row != 0 {
            facts[Int(slot)].row = 0
            facts[Int(slot)].isDirty = false
            memoryOnly += 1
        }
        return true
    }

    /// Takes everything out and gives the room back. O(n).
    @usableFromInline package mutating func removeAll() -> [Payload] {
        let all = payloads.compactMap { $0 }
        self = LRUList()
        return all
    }

    @inlinable
    package mutating func forget(_ fact: Facts) {
        sum -= fact.cost
        if fact.row == 0 { memoryOnly -= 1 }
    }

    @inlinable
    package mutating func takeSlot(_ key: Key, _ item: Item) -> Slot {
        if firstFree != 0 {
            let slot = firstFree
            firstFree = links[Int(slot)].older
            (facts[Int(slot)], payloads[Int(slot)], keys[Int(slot)]) = (Facts(item), item.payload, key)
            return slot
        }
        links.append(Links(newer: 0, older: 0))
        facts.append(Facts(item))
        payloads.append(item.payload)
        keys.append(key)
        return Slot(links.count - 1)
    }

    // MARK: The ring

    @inlinable
    package mutating func moveToFront(_ slot: Slot) {
        guard links[0].older != slot else { return }
        unlink(slot)
        linkAtFront(slot)
    }

    @inlinable
    package mutating func unlink(_ slot: Slot) {
        let (newer, older) = (links[Int(slot)].newer, links[Int(slot)].older)
        links[Int(newer)].older = older
        links[Int(older)].newer = newer
    }

    @inlinable
    package mutating func linkAtFront(_ slot: Slot) {
        let second = links[0].older
        links[Int(slot)] = Links(newer: 0, older: second)
        links[Int(second)].newer = slot
        links[0].older = slot
    }
}

extension LRUList where Key == EntryKey {
    /// Whether a reader may have the entry now.
    @inlinable
    package func isValid(_ slot: Slot, at now: WallInstant, _ key: EntryKey, under expiration: Expiration) -> Bool {
        facts[Int(slot)].validity.contains(now, key, lastUse: facts[Int(slot)].stamp, under: expiration)
    }
}

extension LRUList.Item where Key == EntryKey {
    /// Whether a reader may have the entry now.
    @usableFromInline package func isValid(at now: WallInstant, _ key: EntryKey, under expiration: Expiration = .never) -> Bool {
        validity.contains(now, key, lastUse: stamp, under: expiration)
    }
}

extension LRUList: Sendable where Key: Sendable, Payload: Sendable {}
extension LRUList.Item: Sendable where Payload: Sendable {}
extension LRUList.Facts: Sendable {}
extension LRUList.Links: Sendable {}

// MARK: Checking

extension LRUList {
    /// Stops if the list is not whole: for tests. O(n).
    @usableFromInline package func checkInvariants() {
        var (slot, seen, sum, memoryOnly) = (links[0].older, 0, 0, 0)
        while slot != 0 {
            precondition(payloads[Int(slot)] != nil, "A linked slot without an entry.")
            precondition(keys[Int(slot)].flatMap { slots[$0] } == slot, "A linked entry that its key does not lead to.")
            precondition(links[Int(links[Int(slot)].older)].newer == slot, "Links that disagree.")
            (seen, sum, memoryOnly) = (seen + 1, sum + facts[Int(slot)].cost, memoryOnly + (facts[Int(slot)].row == 0 ? 1 : 0))
            slot = links[Int(slot)].older
        }
        precondition(seen == slots.count, "\(slots.count) keys lead to \(seen) entries.")
        precondition(sum == bytes, "Counted \(bytes) bytes, found \(sum).")
        precondition(memoryOnly == memoryOnlyCount, "Counted \(memoryOnlyCount) entries memoryOnly in memory, found \(memoryOnly).")
    }
}
