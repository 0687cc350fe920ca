public import VellumCore

/// Tracks writes of watched keys, so that a loader learns whether its key was written or removed while it ran.
///
/// A value type inside the lock of a ``MemoryCache``. A version is never reused, so a key that is unwatched and watched again has a new
/// version.
@usableFromInline
struct WatchedKeys: Sendable {
    private struct Watch {
        var watchers: Int
        var version: UInt64
    }

    private var watches: [EntryKey: Watch] = [:]
    private var lastVersion: UInt64 = 0

    @usableFromInline var isEmpty: Bool { watches.isEmpty }

    /// Adds a watcher of the key, and returns the key's current version.
    mutating func watch(_ key: EntryKey) -> UInt64 {
        if let index = watches.index(forKey: key) {
            watches.values[index].watchers += 1
            return watches.values[index].version
        }
        lastVersion += 1
        watches[key] = Watch(watchers: 1, version: lastVersion)
        return lastVersion
    }

    /// Removes a watcher of the key.
    mutating func unwatch(_ key: EntryKey) {
        guard let watch = watches[key] else { return }
        watches[key] = watch.watchers == 1 ? nil : Watch(watchers: watch.watchers - 1, version: watch.version)
    }

    /// Whether the key is watched, and was not written or removed since it had that version.
    func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool { watches[key]?.version == version }

    @usableFromInline
    mutating func didWrite(_ key: EntryKey) {
        guard let index = watches.index(forKey: key) else { return }
        lastVersion += 1
        watches.values[index].version = lastVersion
    }

    /// O(watched keys).
    mutating func didWriteAll() {
        lastVersion += 1
        for index in watches.values.indices { watches.values[index].version = lastVersion }
    }
}

extension MemoryCache {
    /// Adds a watcher of the key until ``unwatch(_:)``, and returns the key's current version.
    func watch(_ key: EntryKey) -> UInt64 { state.withLock { $0.watches.watch(key) } }

    func unwatch(_ key: EntryKey) { state.withLock { $0.watches.unwatch(key) } }

    /// Whether no caller wrote or removed the watched key since it had that version.
    func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        state.withLock { $0.watches.isUnchanged(key, since: version) }
    }
}
