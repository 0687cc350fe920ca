package import VellumCore

// Groups: what is recorded in one carries its epoch on the server (``RemoteKeys``), and a removal
// of the group changes that.

extension SharedStore {
    /// Removes every value of a group. If the server cannot be reached, the removal is sent when it
    /// is there again, and until then no value of the group is read.
    package func removeAll(group: EntryKey) async throws(VellumError) {
        defer { didChange(groups: [group]) }
        pending.withLock { $0.insert(group, isGroup: true, of: places) }
        try await remote { () throws(RemoteFailure) in try await finishRemovals(ofGroups: [group]) }
    }

    /// The epochs of these groups changed. Loads of their values are overtaken, and their leases
    /// end, so that others may load.
    package func didChange(groups names: [EntryKey]) {
        near.forget(groups: names)
        for (token, lease) in leases.withLock({ $0 })
        where lease.groups.contains(where: names.contains) {
            Task { await giveBack(token, lease.key) }
        }
    }

    /// Returns the entries; one of which a group was removed is missing. The epochs are compared
    /// after the entry has arrived, and none is used again: if they are the same, the entry was
    /// valid when the server sent it.
    ///
    /// What is known of a group is as old as the last reply of its primary. So of that of another
    /// key, which has no order with it, nothing is.
    ///
    /// - Parameter changes: Of a ticket that was taken before the server was asked for the entries.
    func withoutRemoved(
        _ entries: [RemoteEntry],
        of keys: [EntryKey],
        _ changes: UInt64
    ) async throws(RemoteFailure) -> [RemoteEntry] {
        var asked: Set<EntryKey> = []
        for (key, entry) in zip(keys, entries) {
            guard case .record(let record) = entry, !record.groups.isEmpty else { continue }
            let place = near.trusts.duration > 0 ? places.ofKey(key) : nil
            let unknown = near.groups.withLock { known in
                record.groups.filter { group in
                    place == nil || places.ofGroup(group.name) != place || !known.knows(group)
                        || pending.withLock { $0.lot(ofGroup: group.name, places) } != nil
                }
            }
            asked.formUnion(unknown.map(\.name))
        }
        if asked.isEmpty { return entries }
        try await finishRemovals(ofGroups: asked)
        let epochs = try await backend.epochs(of: Array(asked), orMake: nil)
        near.learn(epochs, since: changes)
        return entries.map { entry in
            guard case .record(let record) = entry,
                record.groups.contains(where: {
                    asked.contains($0.name) && epochs[$0.name] != $0.epoch
                })
            else { return entry }
            return .missing
        }
    }

    /// Returns the epochs under which a value is recorded. To be called before it is made: a later
    /// removal of a group makes it invalid.
    ///
    /// - Parameter expiration: Of the value. The server keeps the epochs for as long, and a minute
    ///   for making it.
    func takeEpochs(
        of groups: [EntryKey],
        _ key: EntryKey,
        _ expiration: Expiration
    ) async throws(RemoteFailure) -> [GroupEpoch] {
        if groups.isEmpty { return [] }
        try await finishRemovals(ofGroups: groups)
        let lifetime = try record(nil, key, expiration).lifetime.map { $0 + 60_000 }
        let epochs = try await backend.epochs(
            of: groups,
            orMake: (.random(in: 0...(.max)), lifetime)
        )
        guard epochs.count == groups.count else { throw .unexpectedReply }
        return epochs.map { GroupEpoch(name: $0, epoch: $1) }
    }
}
