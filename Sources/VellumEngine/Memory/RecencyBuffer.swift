public import VellumCore

/// Last uses of entries that are not in memory, until the disk has written them down.
///
/// New uses *wait*. When the disk asks, all that wait *leave* together, in the order of entries, because neighbours share pages; the
/// disk takes them in parts. What it took is still known until it is committed, and waits again if that failed.
///
/// Uses are not picked one by one from those that wait: a dictionary that is emptied from one end while it is filled everywhere becomes
/// so dense at the other that each look at it takes microseconds.
///
/// - Complexity: O(1) for each use, but for sorting what leaves, which is done outside the lock around this.
@usableFromInline
struct RecencyBuffer: Sendable {
    @usableFromInline private(set) var waiting: [Int64: UseStamp] = [:]
    // Those that left and are not committed yet, unless a later one is known.
    @usableFromInline private(set) var leaving: [Int64: UseStamp] = [:]
    // What left and was not taken yet, the last first.
    @usableFromInline private(set) var untaken: [Touch] = []
    private var taken: [Touch] = []

    init() {}

    /// How many the disk has not taken, or a few more.
    @inlinable var count: Int { waiting.count + untaken.count }

    /// Whether any wait.
    @inlinable var hasWaiting: Bool { !waiting.isEmpty }

    /// Adds a use.
    @inlinable
    mutating func add(row: Int64, stamp: UseStamp) {
        guard stamp >= self.stamp(row: row) ?? .never else { return }
        waiting[row] = stamp
        if !leaving.isEmpty { leaving[row] = nil }
    }

    /// Forgets the use of an entry of which memory holds a later one.
    @inlinable
    mutating func remove(row: Int64) {
        // Most often there is none, and a look costs less than a removal.
        if !waiting.isEmpty { waiting[row] = nil }
        if !leaving.isEmpty { leaving[row] = nil }
    }

    mutating func removeAll() { self = RecencyBuffer() }

    /// The last use of the entry that may not be committed yet.
    @inlinable
    func stamp(row: Int64) -> UseStamp? { waiting[row] ?? (leaving.isEmpty ? nil : leaving[row]) }

    /// Everything that may not be committed yet.
    var all: [Int64: UseStamp] { waiting.merging(leaving) { max($0, $1) } }

    // MARK: Telling the disk

    /// Lets what waits leave, if everything that left before was taken: it is to be sorted, outside the lock, and brought to ``line(up:)``.
    mutating func leave() -> [Touch] {
        guard untaken.isEmpty, !waiting.isEmpty else { return [] }
        let uses = waiting.map { Touch(row: $0.key, stamp: $0.value) }
        if leaving.isEmpty { leaving = waiting } else { leaving.merge(waiting) { max($0, $1) } }
        waiting = [:]
        return uses
    }

    /// - Parameter sorted: By entry, the last first.
    mutating func line(up sorted: [Touch]) {
        if untaken.isEmpty { untaken = sorted } else { untaken.insert(contentsOf: sorted, at: 0) }
    }

    /// Hands out the next of those that leave.
    mutating func take(_ limit: Int) -> [Touch] {
        var uses: [Touch] = []
        while uses.count < limit, let use = untaken.popLast() {
            if leaving[use.row] == use.stamp { uses.append(use) }
        }
        taken += uses
        return uses
    }

    /// Notes uses that the disk takes without their having waited.
    mutating func take(_ uses: [Touch]) {
        for use in uses { leaving[use.row] = max(use.stamp, leaving[use.row] ?? .never) }
        taken += uses
    }

    /// What was taken is committed, or must be told again.
    mutating func finish(written: Bool) {
        for use in taken where leaving[use.row] == use.stamp {
            leaving[use.row] = nil
            if !written { waiting[use.row] = use.stamp }
        }
        taken = []
        if leaving.isEmpty { leaving = [:] }  // An empty one keeps its memory.
    }
}
