public import VellumCore

/// Keys and the writes to them: how a loader learns that someone wrote or removed its key while it ran.
///
/// A pure value; ``MemoryCache`` keeps it inside its lock. A version is never used twice, so whoever gave up watching a key and
/// watches it anew cannot take an old version for the new.
@usableFromInline
struct WatchedKeys: Sendable {
    private struct Watch {
        var watchers: Int
        var version: UInt64
    }

    private var watches: [EntryKey: Watch] = [:]
    private var lastVersion: UInt64 = 0

    @usableFromInline var isEmpty: Bool { watches.isEmpty }

    /// Watches the key once more, and returns its version now.
    mutating func watch(_ key: EntryKey) -> UInt64 {
        if let index = watches.index(forKey: key) {
            watches.values[index].watchers += 1
            return watches.values[index].version
        }
        lastVersion += 1
        watches[key] = Watch(watchers: 1, version: lastVersion)
        return lastVersion
    }

    /// Watches the key once less.
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
    /// Watches the key, until ``unwatch(_:)``, and returns its version now.
    func watch(_ key: EntryKey) -> UInt64 { state.withLock { $0.watches.watch(key) } }

    func unwatch(_ key: EntryKey) { state.withLock { $0.watches.unwatch(key) } }

    /// Whether no caller wrote or removed what is under a watched key since it had that version.
    func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        state.withLock { $0.watches.isUnchanged(key, since: version) }
    }
}
