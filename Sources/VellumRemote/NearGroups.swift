internal import VellumCore

/// The groups of the values that a process has in memory, and their epochs as far as it knows them
/// (decision 82). A pure value.
///
/// An epoch is known from a reply until the server says that its key has changed, which it says
/// before any later reply. So an entry whose epochs are known when it arrives was valid when the
/// server sent it.
struct NearGroups: Sendable {
    private struct Group: Sendable {
        var epoch: UInt64?
        /// Which primary said it.
        var place: Int?
        /// When the values in memory were written: a key may have another value by now.
        var keys: [EntryKey: WallInstant] = [:]
    }

    private var groups: [EntryKey: Group] = [:]
    /// Shows that no group changed since it was read.
    private(set) var changes: UInt64 = 0
    /// After how many more insertions this is pruned.
    private var insertions = mostInsertions
    private static let mostInsertions = 1024

    /// How many groups there are, and keys in them.
    var count: Int { groups.values.reduce(groups.count) { $0 + $1.keys.count } }

    func knows(_ group: GroupEpoch) -> Bool { groups[group.name]?.epoch == group.epoch }

    /// Remembers epochs, unless a group changed since.
    mutating func learn(
        _ epochs: [EntryKey: UInt64],
        of place: (EntryKey) -> Int?,
        since changes: UInt64
    ) {
        guard self.changes == changes else { return }
        for (name, epoch) in epochs {
            var group = groups[name] ?? Group()
            group.epoch = epoch
            group.place = place(name)
            groups[name] = group
        }
        insertions -= epochs.count
    }

    /// Remembers that a value is in these groups.
    mutating func insert(_ key: EntryKey, _ written: WallInstant, into names: [GroupEpoch]) {
        for group in names { groups[group.name, default: Group()].keys[key] = written }
        insertions -= names.count
    }

    /// Forgets what memory does not have any more. O(n) when it is due, which is O(1) for each
    /// insertion over many.
    ///
    /// - Parameter isThere: Whether memory still has the value of a key that was written then.
    mutating func prune(_ isThere: (EntryKey, WallInstant) -> Bool) {
        guard insertions <= 0 else { return }
        groups = groups.compactMapValues { group in
            let keys = group.keys.filter { isThere($0.key, $0.value) }
            return keys.isEmpty ? nil : Group(epoch: group.epoch, place: group.place, keys: keys)
        }
        insertions = max(Self.mostInsertions, count)
    }

    /// Forgets groups that changed, and returns the keys of their values.
    mutating func remove(_ names: [EntryKey]) -> [EntryKey] {
        changes += 1
        return names.flatMap {
            groups.removeValue(forKey: $0)?.keys.keys.map { $0 } ?? []
        }
    }

    /// Forgets the groups of a primary. Their values are no answers any more.
    mutating func removeAll(of place: Int) {
        changes += 1
        groups = groups.filter { $0.value.place != place }
    }

    mutating func removeAll() {
        groups = [:]
        changes += 1
        insertions = Self.mostInsertions
    }
}
