/// Entries in exact order of use: a dictionary of indices into a doubly linked list that is stored in arrays.
///
/// A value type without a lock, clock or limit; its owner decides when to evict the oldest entry. Removed payloads are returned, so that
/// the owner releases them outside its lock. Links are indices, so a list of a million entries is freed without recursion. Links are stored
/// apart from the entries, so that moving an entry to the front touches eight bytes of each neighbour.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
@usableFromInline
package struct LRUList<Key: Hashable, Payload, Metadata> {
    /// An entry: its payload, its cost toward a limit, and metadata that the owner reads without touching the payload.
    @frozen
    @usableFromInline
    package struct Item {
        @usableFromInline package var payload: Payload
        @usableFromInline package var cost: Int
        @usableFromInline package var metadata: Metadata

        @inlinable
        package init(payload: Payload, cost: Int, metadata: Metadata) {
            self.payload = payload
            self.cost = cost
            self.metadata = metadata
        }
    }

    /// The index of an entry, valid while the entry is in the list.
    @usableFromInline package typealias Slot = Int32

    /// The cost and metadata of an entry, stored apart from the payload, so that reading them retains nothing.
    @usableFromInline package struct Facts {
        @usableFromInline package var cost: Int
        @usableFromInline package var metadata: Metadata

        @inlinable
        package init(cost: Int, metadata: Metadata) {
            self.cost = cost
            self.metadata = metadata
        }
    }

    @usableFromInline package struct Links {
        @usableFromInline package var newer: Slot
        @usableFromInline package var older: Slot

        @inlinable
        package init(newer: Slot, older: Slot) {
            self.newer = newer
            self.older = older
        }
    }

    @usableFromInline package var slots: [Key: Slot] = [:]
    // Slot 0 is the sentinel of the ring. The slot older than it is the newest entry, the slot newer than it the oldest.
    @usableFromInline package var links: ContiguousArray<Links> = [Links(newer: 0, older: 0)]
    // The facts of slot n are at index n - 1, because slot 0 has none. The metadata of a free slot stays until the slot is reused.
    @usableFromInline package var facts: ContiguousArray<Facts> = []
    @usableFromInline package var payloads: ContiguousArray<Payload?> = [nil]
    @usableFromInline package var keys: ContiguousArray<Key?> = [nil]
    // The head of the list of free slots, linked by `older`; 0 ends the list.
    @usableFromInline package var firstFree: Slot = 0

    /// The sum of the costs.
    @usableFromInline package var totalCost = 0

    @usableFromInline package init() {}

    @inlinable
    package var count: Int { slots.count }

    // MARK: Reading

    @inlinable
    package func slot(of key: Key) -> Slot? { slots[key] }

    @inlinable
    package subscript(metadataOf slot: Slot) -> Metadata {
        get { facts[Int(slot) - 1].metadata }
        _modify { yield &facts[Int(slot) - 1].metadata }
    }

    @inlinable
    package func payload(_ slot: Slot) -> Payload? { payloads[Int(slot)] }

    /// Returns the entry under the key without moving it.
    @inlinable
    package func peek(_ key: Key) -> Item? { slots[key].flatMap(item) }

    @inlinable
    package func item(_ slot: Slot) -> Item? {
        let facts = facts[Int(slot) - 1]
        return payloads[Int(slot)].map { Item(payload: $0, cost: facts.cost, metadata: facts.metadata) }
    }

    /// Returns the most recently used entries, newest first. O(limit).
    @usableFromInline package func newest(_ limit: Int) -> [(key: Key, item: Item)] {
        var found: [(key: Key, item: Item)] = []
        var slot = links[0].older
        while slot != 0, found.count < limit {
            if let key = keys[Int(slot)], let item = item(slot) { found.append((key, item)) }
            slot = links[Int(slot)].older
        }
        return found
    }

    /// The key of the least recently used entry; `nil` if the list is empty.
    @inlinable
    package var oldestKey: Key? {
        let slot = links[0].newer
        return slot == 0 ? nil : keys[Int(slot)]
    }

    // MARK: Changing

    /// Moves the entry to the front.
    @inlinable
    package mutating func moveToFront(_ slot: Slot) {
        guard links[0].older != slot else { return }
        unlink(slot)
        linkAtFront(slot)
    }

    /// Inserts the entry at the front, replacing the entry of the same key. Returns its slot and the replaced entry.
    @inlinable
    @discardableResult
    package mutating func insert(_ item: Item, forKey key: Key) -> (slot: Slot, old: Item?) {
        totalCost += item.cost
        if let slot = slots[key] {
            let old = self.item(slot)
            totalCost -= facts[Int(slot) - 1].cost
            (facts[Int(slot) - 1], payloads[Int(slot)]) = (Facts(cost: item.cost, metadata: item.metadata), item.payload)
            moveToFront(slot)
            return (slot, old)
        }
        let slot = takeSlot(key, item)
        slots[key] = slot
        linkAtFront(slot)
        return (slot, nil)
    }

    /// Removes the entry and returns it.
    @inlinable
    package mutating func remove(_ key: Key) -> Item? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        unlink(slot)
        let item = item(slot)
        totalCost -= facts[Int(slot) - 1].cost
        (payloads[Int(slot)], keys[Int(slot)]) = (nil, nil)
        links[Int(slot)].older = firstFree
        firstFree = slot
        return item
    }

    /// Replaces the payload under the key with another form of the same value.
    @usableFromInline package mutating func exchange(_ key: Key, _ replacement: (Payload) -> Payload?) {
        guard let slot = slots[key], let payload = payloads[Int(slot)], let new = replacement(payload) else { return }
        payloads[Int(slot)] = new
    }

    /// Removes every entry, releases the list's memory, and returns the payloads. O(n).
    @usableFromInline package mutating func removeAll() -> [Payload] {
        let all = payloads.compactMap { $0 }
        self = LRUList()
        return all
    }

    @inlinable
    mutating func takeSlot(_ key: Key, _ item: Item) -> Slot {
        let new = Facts(cost: item.cost, metadata: item.metadata)
        if firstFree != 0 {
            let slot = firstFree
            firstFree = links[Int(slot)].older
            (facts[Int(slot) - 1], payloads[Int(slot)], keys[Int(slot)]) = (new, item.payload, key)
            return slot
        }
        links.append(Links(newer: 0, older: 0))
        facts.append(new)
        payloads.append(item.payload)
        keys.append(key)
        return Slot(links.count - 1)
    }

    // MARK: The ring

    @inlinable
    mutating func unlink(_ slot: Slot) {
        let (newer, older) = (links[Int(slot)].newer, links[Int(slot)].older)
        links[Int(newer)].older = older
        links[Int(older)].newer = newer
    }

    @inlinable
    mutating func linkAtFront(_ slot: Slot) {
        let second = links[0].older
        links[Int(slot)] = Links(newer: 0, older: second)
        links[Int(second)].newer = slot
        links[0].older = slot
    }
}

extension LRUList: Sendable where Key: Sendable, Payload: Sendable, Metadata: Sendable {}
extension LRUList.Item: Sendable where Payload: Sendable, Metadata: Sendable {}
extension LRUList.Facts: Sendable where Metadata: Sendable {}
extension LRUList.Links: Sendable {}

extension LRUList {
    /// Stops the process if the tables are inconsistent. For tests. O(n).
    package func checkInvariants() {
        var (slot, seen, sum) = (links[0].older, 0, 0)
        while slot != 0 {
            precondition(payloads[Int(slot)] != nil, "A linked slot has an entry.")
            precondition(keys[Int(slot)].flatMap { slots[$0] } == slot, "The key of a linked entry leads to it.")
            precondition(links[Int(links[Int(slot)].older)].newer == slot, "Links agree.")
            (seen, sum) = (seen + 1, sum + facts[Int(slot) - 1].cost)
            slot = links[Int(slot)].older
        }
        precondition(seen == slots.count, "\(slots.count) keys lead to \(seen) entries.")
        precondition(sum == totalCost, "The costs add up to \(sum), not \(totalCost).")
    }
}
