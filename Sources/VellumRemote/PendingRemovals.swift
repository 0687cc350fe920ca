internal import VellumCore

/// The removals of a process that the server may not have executed yet.
///
/// Such a key is neither read nor set before it was removed: every other process would go on with its old value for its whole age, or the
/// removal would arrive after the new value. A pure value.
struct PendingRemovals: Sendable {
    /// The largest number of keys and groups. Beyond it, every key of the cache has to be removed.
    static let mostKeys = 1024

    enum Work: Hashable, Sendable {
        case keys(Set<EntryKey>, groups: Set<EntryKey> = [])
        case everything

        fileprivate var count: Int { if case .keys(let keys, let groups) = self { keys.count + groups.count } else { 1 } }

        /// Nobody knows which keys are in a group: it concerns each.
        fileprivate func concerns(_ key: EntryKey?) -> Bool {
            switch self {
            case .keys(let keys, let groups): !groups.isEmpty || key.map(keys.contains) ?? !keys.isEmpty
            case .everything: true
            }
        }
    }

    private var waiting = Work.keys([])
    private var sent: Work?
    /// Whether a task sends them again until none is pending.
    var areSentAgain = false

    /// How many removals wait or are on their way. That of everything is one.
    var count: Int { waiting.count + (sent?.count ?? 0) }

    mutating func insert(_ key: EntryKey, isGroup: Bool = false) {
        guard case .keys(var keys, var groups) = waiting else { return }
        waiting = .keys([])  // Its storage has one owner, and is not copied.
        if isGroup { groups.insert(key) } else { keys.insert(key) }
        waiting = keys.count + groups.count > Self.mostKeys ? .everything : .keys(keys, groups: groups)
    }

    mutating func insertEverything() { waiting = .everything }

    /// Whether a removal waits or is on its way.
    ///
    /// - Parameter key: `nil` for any key.
    func concern(_ key: EntryKey?) -> Bool { waiting.concerns(key) || sent?.concerns(key) == true }

    /// Returns the removals to send; `nil` if none is pending. One caller at a time sends them, until ``end(succeeded:)``.
    mutating func begin() -> Work? {
        guard waiting.concerns(nil) else { return nil }
        sent = waiting
        waiting = .keys([])
        return sent
    }

    /// Ends sending: the server has executed the removals, or they are pending again.
    mutating func end(succeeded: Bool) {
        defer { sent = nil }
        guard !succeeded, let sent else { return }
        switch sent {
        case .everything: waiting = .everything
        case .keys(let keys, let groups):
            for key in keys { insert(key) }
            for group in groups { insert(group, isGroup: true) }
        }
    }
}
