/// One access of one entry: a position in the eviction order.
@frozen
@usableFromInline package struct Touch: Hashable, Sendable {
    /// The entry's id in its archive.
    @usableFromInline package var entryID: Int64
    /// When the entry was used.
    @usableFromInline package var stamp: UseStamp

    /// Creates a touch of an entry.
    @inlinable
    package init(entryID: Int64, stamp: UseStamp) {
        self.entryID = entryID
        self.stamp = stamp
    }
}

/// The touches of entries that are not in memory, until they are on disk.
///
/// New touches are *waiting*. ``drain()`` makes all waiting touches *leaving* together, to be
/// sorted by entry, because neighbouring entries share pages. The disk takes them in batches. A
/// touch stays known until it is committed, and is waiting again if the commit failed.
///
/// Touches are not taken one by one from the dictionary of waiting touches: a dictionary that is
/// emptied from one end while it is filled everywhere becomes so dense at the other end that each
/// lookup takes microseconds.
///
/// - Complexity: O(1) for each touch, except for sorting, which happens outside the owner's lock.
@usableFromInline
struct RecencyBuffer: Sendable {
    @usableFromInline private(set) var waiting: [Int64: UseStamp] = [:]
    // Touches that were drained and are not committed yet, except those with a later touch.
    @usableFromInline private(set) var leaving: [Int64: UseStamp] = [:]
    // Drained touches that were not taken yet, in reverse order.
    @usableFromInline private(set) var untaken: [Touch] = []
    private var taken: [Touch] = []

    /// An upper bound of the number of touches to take.
    @inlinable var count: Int { waiting.count + untaken.count }

    /// Whether any touch is waiting.
    @inlinable var hasWaiting: Bool { !waiting.isEmpty }

    /// Adds a touch.
    @inlinable
    mutating func add(entryID: Int64, stamp: UseStamp) {
        guard stamp >= self.stamp(entryID: entryID) ?? .never else { return }
        waiting[entryID] = stamp
        if !leaving.isEmpty { leaving[entryID] = nil }
    }

    /// Drops the touch of an entry, because memory holds a later one.
    @inlinable
    mutating func remove(entryID: Int64) {
        // Usually both are empty, and the check is cheaper than a removal.
        if !waiting.isEmpty { waiting[entryID] = nil }
        if !leaving.isEmpty { leaving[entryID] = nil }
    }

    mutating func removeAll() { self = RecencyBuffer() }

    /// Returns the last touch of the entry that may not be committed yet.
    @inlinable
    func stamp(entryID: Int64) -> UseStamp? {
        waiting[entryID] ?? (leaving.isEmpty ? nil : leaving[entryID])
    }

    /// All touches that may not be committed yet.
    var all: [Int64: UseStamp] { waiting.merging(leaving) { max($0, $1) } }

    // MARK: Writing to the disk

    /// Returns all waiting touches, if all drained touches were taken. The caller sorts them
    /// outside the lock and passes them to ``enqueue(_:)``.
    mutating func drain() -> [Touch] {
        guard untaken.isEmpty, !waiting.isEmpty else { return [] }
        let uses = waiting.map { Touch(entryID: $0.key, stamp: $0.value) }
        if leaving.isEmpty {
            leaving = waiting
        } else {
            leaving.merge(waiting) { max($0, $1) }
        }
        waiting = [:]
        return uses
    }

    /// - Parameter sorted: The drained touches in descending order of entries.
    mutating func enqueue(_ sorted: [Touch]) {
        if untaken.isEmpty { untaken = sorted } else { untaken.insert(contentsOf: sorted, at: 0) }
    }

    /// Takes the next drained touches.
    mutating func take(_ limit: Int) -> [Touch] {
        var uses: [Touch] = []
        while uses.count < limit, let use = untaken.popLast() {
            if leaving[use.entryID] == use.stamp { uses.append(use) }
        }
        taken += uses
        return uses
    }

    /// Records touches that are taken directly from the list of entries.
    mutating func take(_ uses: [Touch]) {
        for use in uses {
            leaving[use.entryID] = max(use.stamp, leaving[use.entryID] ?? .never)
        }
        taken += uses
    }

    /// Ends a batch: its touches are committed, or waiting again.
    mutating func finish(written: Bool) {
        for use in taken where leaving[use.entryID] == use.stamp {
            leaving[use.entryID] = nil
            if !written { waiting[use.entryID] = use.stamp }
        }
        taken = []
        if leaving.isEmpty { leaving = [:] }  // Releases the capacity of the dictionary.
    }
}
