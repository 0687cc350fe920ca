/// Remembered answers without a value, safe on any thread: a ``NegativeCache`` whose keys are
/// watched in memory.
package final class RememberedAnswers: Sendable {
    private let answers = Locked(NegativeCache())
    private let keys: any KeyWatching
    private let now: @Sendable () -> WallInstant

    /// - Parameters:
    ///   - keys: Notices writes of a key, which end its answer.
    ///   - now: The clock by which answers expire.
    package init(watching keys: any KeyWatching, now: @escaping @Sendable () -> WallInstant) {
        self.keys = keys
        self.now = now
    }

    /// Returns the answer for the key if it still holds.
    package func answer(for key: EntryKey) -> NegativeCache.Answer? {
        guard let item = answers.withLock({ $0.item(key) }) else { return nil }
        if item.isValid(at: now()), keys.isUnchanged(key, since: item.version) {
            return item.answer
        }
        if answers.withLock({ $0.remove(key, version: item.version) }) {
            keys.unwatch(key)
        }
        return nil
    }

    /// Remembers an answer for so many milliseconds, unless the key was written since it had that
    /// version.
    func insert(
        _ answer: NegativeCache.Answer,
        forKey key: EntryKey,
        version: UInt64,
        for milliseconds: Int64
    ) {
        guard milliseconds > 0 else { return }
        var unwatched = [key]
        _ = keys.watch(key)
        if keys.isUnchanged(key, since: version) {
            let now = now()
            let item = NegativeCache.Item(
                answer: answer,
                since: now,
                until: now.advanced(byMilliseconds: milliseconds),
                version: version
            )
            unwatched = answers.withLock { $0.insert(item, forKey: key) }
        }
        for key in unwatched { keys.unwatch(key) }
    }

    /// Adds a watcher of the key until ``endWatch(of:)``, and returns the key's version.
    func watch(_ key: EntryKey, groups: [EntryKey]) -> UInt64 {
        keys.watch(key, groups: groups)
    }

    func endWatch(of key: EntryKey) { keys.unwatch(key) }

    /// The present version of a key that is watched.
    package func version(of key: EntryKey) -> UInt64 {
        defer { keys.unwatch(key) }
        return keys.watch(key)
    }

    /// Whether nobody changed the watched key since that version.
    package func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        keys.isUnchanged(key, since: version)
    }
}

/// Remembered answers without a value: that there is none, or that the loader failed. In memory
/// only, and bounded.
///
/// A pure value. An answer holds while nothing is written or removed under its key: it carries the
/// version that the key had when the load began (``WatchedKeys``), and the key stays watched. The
/// caller must end the watch of each key that is removed or returned.
package struct NegativeCache: Sendable {
    package enum Answer: Sendable {
        case nothing
        case failure(any Error)
        /// A load ahead of the end of an age is not tried again, because one has failed or another
        /// machine does it. No answer to callers.
        case pauseAhead
    }

    struct Item: Sendable {
        var answer: Answer
        var since: WallInstant
        var until: WallInstant
        var version: UInt64

        /// An answer from the future is invalid: the clock was set back.
        func isValid(at now: WallInstant) -> Bool { since <= now && now < until }
    }

    /// The largest number of keys: some hundred kilobytes.
    static var mostKeys: Int { 4096 }

    private var items: [EntryKey: Item] = [:]

    var count: Int { items.count }

    func item(_ key: EntryKey) -> Item? { items[key] }

    /// Inserts an answer, and returns the keys whose answers were evicted, one for each answer.
    ///
    /// - Complexity: O(1), over many calls.
    mutating func insert(_ item: Item, forKey key: EntryKey) -> [EntryKey] {
        var gone: [EntryKey] = []
        if items.removeValue(forKey: key) != nil { gone.append(key) }
        if items.count >= Self.mostKeys {
            let dead = items.filter {
                !$0.value.isValid(at: item.since)
            }.map(\.key)
            // If all are valid, some are evicted: the order of a dictionary is as good as random.
            for key in dead.isEmpty ? Array(items.keys.prefix(Self.mostKeys / 16)) : dead {
                items[key] = nil
                gone.append(key)
            }
        }
        items[key] = item
        return gone
    }

    /// Removes the answer under the key if it has this version. Returns whether it had.
    mutating func remove(_ key: EntryKey, version: UInt64) -> Bool {
        guard items[key]?.version == version else { return false }
        items[key] = nil
        return true
    }
}
