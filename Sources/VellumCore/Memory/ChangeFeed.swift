public import Synchronization

/// The changes that other processes make to what a memory cache is filled from.
@usableFromInline package protocol ChangeFeed: AnyObject, Sendable {
    /// The number of the last announced change, by any process.
    var generation: Generation { get }
    /// The hash that keys are announced by.
    var hash: SeededHash { get }

    /// Returns what other processes changed since the generation was `old`.
    ///
    /// - Complexity: O(changes).
    func changes(after old: UInt64, through new: UInt64) -> ChangedKeys

    /// Whether another process may currently be writing the key, or one with the same hash.
    func isChanging(_ key: EntryKey) -> Bool
}

/// What happened to a key. The numbers are those of the change page (`Format.md`), and final.
@usableFromInline package enum ChangeKind: UInt8, Hashable, Sendable, CaseIterable {
    case written = 0
    /// By a caller.
    case removed = 1
    /// By the limit of the archive, or because its age has ended, or because a migration gave its
    /// value another key.
    case evicted = 2
    /// By a caller, with every key that has its prefix. The hash is that of the prefix.
    case prefixRemoved = 3
    /// By a caller, with every entry of a group. The hash is that of the group's name; the entries
    /// are announced one by one.
    case groupRemoved = 4
}

/// The keys of one archive that changed.
@usableFromInline package struct ChangedKeys: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        /// Its ``SeededHash``, or that of a prefix.
        package var hash: UInt64
        package var kind: ChangeKind

        package init(_ hash: UInt64, _ kind: ChangeKind) {
            self.hash = hash
            self.kind = kind
        }
    }

    /// The changes that are known one by one.
    package private(set) var single: [Key] = []
    /// A bit for each kind of changes of which only the archive is known.
    private var bitsOfAll: UInt8 = 0
    /// Whether anything may have happened to any key: the change page does not have all changes any
    /// more.
    private(set) var isUnknown = false

    package init() {}

    /// Changes of that kind that may concern every key.
    package init(all kind: ChangeKind) { insert(all: kind) }

    /// Any change of any key.
    package static var unknown: ChangedKeys {
        var changes = ChangedKeys()
        changes.isUnknown = true
        return changes
    }

    package var isEmpty: Bool { single.isEmpty && isOfSingleKeys }

    /// Whether each changed key is known.
    package var isOfSingleKeys: Bool { bitsOfAll == 0 && !isUnknown }

    /// How many of the changes an observer need not be told of again: the single ones, if there are
    /// no others.
    package var count: Int { isOfSingleKeys ? single.count : .max }

    /// Whether changes of that kind may concern every key.
    func areOfAll(_ kind: ChangeKind) -> Bool { bitsOfAll & kind.bit != 0 }

    /// The kinds of which changes may concern every key.
    package var kindsOfAll: [ChangeKind] {
        bitsOfAll == 0 ? [] : ChangeKind.allCases.filter(areOfAll)
    }

    /// Whether the key with that hash may have changed. A prefix may be that of any key.
    package func mayContain(_ hash: UInt64) -> Bool {
        !isOfSingleKeys || single.contains { $0.hash == hash || $0.kind == .prefixRemoved }
    }

    /// Adds a change. If there are `most` single ones, those of the most frequent kind become a
    /// change of all keys.
    package mutating func insert(_ key: Key, most: Int) {
        guard !areOfAll(key.kind) else { return }
        if single.count >= most { collapse() }
        if !areOfAll(key.kind) { single.append(key) }
    }

    private mutating func collapse() {
        let counts = ChangeKind.allCases.map { kind in
            (kind, single.count { $0.kind == kind })
        }
        if let (kind, _) = counts.max(by: { $0.1 < $1.1 }) {
            insert(all: kind)
        }
    }

    package mutating func insert(all kind: ChangeKind) {
        bitsOfAll |= kind.bit
        // A prefix or a group that is not known may be any.
        if kind == .prefixRemoved || kind == .groupRemoved { bitsOfAll |= ChangeKind.removed.bit }
        single.removeAll { bitsOfAll & $0.kind.bit != 0 }
    }

    /// Adds others, but for the first `told` single ones.
    package mutating func add(_ others: ChangedKeys, after told: Int, most: Int) {
        for kind in others.kindsOfAll { insert(all: kind) }
        isUnknown = isUnknown || others.isUnknown
        for key in others.single.dropFirst(told) { insert(key, most: most) }
    }
}

extension ChangeKind {
    fileprivate var bit: UInt8 { 1 << rawValue }
}

/// A counter in shared memory that other processes may change.
///
/// Unchecked because the counter is atomic. The change page that contains it stays mapped.
@frozen
@usableFromInline package struct Generation: @unchecked Sendable {
    @usableFromInline let cell: UnsafePointer<Atomic<UInt64>>

    @usableFromInline package init(_ cell: UnsafePointer<Atomic<UInt64>>) { self.cell = cell }

    @inlinable
    package var value: UInt64 { cell.pointee.load(ordering: .acquiring) }
}

/// The position of one of this process's commits among the changes of an archive.
@frozen
@usableFromInline package struct OwnChange: Hashable, Sendable {
    /// The generation before the commit.
    @usableFromInline package var previous: UInt64
    /// The generation that the commit created.
    @usableFromInline package var last: UInt64

    @usableFromInline package init(previous: UInt64, last: UInt64) {
        self.previous = previous
        self.last = last
    }
}
