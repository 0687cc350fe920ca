package import VellumCore

/// The removals of a process that the server may not have executed, because it was out of reach.
///
/// Such a key is not read before it was removed: every other process would go on with its old value for its whole age. A pure value.
package struct PendingRemovals: Sendable {
    /// The largest number of keys. Beyond it, every key of the cache has to be removed.
    static let mostKeys = 1024

    package enum Work: Hashable, Sendable {
        case nothing
        case keys([EntryKey])
        case everything
    }

    private var keys: Set<EntryKey> = []
    private var isEverything = false

    package init() {}

    package mutating func insert(_ key: EntryKey) {
        guard !isEverything else { return }
        keys.insert(key)
        if keys.count > Self.mostKeys { (keys, isEverything) = ([], true) }
    }

    /// What has to be removed before the key is read.
    package func work(before key: EntryKey) -> Work {
        if isEverything { return .everything }
        return keys.contains(key) ? .keys([key]) : .nothing
    }

    /// What has to be removed as soon as the server is there.
    package var all: Work {
        if isEverything { return .everything }
        return keys.isEmpty ? .nothing : .keys(Array(keys))
    }

    /// The key was removed, or overwritten.
    package mutating func didRemove(_ key: EntryKey) { keys.remove(key) }

    package mutating func didRemoveEverything() { (keys, isEverything) = ([], false) }
}
