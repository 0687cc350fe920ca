public import Synchronization

/// Entries and the order in which they were used: a ``SlotTable`` that leads to places in one piece
/// of memory.
///
/// It has no lock, clock or limit; its owner decides when to evict the oldest entry. Removed
/// payloads are returned, so that the owner releases them outside its lock. Reading and
/// ``use(_:_:marksDirty:)`` are safe on several threads while nobody changes the list: a use
/// changes nothing but one word of the entry.
///
/// The order is found when an entry has to go: see ``UseOrder``. So a hit touches no other entry,
/// and a list that never evicts keeps no order at all.
///
/// The owner passes the hash of each key, of which the upper half is used. Equality is decided by
/// the keys.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
@usableFromInline
package struct LRUList<Key: Equatable, Payload, Metadata>: ~Copyable {
    /// An entry: its payload, its cost toward a limit, its last use, and metadata that the owner
    /// reads without touching the payload.
    @frozen
    @usableFromInline
    package struct Item {
        @usableFromInline package var payload: Payload
        @usableFromInline package var cost: Int
        @usableFromInline package var stamp: UseStamp
        /// Whether the last use has yet to be written to the disk.
        @usableFromInline package var isDirty: Bool
        @usableFromInline package var metadata: Metadata

        @inlinable
        package init(
            payload: Payload,
            cost: Int,
            stamp: UseStamp,
            isDirty: Bool = false,
            metadata: Metadata
        ) {
            self.payload = payload
            self.cost = cost
            self.stamp = stamp
            self.isDirty = isDirty
            self.metadata = metadata
        }
    }

    /// The index of an entry, valid while the entry is in the list.
    @usableFromInline package typealias Slot = Int32

    /// A place for an entry. Its fields are read one by one, so that only a payload that is
    /// returned is retained.
    @usableFromInline
    struct Place: ~Copyable {
        /// `nil` in a free place, which has no payload.
        @usableFromInline var key: Key?
        @usableFromInline let lastUse: Atomic<UInt64>
        /// Of a free place, that of its last entry.
        @usableFromInline var metadata: Metadata
        /// The cost; of a free place the next free one.
        @usableFromInline var cost: Int
        /// Where the table leads to the place.
        @usableFromInline var tag: UInt32
        /// Whether ``order`` has the slot.
        @usableFromInline var isOrdered = false

        @inlinable
        init(_ item: Item, _ key: Key, _ tag: UInt32) {
            self.key = key
            lastUse = Atomic(LastUse(item.stamp, isDirty: item.isDirty).word)
            metadata = item.metadata
            cost = item.cost
            self.tag = tag
        }

        /// A use that another thread has made meanwhile stays the last one: the order has no stamp
        /// that is later than it.
        @inlinable
        mutating func set(_ item: Item) {
            lastUse.store(
                LastUse(max(item.stamp, use.stamp), isDirty: item.isDirty).word,
                ordering: .relaxed
            )
            metadata = item.metadata
            cost = item.cost
        }

        @inlinable var use: LastUse { LastUse(word: lastUse.load(ordering: .relaxed)) }
    }

    /// The stamp of a last use, with a bit that says whether it is dirty.
    @frozen
    @usableFromInline
    struct LastUse {
        @usableFromInline var word: UInt64

        @inlinable static var dirty: UInt64 { 1 << 63 }

        @inlinable
        init(word: UInt64) { self.word = word }

        @inlinable
        init(_ stamp: UseStamp, isDirty: Bool) {
            word = UInt64(bitPattern: stamp.rawValue) & ~Self.dirty | (isDirty ? Self.dirty : 0)
        }

        @inlinable var stamp: UseStamp { UseStamp(rawValue: Int64(bitPattern: word & ~Self.dirty)) }
        @inlinable var isDirty: Bool { word & Self.dirty != 0 }
    }

    @usableFromInline var table = SlotTable()
    @usableFromInline var places: UnsafeMutablePointer<Place>
    /// The payloads of the places that hold an entry. Apart, so that a reader takes out of one what
    /// it needs, and copies nothing else.
    @usableFromInline var payloads: UnsafeMutablePointer<Payload>
    @usableFromInline var capacity: Int
    /// The number of places that hold an entry or held one.
    @usableFromInline var placeCount = 0
    /// The head of the list of free places; -1 ends the list.
    @usableFromInline var firstFree: Slot = -1
    /// The order of the slots; `nil` until an entry has to go.
    @usableFromInline var order: UseOrder?

    /// The sum of the costs.
    @usableFromInline package var totalCost = 0

    @usableFromInline package init() {
        capacity = 8
        places = .allocate(capacity: capacity)
        payloads = .allocate(capacity: capacity)
    }

    deinit {
        for slot in 0..<placeCount where places[slot].key != nil {
            (payloads + slot).deinitialize(count: 1)
        }
        payloads.deallocate()
        places.deinitialize(count: placeCount)
        places.deallocate()
    }

    @inlinable package var count: Int { table.count }

    // MARK: Reading

    @inlinable
    package borrowing func slot(of key: Key, hash: UInt64) -> Slot? {
        table.first(SlotTable.tag(hash)) { places[Int($0)].key == key }
    }

    /// The keys whose hashes have the same upper half: usually one at most.
    package borrowing func keys(hash: UInt64) -> [Key] {
        var keys: [Key] = []
        _ = table.first(SlotTable.tag(hash)) { slot in
            if let key = places[Int(slot)].key { keys.append(key) }
            return false
        }
        return keys
    }

    @inlinable
    package subscript(metadataOf slot: Slot) -> Metadata {
        get { places[Int(slot)].metadata }
        set { places[Int(slot)].metadata = newValue }
    }

    @inlinable
    package borrowing func stamp(of slot: Slot) -> UseStamp { places[Int(slot)].use.stamp }

    /// Whether the place holds an entry whose last use is dirty.
    @inlinable
    package borrowing func isDirty(_ slot: Slot) -> Bool {
        slot < placeCount && places[Int(slot)].use.isDirty
    }

    /// The slots of the entries whose last uses are dirty. O(n).
    borrowing func dirtySlots() -> [Slot] {
        (0..<placeCount).filter { places[$0].use.isDirty }.map(Slot.init)
    }

    @inlinable
    package borrowing func key(_ slot: Slot) -> Key? { places[Int(slot)].key }

    @inlinable
    package borrowing func cost(_ slot: Slot) -> Int { places[Int(slot)].cost }

    /// Returns what `take` takes out of the payload of an entry.
    @inlinable
    package borrowing func payload<Result>(
        _ slot: Slot,
        _ take: (borrowing Payload) -> Result
    ) -> Result { take(payloads[Int(slot)]) }

    /// Returns the entry; `nil` if there is none in the place.
    @inlinable
    package borrowing func item(_ slot: Slot) -> Item? {
        let place = Int(slot)
        let use = places[Int(slot)].use
        guard places[place].key != nil else { return nil }
        return Item(
            payload: payloads[place],
            cost: places[place].cost,
            stamp: use.stamp,
            isDirty: use.isDirty,
            metadata: places[place].metadata
        )
    }

    /// Returns the entry; `nil` if there is none in the slot, or no such slot any more.
    package borrowing func held(_ slot: Slot) -> Item? { slot < placeCount ? item(slot) : nil }

    /// Returns the slots of the entries that `isIncluded` accepts, with their last uses. O(n).
    package borrowing func slots(
        where isIncluded: (Metadata) -> Bool
    ) -> [(
        slot: Slot, stamp: UseStamp
    )] {
        (0..<placeCount).compactMap { place in
            guard places[place].key != nil, isIncluded(places[place].metadata) else { return nil }
            return (Slot(place), places[place].use.stamp)
        }
    }

    /// Returns the most recently used entries of those that `isIncluded` accepts, newest first.
    /// O(n), plus O(m log m) for m of them.
    @usableFromInline package borrowing func newest(
        _ limit: Int = .max,
        where isIncluded: (Metadata) -> Bool = { _ in true }
    ) -> [(key: Key, item: Item)] {
        var found: [(key: Key, item: Item)] = []
        for slot in 0..<placeCount {
            guard let key = places[slot].key, isIncluded(places[slot].metadata),
                let item = item(Slot(slot))
            else { continue }
            found.append((key, item))
        }
        return Array(found.sorted { $0.item.stamp > $1.item.stamp }.prefix(limit))
    }

    // MARK: Using

    /// Makes the stamp the last use of the entry, unless it has a later one, and dirty if
    /// `marksDirty`. Safe beside other readers and uses.
    ///
    /// - Returns: Whether the last use is dirty now and was not before.
    @inlinable
    package borrowing func use(_ slot: Slot, _ stamp: UseStamp, marksDirty: Bool) -> Bool {
        var old = places[Int(slot)].use
        while true {
            let new = LastUse(max(stamp, old.stamp), isDirty: old.isDirty || marksDirty)
            let (isDone, found) = places[Int(slot)].lastUse.weakCompareExchange(
                expected: old.word,
                desired: new.word,
                ordering: .relaxed
            )
            if isDone { return new.isDirty && !old.isDirty }
            old = LastUse(word: found)
        }
    }

    // MARK: Changing

    @inlinable
    package mutating func setDirty(_ slot: Slot, _ isDirty: Bool) {
        places[Int(slot)].lastUse.store(
            LastUse(stamp(of: slot), isDirty: isDirty).word,
            ordering: .relaxed
        )
    }

    /// Inserts the entry, replacing the entry of the same key. Returns its slot and the replaced
    /// entry.
    @inlinable
    @discardableResult
    package mutating func insert(
        _ item: Item,
        forKey key: Key,
        hash: UInt64
    ) -> (slot: Slot, old: Item?) {
        totalCost += item.cost
        if let slot = slot(of: key, hash: hash) {
            let old = self.item(slot)
            totalCost -= places[Int(slot)].cost
            places[Int(slot)].set(item)
            payloads[Int(slot)] = item.payload
            return (slot, old)
        }
        let slot = takeSlot(item, key, SlotTable.tag(hash))
        table.insert(slot, SlotTable.tag(hash))
        if order != nil, !places[Int(slot)].isOrdered {
            places[Int(slot)].isOrdered = true
            order?.insert(slot, item.stamp)
        }
        return (slot, nil)
    }

    /// Removes the entry and returns it, with its key, which may run code of a user when it is
    /// released.
    @inlinable
    package mutating func remove(_ slot: Slot) -> (key: Key, item: Item)? {
        guard let key = places[Int(slot)].key,
            let item = item(slot)
        else { return nil }
        table.remove(slot, places[Int(slot)].tag)
        totalCost -= item.cost
        (payloads + Int(slot)).deinitialize(count: 1)
        places[Int(slot)].key = nil
        setDirty(slot, false)
        places[Int(slot)].cost = Int(firstFree)
        firstFree = slot
        return (key, item)
    }

    /// Replaces the payload of an entry with another form of the same value.
    @inlinable
    package mutating func exchange(_ slot: Slot, _ replacement: (Payload) -> Payload?) {
        if let new = replacement(payloads[Int(slot)]) { payloads[Int(slot)] = new }
    }

    /// Removes every entry, releases the list's memory, and returns keys and payloads. O(n).
    @usableFromInline package mutating func removeAll() -> [(key: Key, payload: Payload)] {
        var all: [(key: Key, payload: Payload)] = []
        for slot in 0..<placeCount {
            if let key = places[slot].key { all.append((key, payloads[slot])) }
        }
        self = LRUList()
        return all
    }

    // MARK: Finding the oldest

    /// How an eviction lets readers in between: 64 entries find their places in the order at once.
    /// Once as many have as there are entries, the others find theirs without a pause: readers that
    /// use all entries all the time must not keep an eviction from ending.
    @usableFromInline
    package struct Pace: Sendable {
        @usableFromInline var steps = 64
        @usableFromInline var taken = 0

        @inlinable
        package init() {}

        /// Begins the next turn at the locks.
        @inlinable
        package mutating func begin(_ count: Int) {
            taken += 64 - min(steps, 64)
            steps = taken >= count ? .max : 64
        }
    }

    /// Returns the least recently used entry; `nil` if the list is empty, or if the search goes on
    /// with the next turn.
    ///
    /// - Complexity: O(log n) for each entry that was used since it was last looked at, and O(n)
    ///   for the first call.
    @inlinable
    package mutating func oldest(_ pace: inout Pace) -> Slot? {
        if order == nil { arrange() }
        while let (slot, stamp) = order?.first {
            guard places[Int(slot)].key != nil else {
                places[Int(slot)].isOrdered = false
                order?.removeFirst()
                continue
            }
            let last = self.stamp(of: slot)
            if last <= stamp { return slot }
            guard pace.steps > 0 else { return nil }
            pace.steps -= 1
            order?.delayFirst(until: last)
        }
        return nil
    }

    @inlinable
    mutating func arrange() {
        var stamps: [(Slot, UseStamp)] = []
        stamps.reserveCapacity(count)
        for slot in 0..<placeCount where places[slot].key != nil {
            places[slot].isOrdered = true
            stamps.append((Slot(slot), places[slot].use.stamp))
        }
        order = UseOrder(stamps)
    }

    // MARK: The places

    @inlinable
    mutating func takeSlot(_ item: Item, _ key: Key, _ tag: UInt32) -> Slot {
        if firstFree >= 0 {
            let slot = firstFree
            firstFree = Slot(places[Int(slot)].cost)
            places[Int(slot)].set(item)
            places[Int(slot)].key = key
            places[Int(slot)].tag = tag
            (payloads + Int(slot)).initialize(to: item.payload)
            return slot
        }
        if placeCount == capacity { growPlaces() }
        (places + placeCount).initialize(to: Place(item, key, tag))
        (payloads + placeCount).initialize(to: item.payload)
        placeCount += 1
        return Slot(placeCount - 1)
    }

    @inlinable
    mutating func growPlaces() {
        // No place is free.
        capacity *= 2
        let morePlaces = UnsafeMutablePointer<Place>.allocate(capacity: capacity)
        let morePayloads = UnsafeMutablePointer<Payload>.allocate(capacity: capacity)
        morePlaces.moveInitialize(from: places, count: placeCount)
        morePayloads.moveInitialize(from: payloads, count: placeCount)
        places.deallocate()
        payloads.deallocate()
        places = morePlaces
        payloads = morePayloads
    }
}

// Unchecked because the pointers are the list's own: it is as safe as what it holds.
extension LRUList: @unchecked Sendable where Key: Sendable, Payload: Sendable, Metadata: Sendable {}
extension LRUList.Item: Sendable where Payload: Sendable, Metadata: Sendable {}

extension LRUList {
    /// Stops the process if the tables are inconsistent. For tests. O(n).
    package borrowing func checkInvariants() {
        var seen = 0
        var sum = 0
        var ordered = 0
        for slot in 0..<placeCount {
            ordered += places[slot].isOrdered ? 1 : 0
            guard let key = places[slot].key else { continue }
            let found = self.slot(of: key, hash: UInt64(places[slot].tag) << 32)
            precondition(found == Slot(slot), "The key of an entry leads to it.")
            precondition(order == nil || places[slot].isOrdered, "The order has every entry.")
            seen += 1
            sum += places[slot].cost
        }
        precondition(seen == count, "There are \(seen) entries, not \(count).")
        precondition(
            (0...table.mask).count { table.words[$0] != 0 } == count,
            "The table leads to each entry once."
        )
        precondition(sum == totalCost, "The costs add up to \(sum), not \(totalCost).")
        guard let order else { return }
        order.checkInvariants()
        precondition(order.count == ordered, "The order has each slot once.")
    }
}
