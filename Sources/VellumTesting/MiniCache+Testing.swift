public import MiniCache
internal import VellumCore
internal import VellumEngine

extension MiniCache {
    // MARK: Observing

    /// Waits until everybody who observes the cache has seen what is there now.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func observersSettled() async throws {
        let (file, archive) = try fileAndArchive
        await Settling.settle(file.observers(of: archive))
    }

    /// Throws if a sequence of answers of the cache has another answer because of what `body` does.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Throws: ``UnexpectedAnswer``, the error of `body`, or that of the sequence.
    public func expectNoAnswer<Answers: AsyncSequence & Sendable>(
        from answers: Answers,
        while body: () async throws -> Void
    ) async throws where Answers.Element: Sendable {
        try await VellumTesting.expectNoAnswer(
            from: answers,
            settled: { try await observersSettled() },
            while: body
        )
    }

    /// Waits until so many callers wait for loads of the cache, or the task is cancelled.
    ///
    /// Does not block the actor of the caller.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func waitForCallers(_ count: Int) async throws {
        while try waitingCallers < count, !Task.isCancelled { await Settling.pause() }
    }

    // MARK: Maintaining

    /// Removes every expired value now, which otherwise happens in the background.
    ///
    /// Blocks for the disk. Other caches of the file are swept as well.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func sweep() throws { try fileAndArchive.file.sweepEverything() }

    /// Sets a value as an older program did, whose type had another version.
    ///
    /// Blocks for the disk. Memory does not keep it, so that the next read migrates it.
    ///
    /// - Parameters:
    ///   - value: What the program encoded, and its version. Its key has no effect.
    ///   - key: The key.
    /// - Throws: `MiniCacheError` if the key cannot be encoded, or the disk fails.
    public func set(_ value: StoredObject, forKey key: Key) throws {
        try store(encoded: value.data, version: Int64(value.version), key)
    }

    // MARK: Damage

    /// Damages what the disk has under a key: the next read of the disk has the code
    /// `damagedEntry`.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Returns: Whether there was a value.
    /// - Throws: The error of the disk.
    @discardableResult
    public func damage(forKey key: Key) throws -> Bool {
        try flush()
        defer { trimMemory(to: .zero) }
        return try damageEntry(of: storedKey(of: key), in: fileAndArchive)
    }
}
