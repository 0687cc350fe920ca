/// Remembered answers without a value, safe on any thread: a ``NegativeCache`` whose keys are watched in memory.
package final class RememberedAnswers: Sendable {
    private let answers = Locked(NegativeCache())
    private let keys: any WatchedKeys
    private let now: @Sendable () -> WallInstant

    /// - Parameters:
    ///   - keys: Notices writes of a key, which end its answer.
    ///   - now: The clock by which answers expire.
    package init(watching keys: any WatchedKeys, now: @escaping @Sendable () -> WallInstant) {
        (self.keys, self.now) = (keys, now)
    }

    /// Returns the answer for the key if it still holds.
    package func answer(for key: EntryKey) -> NegativeCache.Answer? {
        guard let item = answers.withLock({ $0.item(key) }) else { return nil }
        if item.isValid(at: now()), keys.isUnchanged(key, since: item.version) { return item.answer }
        if answers.withLock({ $0.remove(key, version: item.version) }) { keys.unwatch(key) }
        return nil
    }

    /// Remembers an answer for so many milliseconds, unless the key was written since it had that version.
    func insert(_ answer: NegativeCache.Answer, forKey key: EntryKey, version: UInt64, for milliseconds: Int64) {
        guard milliseconds > 0 else { return }
        var unwatched = [key]
        if keys.watch(key) == version {
            let now = now()
            let item = NegativeCache.Item(
                answer: answer, since: now, until: now.advanced(byMilliseconds: milliseconds), version: version)
            unwatched = answers.withLock { $0.insert(item, forKey: key) }
        }
        for key in unwatched { keys.unwatch(key) }
    }

    /// Adds a watcher of the key until ``endWatch(of:)``, and returns the key's version.
    func watch(_ key: EntryKey) -> UInt64 { keys.watch(key) }

    func endWatch(of key: EntryKey) { keys.unwatch(key) }
}
