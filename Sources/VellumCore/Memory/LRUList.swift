/// Entries and the order in which they were used: a dictionary of indices into arrays.
///
/// A value type without a lock, clock or limit; its owner decides when to evict the oldest entry. Removed payloads are returned, so that
/// the owner releases them outside its lock.
///
/// A use changes nothing but the entry's stamp. The order is found when an entry has to go: see ``UseOrder``. So a hit touches no other entry,
/// and a list that never evicts keeps no order at all.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
@usableFromInline
package struct LRUList<Key: Hashable, Payload, Metadata> {
    /// An entry: its payload, its cost toward a limit, its last use, and metadata that the owner reads without touching the payload.
    @frozen
    @usableFromInline
    package struct Item {
        @usableFromInline package var payload: Payload
        @usableFromInline package var cost: Int
        @usableFromInline package var stamp: UseStamp
        @usableFromInline package var metadata: Metadata

        @inlinable
        package init(payload: Payload, cost: Int, stamp: UseStamp, metadata: Metadata) {
            self.payload = payload
            self.cost = cost
            self.stamp = stamp
            self.metadata = metadata
        }
    }

    /// The index of an entry, valid while the entry is in the list.
    @usableFromInline package typealias Slot = Int32

    /// A place for an entry. Where threads hit, its fields are read one by one, so that only a payload that is returned is retained.
    @usableFromInline package struct Place {
        /// The cost; of a free slot the next free one.
        @usableFromInline package var cost: Int
        @usableFromInline package var stamp: UseStamp
        /// Of a free slot, that of its last entry.
        @usableFromInline package var metadata: Metadata
        /// `nil` in a free slot, as the key is.
        @usableFromInline package var payload: Payload?
        @usableFromInline package var key: Key?
        /// Whether ``order`` has the slot.
        @usableFromInline package var isOrdered = false

        @inlinable
        init(_ item: Item, _ key: Key) {
            (cost, stamp, metadata) = (item.cost, item.stamp, item.metadata)
            (payload, self.key) = (item.payload, key)
        }

        @inlinable var item: Item? { payload.map { Item(payload: $0, cost: cost, stamp: stamp, metadata: metadata) } }

        @inlinable
        mutating func set(_ item: Item) {
            (cost, stamp, metadata) = (item.cost, item.stamp, item.metadata)
            payload = item.payload
        }
    }

    @usableFromInline package var slots: [Key: Slot] = [:]
    @usableFromInline package var places: ContiguousArray<Place> = []
    /// The head of the list of free slots; -1 ends the list.
    @usableFromInline package var firstFree: Slot = -1
    /// The order of the slots; `nil` until an entry has to go.
    @usableFromInline package var order: UseOrder?

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
        get { places[Int(slot)].metadata }
        _modify { yield &places[Int(slot)].metadata }
    }

    @inlinable
    package func stamp(of slot: Slot) -> UseStamp { places[Int(slot)].stamp }

    @inlinable
    package func payload(_ slot: Slot) -> Payload? { places[Int(slot)].payload }

    /// Returns the entry under the key without moving it.
    @inlinable
    package func peek(_ key: Key) -> Item? { slots[key].flatMap(item) }

    @inlinable
    package func item(_ slot: Slot) -> Item? { places[Int(slot)].item }

    /// Returns the most recently used entries of those that `isIncluded` accepts, newest first. O(n), plus O(m log m) for m of them.
    @usableFromInline package func newest(
        _ limit: Int = .max, where isIncluded: (Metadata) -> Bool = { _ in true }
    ) -> [(key: Key, item: Item)] {
        let found = places.indices.filter { places[$0].key != nil && isIncluded(places[$0].metadata) }
        return found.sorted { places[$0].stamp > places[$1].stamp }.prefix(limit).compactMap { slot in
            guard let key = places[slot].key, let item = places[slot].item else { return nil }
            return (key, item)
        }
    }

    /// Returns the least recently used entry; `nil` if the list is empty.
    ///
    /// - Complexity: O(log n) for each entry that was used since it was last looked at, and O(n) for the first call.
    @inlinable
    package mutating func oldest() -> (key: Key, stamp: UseStamp)? {
        if order == nil { arrange() }
        while let (slot, stamp) = order?.first {
            guard let key = places[Int(slot)].key else {
                places[Int(slot)].isOrdered = false
                order?.removeFirst()
                continue
            }
            if places[Int(slot)].stamp <= stamp { return (key, stamp) }
            order?.delayFirst(until: places[Int(slot)].stamp)
        }
        return nil
    }

    @usableFromInline
    mutating func arrange() {
        var stamps: [(Slot, UseStamp)] = []
        stamps.reserveCapacity(count)
        for slot in places.indices where places[slot].key != nil {
            places[slot].isOrdered = true
            stamps.append((Slot(slot), places[slot].stamp))
        }
        order = UseOrder(stamps)
    }

    // MARK: Changing

    /// Makes the stamp the last use of the entry.
    @inlinable
    package mutating func use(_ slot: Slot, _ stamp: UseStamp) { places[Int(slot)].stamp = stamp }

    /// Inserts the entry, replacing the entry of the same key. Returns its slot and the replaced entry.
    @inlinable
    @discardableResult
    package mutating func insert(_ item: Item, forKey key: Key) -> (slot: Slot, old: Item?) {
        totalCost += item.cost
        if let slot = slots[key] {
            let old = self.item(slot)
            totalCost -= places[Int(slot)].cost
            places[Int(slot)].set(item)
            return (slot, old)
        }
        let slot = takeSlot(key, item)
        slots[key] = slot
        if order != nil, !places[Int(slot)].isOrdered {
            places[Int(slot)].isOrdered = true
            order?.insert(slot, item.stamp)
        }
        return (slot, nil)
    }

    /// Removes the entry and returns it.
    @inlinable
    package mutating func remove(_ key: Key) -> Item? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        let item = item(slot)
        totalCost -= places[Int(slot)].cost
        (places[Int(slot)].payload, places[Int(slot)].key) = (nil, nil)
        places[Int(slot)].cost = Int(firstFree)
        firstFree = slot
        return item
    }

    /// Replaces the payload under the key with another form of the same value.
    @usableFromInline package mutating func exchange(_ key: Key, _ replacement: (Payload) -> Payload?) {
        guard let slot = slots[key], let payload = places[Int(slot)].payload, let new = replacement(payload) else { return }
        places[Int(slot)].payload = new
    }

    /// Removes every entry, releases the list's memory, and returns the payloads. O(n).
    @usableFromInline package mutating func removeAll() -> [Payload] {
        let all = places.compactMap(\.payload)
        self = LRUList()
        return all
    }

    @inlinable
    mutating func takeSlot(_ key: Key, _ item: Item) -> Slot {
        if firstFree >= 0 {
            let slot = firstFree
            firstFree = Slot(places[Int(slot)].cost)
            places[Int(slot)].set(item)
            places[Int(slot)].key = key
            return slot
        }
        places.append(Place(item, key))
        return Slot(places.count - 1)
    }
}

extension LRUList: Sendable where Key: Sendable, Payload: Sendable, Metadata: Sendable {}
extension LRUList.Item: Sendable where Payload: Sendable, Metadata: Sendable {}
extension LRUList.Place: Sendable where Key: Sendable, Payload: Sendable, Metadata: Sendable {}

extension LRUList {
    /// Stops the process if the tables are inconsistent. For tests. O(n).
    package func checkInvariants() {
        var (seen, sum) = (0, 0)
        for (slot, place) in places.enumerated() {
            precondition((place.payload != nil) == (place.key != nil), "A slot has a key and a payload, or neither.")
            guard let key = place.key else { continue }
            precondition(slots[key] == Slot(slot), "The key of an entry leads to it.")
            precondition(order == nil || place.isOrdered, "The order has every entry.")
            (seen, sum) = (seen + 1, sum + place.cost)
        }
        precondition(seen == slots.count, "\(slots.count) keys lead to \(seen) entries.")
        precondition(sum == totalCost, "The costs add up to \(sum), not \(totalCost).")
        guard let order else { return }
        order.checkInvariants()
        precondition(order.count == places.count(where: \.isOrdered), "The order has each slot once.")
    }
}
