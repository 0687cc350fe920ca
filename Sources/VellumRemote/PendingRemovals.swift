internal import VellumCore

/// The removals of a process that the server may not have executed yet.
///
/// Such a key is neither read nor set before it was removed: every other process would go on with
/// its old value for its whole age, or the removal would arrive after the new value. In a cluster
/// each primary has its own, and one that cannot be reached delays no other. A pure value.
package struct PendingRemovals: Sendable {
    /// The largest number of keys and groups. Beyond it, every key of the cache has to be removed.
    static let mostKeys = 1024

    /// What is sent together: the keys and groups that a primary has, or those of the whole cache
    /// on several primaries.
    enum Lot: Hashable, Sendable {
        /// `nil` if it is not known which primary has them.
        case primary(Int?)
        case everything
    }

    enum Work: Hashable, Sendable {
        case keys(Set<EntryKey>, groups: Set<EntryKey> = [])
        case everything(Set<Int>)
    }

    private var keys = Set<EntryKey>()
    private var groups = Set<EntryKey>()
    /// The primaries of which every key of the cache has to be removed. ``everywhere`` if none is
    /// known yet.
    private var cleared: Set<Int> = []
    package static let everywhere = -1
    /// Whether what is removed with everything are also the values of groups, which are not named
    /// any more.
    private var clearsGroups = false
    private var sent: [Lot: Work] = [:]
    /// Whether a task sends them again until none is pending.
    var areSentAgain = false

    /// How many removals wait or are on their way. That of everything is one.
    var count: Int {
        sent.values.reduce(
            keys.count + groups.count + (cleared.isEmpty ? 0 : 1)
        ) { count, work in
            if case .keys(let keys, let groups) = work {
                count + keys.count + groups.count
            } else {
                count + 1
            }
        }
    }

    var isEmpty: Bool { keys.isEmpty && groups.isEmpty && cleared.isEmpty && sent.isEmpty }

    /// - Parameter places: All primaries.
    mutating func insert(_ key: EntryKey, isGroup: Bool = false, of places: Places) {
        if !isGroup, let place = places.ofKey(key), cleared.contains(place) { return }
        if isGroup { groups.insert(key) } else { keys.insert(key) }
        guard keys.count + groups.count > Self.mostKeys else { return }
        insertEverything(of: places)
        // A removal of all values is one of each group.
        clearsGroups = clearsGroups || !groups.isEmpty
        groups = []
    }

    mutating func insertEverything(of places: Places) {
        cleared.formUnion(Self.everyPlace(places))
        keys = []
    }

    /// Slots have moved: a key that is to be removed with all others may be anywhere.
    mutating func move(to places: Places) {
        if !cleared.isEmpty || sent[.everything] != nil { cleared = Self.everyPlace(places) }
    }

    private static func everyPlace(_ places: Places) -> Set<Int> {
        let all = places.all()
        return all.isEmpty ? [everywhere] : Set(all)
    }

    /// Returns the removal that a key waits for; `nil` if there is none.
    func lot(ofKey key: EntryKey, _ places: Places) -> Lot? {
        let place = places.ofKey(key)
        for (lot, work) in sent {
            switch work {
            case .keys(let keys, _): if keys.contains(key) { return lot }
            case .everything(let cleared): if Self.concerns(cleared, place) { return lot }
            }
        }
        if Self.concerns(cleared, place) { return .everything }
        return keys.contains(key) ? .primary(place) : nil
    }

    private static func concerns(_ cleared: Set<Int>, _ place: Int?) -> Bool {
        guard let place, !cleared.contains(everywhere) else { return !cleared.isEmpty }
        return cleared.contains(place)
    }

    /// Returns the removal that the values of a group wait for; `nil` if there is none.
    func lot(ofGroup group: EntryKey, _ places: Places) -> Lot? {
        if clearsGroups { return .everything }
        for (lot, work) in sent {
            if case .keys(_, let groups) = work, groups.contains(group) { return lot }
        }
        return groups.contains(group) ? .primary(places.ofGroup(group)) : nil
    }

    /// What waits or is on its way.
    func lots(_ places: Places) -> Set<Lot> {
        Set(sent.keys).union(
            keys.map { .primary(places.ofKey($0)) }
        ).union(
            groups.map { .primary(places.ofGroup($0)) }
        )
        .union(cleared.isEmpty ? [] : [.everything])
    }

    /// Returns the removals to send; `nil` if none is pending. One caller at a time sends those of
    /// a lot, until ``end(_:failed:of:)``.
    mutating func begin(_ lot: Lot, _ places: Places) -> Work? {
        let work: Work
        switch lot {
        case .everything:
            if cleared.isEmpty { return nil }
            work = .everything(cleared)
            cleared = []
        case .primary(let place):
            let one = keys.filter { places.ofKey($0) == place }
            let other = groups.filter { places.ofGroup($0) == place }
            if one.isEmpty, other.isEmpty { return nil }
            work = .keys(one, groups: other)
            keys = keys.subtracting(one)
            groups = groups.subtracting(other)
        }
        sent[lot] = work
        return work
    }

    /// Ends sending: the server has executed the removals, or they are pending again.
    ///
    /// - Parameter failed: The primaries that have not removed every key; `nil` if none has
    ///   executed the removals.
    mutating func end(_ lot: Lot, failed: Set<Int>?, of places: Places) {
        switch sent.removeValue(forKey: lot) {
        case .everything(let cleared):
            self.cleared.formUnion(failed ?? cleared)
            // The keys of a primary that is none any more are on others.
            if !self.cleared.isSubset(of: places.all()) {
                self.cleared = Self.everyPlace(places)
            }
            if self.cleared.isEmpty { clearsGroups = false }
        case .keys(let keys, let groups):
            // What is removed with everything is not named.
            guard failed == nil else { return }
            for key in keys { insert(key, of: places) }
            for group in groups { insert(group, isGroup: true, of: places) }
        case nil: break
        }
    }
}
