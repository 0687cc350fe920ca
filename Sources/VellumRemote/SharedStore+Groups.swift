package import VellumCore

// Groups: what is recorded in one carries its epoch on the server (``RemoteKeys``), and a removal of the group changes that.

extension SharedStore {
    /// Removes every value of a group. If the server cannot be reached, the removal is sent when it is there again, and until then no key is read.
    package func removeAll(group: EntryKey) async throws(VellumError) {
        defer { didChange(groups: [group]) }
        pending.withLock { $0.insert(group, isGroup: true) }
        try await remote { () throws(RemoteFailure) in try await finishRemovals(of: nil) }
    }

    /// The epochs of these groups changed. Loads of their values are overtaken, and their leases end, so that others may load.
    package func didChange(groups names: [EntryKey]) {
        near.forget(groups: names)
        for (token, lease) in leases.withLock({ $0 }) where lease.groups.contains(where: names.contains) {
            Task { await giveBack(token, lease.key) }
        }
    }

    /// Returns the entries; one of which a group was removed is missing. The epochs are compared after the entry has arrived, and no epoch is used
    /// again: if they are the same, the entry was valid when the server sent it.
    ///
    /// - Parameter changes: Of a ticket that was taken before the server was asked for the entries.
    func withoutRemoved(_ entries: [RemoteEntry], _ changes: UInt64) async throws(RemoteFailure) -> [RemoteEntry] {
        let groups = entries.flatMap { entry -> [GroupEpoch] in if case .record(let record) = entry { record.groups } else { [] } }
        if groups.isEmpty { return entries }
        let unknown = near.groups.withLock { known in groups.filter { !known.knows($0) } }
        let epochs = try await each(of: unknown.map(\.name)) { [backend] (group) throws(RemoteFailure) in
            try await backend.epoch(of: group)
        }
        near.learn(epochs, since: changes)
        let removed = Set(unknown.filter { epochs[$0.name] != $0.epoch })
        return entries.map { entry in
            guard case .record(let record) = entry, record.groups.contains(where: removed.contains) else { return entry }
            return .missing
        }
    }

    /// The epochs of the groups of a value that is made later, and until when the server keeps them, by the steady clock.
    struct TakenEpochs: Sendable {
        var groups: [GroupEpoch] = []
        var end: Int64 = .max
    }

    /// Returns the epochs under which a value is recorded. To be called before it is made: a later removal of a group makes it invalid.
    ///
    /// - Parameter lifetime: For how long the server is going to keep the value.
    func takeEpochs(of groups: [EntryKey], for lifetime: Int64?) async throws(RemoteFailure) -> TakenEpochs {
        if groups.isEmpty { return TakenEpochs() }
        // A minute for making the value. If it takes longer, they are taken again.
        let lifetime = lifetime.map { $0 + 60_000 }
        let end = lifetime.map { times.clock.now() + $0 } ?? .max
        let epochs = try await each(of: groups) { [backend] (group) throws(RemoteFailure) in
            try await backend.takeEpoch(of: group, orMake: .random(in: 0...(.max)), lifetime: lifetime)
        }
        return TakenEpochs(groups: epochs.map { GroupEpoch(name: $0.key, epoch: $0.value) }, end: end)
    }

    /// Asks the server for all groups at the same time. Each command has one key, as a cluster needs it.
    func each<Answer: Sendable>(
        of groups: [EntryKey], _ ask: @escaping @Sendable (EntryKey) async throws(RemoteFailure) -> Answer
    ) async throws(RemoteFailure) -> [EntryKey: Answer] {
        let answers = await withTaskGroup(of: (EntryKey, Result<Answer, RemoteFailure>).self) { tasks in
            for group in Set(groups) {
                tasks.addTask {
                    do throws(RemoteFailure) {
                        return (group, .success(try await ask(group)))
                    } catch {
                        return (group, .failure(error))
                    }
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        var found: [EntryKey: Answer] = [:]
        for (group, answer) in answers { found[group] = try answer.get() }
        return found
    }
}
