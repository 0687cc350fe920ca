/// The keys that loads and remembered answers depend on, and when each last changed: by this
/// process, or by another one that has announced it (decision 75).
///
/// ```swift
/// let version = keys.watch(key, hash)   // before the row of the key is read
/// …
/// // under the lock of every write
/// if keys.standing(of: hash, since: version) == .unchanged { record(value) }
/// ```
///
/// A pure value. Keys are known by their hashes: another key with the same hash only makes a load
/// start again.
///
/// - Complexity: O(1), except O(watched keys × length²) for the removal of a prefix.
@usableFromInline
package struct WatchedKeys: Sendable {
    /// What is known of a key since it had some version.
    @usableFromInline package enum Standing: Int, Comparable, Sendable {
        /// No caller has written or removed it.
        case unchanged
        /// Too many keys were written at once to name them. The row of the key says whether it was
        /// one of them.
        case maybeWritten
        /// The change page does not have all changes any more. The row says it, if there was one: a
        /// removal of nothing leaves no trace.
        case unknown
        case changed

        @usableFromInline package static func < (one: Standing, other: Standing) -> Bool {
            one.rawValue < other.rawValue
        }
    }

    @usableFromInline
    struct Watch: Sendable {
        var key: EntryKey
        /// The hashes of the groups in which its value is going to be.
        var groups: [UInt64] = []
        var watchers = 0
        /// That of its last change.
        var version: UInt64
        /// That of the last watch that began while another process was writing the key.
        var unknown: UInt64 = 0
    }

    @usableFromInline var watches: [UInt64: Watch] = [:]
    /// The version of the last change of any key.
    private var last: UInt64 = 0
    /// The versions of the last changes that may concern any key.
    private var changeOfAll: UInt64 = 0
    private var writeOfMany: UInt64 = 0
    private var unknownChange: UInt64 = 0

    @usableFromInline
    init() {}

    @inlinable var isEmpty: Bool { watches.isEmpty }

    /// Adds a watcher of the key, and returns the present version.
    ///
    /// - Parameters:
    ///   - groups: The hashes of groups whose removal is one of the key.
    ///   - isChanging: Whether another process is writing the key. Its row may then have either
    ///     value.
    mutating func watch(
        _ key: EntryKey,
        _ hash: UInt64,
        groups: [UInt64] = [],
        isChanging: Bool
    ) -> UInt64 {
        let version = last
        if isChanging { last += 1 }
        var watch = watches[hash] ?? Watch(key: key, version: version)
        watch.watchers += 1
        for group in groups where !watch.groups.contains(group) { watch.groups.append(group) }
        if isChanging { watch.unknown = last }
        watches[hash] = watch
        return version
    }

    /// Removes a watcher of the key.
    mutating func unwatch(_ hash: UInt64) {
        guard let index = watches.index(forKey: hash) else { return }
        watches.values[index].watchers -= 1
        if watches.values[index].watchers == 0 { watches.remove(at: index) }
    }

    /// The hashes of the groups of a watched key.
    func groups(of hash: UInt64) -> [UInt64] { watches[hash]?.groups ?? [] }

    /// - Returns: Of a key that nobody watches, ``Standing/changed``.
    func standing(of hash: UInt64, since version: UInt64) -> Standing {
        guard let watch = watches[hash], max(watch.version, changeOfAll) <= version else {
            return .changed
        }
        if max(watch.unknown, unknownChange) > version { return .unknown }
        return writeOfMany > version ? .maybeWritten : .unchanged
    }

    // MARK: Changes

    /// A caller wrote or removed the key.
    @usableFromInline
    mutating func recordChange(_ hash: UInt64) {
        guard let index = watches.index(forKey: hash) else { return }
        last += 1
        watches.values[index].version = last
    }

    /// These keys may have changed, and all whose values are going to be in groups.
    mutating func recordChange(where isChanged: (EntryKey) -> Bool) {
        last += 1
        for index in watches.values.indices
        where !watches.values[index].groups.isEmpty || isChanged(watches.values[index].key) {
            watches.values[index].version = last
        }
    }

    /// A caller removed every key.
    mutating func recordChangeOfAll() {
        last += 1
        changeOfAll = last
    }

    /// A caller removed every key that begins with a prefix.
    mutating func recordRemoval(ofPrefix prefix: UInt64, _ hash: SeededHash) {
        last += 1
        for index in watches.values.indices where watches.values[index].key.hasPrefix(prefix, hash)
        { watches.values[index].version = last }
    }

    /// A caller removed every entry of a group.
    mutating func recordRemoval(ofGroup group: UInt64) {
        last += 1
        for index in watches.values.indices where watches.values[index].groups.contains(group) {
            watches.values[index].version = last
        }
    }

    /// Others have changed these keys. What they evicted, a load may bring back.
    mutating func record(_ changes: ChangedKeys, _ hash: SeededHash) {
        for change in changes.single {
            switch change.kind {
            case .written, .removed: recordChange(change.hash)
            case .prefixRemoved: recordRemoval(ofPrefix: change.hash, hash)
            case .groupRemoved: recordRemoval(ofGroup: change.hash)
            case .evicted: break
            }
        }
        switch changes.standingOfAll {
        case .unchanged: break
        case .maybeWritten:
            writeOfMany = last + 1
            last += 1
        case .unknown:
            unknownChange = last + 1
            last += 1
        case .changed: recordChangeOfAll()
        }
    }
}

extension ChangedKeys {
    /// What is known of each key that is not among the single ones.
    fileprivate var standingOfAll: WatchedKeys.Standing {
        if areOfAll(.removed) { return .changed }
        if isUnknown { return .unknown }
        return areOfAll(.written) ? .maybeWritten : .unchanged
    }

    /// What is known of a key, whose value is going to be in these groups, after these changes.
    func standing(of key: EntryKey, _ groups: [UInt64], _ hash: SeededHash) -> WatchedKeys.Standing
    {
        let keyHash = hash.of(key)
        let isChanged = single.contains { change in
            switch change.kind {
            case .written, .removed: change.hash == keyHash
            case .prefixRemoved: key.hasPrefix(change.hash, hash)
            case .groupRemoved: groups.contains(change.hash)
            case .evicted: false
            }
        }
        return isChanged ? .changed : standingOfAll
    }
}

extension EntryKey {
    /// Up to how many bytes a prefix is looked for by its hash. A longer key counts as one that
    /// begins with it.
    private static let longestSearched = 1024

    /// Whether the key begins with a prefix of that hash (``begins(with:)``). O(length²).
    func hasPrefix(_ prefix: UInt64, _ hash: SeededHash) -> Bool {
        withBytes { bytes in
            guard bytes.count <= Self.longestSearched else { return true }
            // Only where a scalar ends.
            return (0...bytes.count).contains { end in
                (end == bytes.count || bytes[end] & 0xC0 != 0x80)
                    && hash.of(UnsafeRawBufferPointer(rebasing: bytes[..<end])) == prefix
            }
        }
    }
}

/// Where keys are watched: a ``MemoryCache``. Safe on any thread.
package protocol KeyWatching: AnyObject, Sendable {
    /// Adds a watcher of the key until ``unwatch(_:)``, and returns the present version. To be
    /// called before the row of the key is read.
    ///
    /// - Parameter groups: The groups in which the value is going to be: their removal changes the
    ///   key.
    func watch(_ key: EntryKey, groups: [EntryKey]) -> UInt64

    func unwatch(_ key: EntryKey)

    /// Returns what is known of a watched key since that version, with what other processes have
    /// announced.
    func standing(of key: EntryKey, since version: UInt64) -> WatchedKeys.Standing
}

extension KeyWatching {
    package func watch(_ key: EntryKey) -> UInt64 { watch(key, groups: []) }

    /// Whether surely no caller, of any process, wrote or removed the watched key since that
    /// version.
    package func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        standing(of: key, since: version) == .unchanged
    }
}
