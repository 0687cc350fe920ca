public import VellumCore
internal import VellumEngine

extension MiniCache where Key: SendableMetatype, Value: Sendable {
    /// The value of a key, now and after each change; `nil` while there is no valid one.
    ///
    /// ```swift
    /// for try await rate in rates.observe(forKey: "USD") { show(rate) }
    /// ```
    ///
    /// The first element is what is there. Each later one is what is there when it is requested,
    /// and differs from the last: changes that come faster than the loop takes them are not queued,
    /// and after the last change there is an element with the final state. Changes of every process
    /// that has the file open count, and so do evictions and the end of an age.
    ///
    /// The disk is read on a thread that may block, never on the caller's. Observing does not
    /// affect the eviction order or a sliding age. The sequence ends when the task is cancelled, or
    /// the manager is closed. While the file is suspended, it waits. After the file was deleted, it
    /// goes on with a new one; if another process has deleted it, that is noticed by the next call,
    /// or within five minutes.
    ///
    /// - Parameter key: The key.
    /// - Complexity: O(log n) for each change of the key, at most twenty a second.
    /// - Returns: A sequence that throws ``MiniCacheError`` as ``value(forKey:)`` does, and then
    ///   ends.
    public func observe(forKey key: Key) -> some AsyncSequence<Value?, MiniCacheError> & Sendable {
        let entryKey = Result { () throws(MiniCacheError) in try self.entryKey(of: key) }
        return ObservedAnswers<Value?>(goesOn: goesOn) { () throws(VellumError) in
            try self.question(about: try entryKey.get())
        }
    }

    /// Whether the cache has another file, because the one that was observed was deleted.
    private func goesOn() throws(VellumError) -> Bool {
        do throws(VellumError) {
            return try !openStore().isClosed
        } catch {
            guard error.code == .closed else { throw error }
            return false
        }
    }

    private func question(about key: EntryKey) throws(VellumError) -> ObservedQuestion<Value?> {
        let store = try openStore()
        return ObservedQuestion(store.observer(of: key), in: store) {
            [self] _ throws(VellumError) in
            do throws(VellumError) {
                guard !store.isClosed, !core.isClosedForGood else { throw .closed }
                let found = try store.observed(key, under: expiration)
                guard let cached = found.answer, !cached.isTombstone else {
                    return ObservedAnswer(nil, of: [], firstEnd: found.firstEnd)
                }
                return ObservedAnswer(
                    try value(of: cached, key),
                    of: found.origins,
                    firstEnd: found.firstEnd
                )
            } catch {
                // A handle whose cache has another version finds nothing.
                if error.code == .cacheVersionChanged { return ObservedAnswer(nil, of: []) }
                throw error.code == .vanished ? .closed : core.located(error)
            }
        }
    }
}
