/// Entries in exact order of use: a dictionary into a doubly linked list that lives in two arrays.
///
/// A pure value without a lock, a clock or a limit of its own; ``MemoryTier`` is its shell. What leaves comes back as
/// values for the caller to release, outside whatever lock it holds. Links are indices, so a list of a million
/// entries is freed without recursion, and they stand apart from the entries, so that moving an entry to the front
/// touches eight bytes of each neighbour.
///
/// - Complexity: O(1) for every operation, but for those that say otherwise.
@frozen
public struct LRUList<Payload> {
    /// One entry and what must be known of it.
    @frozen
    public struct Item {
        public var payload: Payload
        /// Encoded bytes.
        public var cost: Int
        /// The last use.
        public var stamp: UseStamp
        /// The disk's handle, 0 for an entry that lives in memory alone.
        public var row: Int64
        public var validity: Validity
        /// Whether the disk has not been told of the last use.
        public var isUntold: Bool

        @inlinable
        public init(payload: Payload, cost: Int, stamp: UseStamp, row: Int64, validity: Validity, isUntold: Bool) {
            self.payload = payload
            self.cost = cost
            self.stamp = stamp
            self.row = row
            self.validity = validity
            self.isUntold = isUntold
        }
    }

    @usableFromInline typealias Slot = Int32

    @usableFromInline struct Node {
        @usableFromInline var key: EntryKey
        @usableFromInline var item: Item?

        @inlinable
        init(key: EntryKey, item: Item?) {
            self.key = key
            self.item = item
        }
    }

    @usableFromInline struct Links {
        @usableFromInline var newer: Slot
        @usableFromInline var older: Slot

        @inlinable
        init(newer: Slot, older: Slot) {
            self.newer = newer
            self.older = older
        }
    }

    @usableFromInline var slots: [EntryKey: Slot] = [:]
    // Slot 0 is no entry: it closes the ring. The one older than it is the newest, the one newer than it the oldest.
    @usableFromInline var nodes: ContiguousArray<Node>
    @usableFromInline var links: ContiguousArray<Links>
    // Slots without an entry, chained by `older`; 0 ends the chain.
    @usableFromInline var firstFree: Slot = 0
    @usableFromInline var untold: ContiguousArray<Slot> = []

    /// The sum of the costs.
    public private(set) var bytes = 0
    /// How many entries the disk does not hold.
    public private(set) var aloneCount = 0

    public init() {
        nodes = [Node(key: EntryKey(""), item: nil)]
        links = [Links(newer: 0, older: 0)]
    }

    @inlinable
    public var count: Int { slots.count }

    // MARK: Reading

    @inlinable
    func slot(of key: EntryKey) -> Slot? { slots[key] }

    /// The entry under the key, without using it.
    public func peek(_ key: EntryKey) -> Item? {
        guard let slot = slots[key] else { return nil }
        return nodes[Int(slot)].item
    }

    /// The most recently used entries, newest first. O(limit).
    public func newest(_ limit: Int) -> [(key: EntryKey, item: Item)] {
        var found: [(key: EntryKey, item: Item)] = []
        var slot = links[0].older
        while slot != 0, found.count < limit {
            let node = nodes[Int(slot)]
            if let item = node.item { found.append((node.key, item)) }
            slot = links[Int(slot)].older
        }
        return found
    }

    /// The key of the least recently used entry.
    public var oldestKey: EntryKey? {
        let slot = links[0].newer
        return slot == 0 ? nil : nodes[Int(slot)].key
    }

    // MARK: Using

    /// Moves the entry to the front under a new stamp. Returns whether it is the first use that the disk must be told of.
    @inlinable
    mutating func touch(_ slot: Slot, stamp: UseStamp) -> Bool {
        moveToFront(slot)
        nodes[Int(slot)].item!.stamp = stamp
        guard !nodes[Int(slot)].item!.isUntold, nodes[Int(slot)].item!.row != 0 else { return false }
        nodes[Int(slot)].item!.isUntold = true
        untold.append(slot)
        return untold.count == 1
    }

    /// Uses that the disk has not been told of, at most `limit`, each handed out once. O(limit).
    public mutating func takeUntold(_ limit: Int) -> [Use] {
        var uses: [Use] = []
        while uses.count < limit, let slot = untold.popLast() {
            guard let item = nodes[Int(slot)].item, item.isUntold else { continue }
            nodes[Int(slot)].item!.isUntold = false
            uses.append(Use(row: item.row, stamp: item.stamp))
        }
        return uses
    }

    /// The same, all of them, without handing them out. O(n).
    public func pendingUntold() -> [Use] {
        var uses: [Use] = []
        for slot in Set(untold) {
            guard let item = nodes[Int(slot)].item, item.isUntold else { continue }
            uses.append(Use(row: item.row, stamp: item.stamp))
        }
        return uses
    }

    // MARK: Changing

    /// Puts the entry in front of all others and returns what it replaced.
    public mutating func insert(_ item: Item, forKey key: EntryKey) -> Item? {
        bytes += item.cost
        if item.row == 0 { aloneCount += 1 }
        if let slot = slots[key] {
            let old = nodes[Int(slot)].item
            if let old { forget(old) }
            nodes[Int(slot)].item = item
            moveToFront(slot)
            if item.isUntold { untold.append(slot) }
            return old
        }
        let slot = takeSlot(Node(key: key, item: item))
        slots[key] = slot
        linkAtFront(slot)
        if item.isUntold { untold.append(slot) }
        return nil
    }

    /// Takes the entry out.
    public mutating func remove(_ key: EntryKey) -> Item? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        unlink(slot)
        let item = nodes[Int(slot)].item
        if let item { forget(item) }
        nodes[Int(slot)] = Node(key: nodes[0].key, item: nil)
        links[Int(slot)].older = firstFree
        firstFree = slot
        return item
    }

    /// Notes that the disk no longer holds the entry. Returns whether it is here.
    public mutating func markAlone(_ key: EntryKey) -> Bool {
        guard let slot = slots[key], let item = nodes[Int(slot)].item else { return false }
        if item.row != 0 {
            nodes[Int(slot)].item!.row = 0
            nodes[Int(slot)].item!.isUntold = false
            aloneCount += 1
        }
        return true
    }

    /// Takes everything out and gives the room back. O(n).
    public mutating func removeAll() -> [Item] {
        let items = nodes.compactMap(\.item)
        self = LRUList()
        return items
    }

    private mutating func forget(_ item: Item) {
        bytes -= item.cost
        if item.row == 0 { aloneCount -= 1 }
    }

    private mutating func takeSlot(_ node: Node) -> Slot {
        if firstFree != 0 {
            let slot = firstFree
            firstFree = links[Int(slot)].older
            nodes[Int(slot)] = node
            return slot
        }
        nodes.append(node)
        links.append(Links(newer: 0, older: 0))
        return Slot(nodes.count - 1)
    }

    // MARK: The ring

    @inlinable
    mutating func moveToFront(_ slot: Slot) {
        guard links[0].older != slot else { return }
        unlink(slot)
        linkAtFront(slot)
    }

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

extension LRUList: Sendable where Payload: Sendable {}
extension LRUList.Item: Sendable where Payload: Sendable {}
extension LRUList.Node: Sendable where Payload: Sendable {}
extension LRUList.Links: Sendable {}

// MARK: Checking

extension LRUList {
    /// Stops if the list is not whole: for tests. O(n).
    public func checkInvariants() {
        var (slot, seen, sum, alone) = (links[0].older, 0, 0, 0)
        while slot != 0 {
            guard let item = nodes[Int(slot)].item else { preconditionFailure("A linked slot without an entry.") }
            precondition(slots[nodes[Int(slot)].key] == slot, "A linked entry that its key does not lead to.")
            precondition(links[Int(links[Int(slot)].older)].newer == slot, "Links that disagree.")
            (seen, sum, alone) = (seen + 1, sum + item.cost, alone + (item.row == 0 ? 1 : 0))
            slot = links[Int(slot)].older
        }
        precondition(seen == slots.count, "\(slots.count) keys lead to \(seen) entries.")
        precondition(sum == bytes, "Counted \(bytes) bytes, found \(sum).")
        precondition(alone == aloneCount, "Counted \(aloneCount) entries alone in memory, found \(alone).")
    }
}
