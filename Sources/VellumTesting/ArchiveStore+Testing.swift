public import Vellum
internal import VellumCore
internal import VellumEngine

extension ArchiveStore {
    // MARK: Observing

    /// Waits until everybody who observes the archive has seen what is there now.
    ///
    /// ```swift
    /// let open = ArchiveResults(store, where: #Predicate { !$0.isPaid })
    /// try store.record(invoice)
    /// await store.observersSettled()
    /// #expect(open.value == [invoice])
    /// ```
    ///
    /// Whoever observes asks again, whether anything has changed or not, and this returns when each
    /// has the answer and waits for the next change: models such as `ArchiveResults`, also on the
    /// main actor, and loops. The body of a loop, or whoever has an iterator, is waited for up to a
    /// second after its last element.
    ///
    /// Does not block the actor of the caller.
    public func observersSettled() async {
        let (file, archive) = fileAndArchive
        await Settling.settle(file.observers(of: archive))
    }

    /// Throws if a sequence of answers of the archive has another answer because of what `body`
    /// does.
    ///
    /// ```swift
    /// try await store.expectNoAnswer(from: store.observe(archiveWithKey: "a")) {
    ///     try store.record(other)
    /// }
    /// ```
    ///
    /// Its first answer, of what is there before, is expected.
    ///
    /// - Throws: ``UnexpectedAnswer``, the error of `body`, or that of the sequence.
    public func expectNoAnswer<Answers: AsyncSequence & Sendable>(
        from answers: Answers,
        while body: () async throws -> Void
    ) async throws where Answers.Element: Sendable {
        try await VellumTesting.expectNoAnswer(
            from: answers,
            settled: { await observersSettled() },
            while: body
        )
    }

    /// Waits until so many callers wait for loads of the archive, or the task is cancelled.
    ///
    /// Does not block the actor of the caller.
    public func waitForCallers(_ count: Int) async {
        while waitingCallers < count, !Task.isCancelled { await Settling.pause() }
    }

    // MARK: Maintaining

    /// Removes every expired object now, which otherwise happens in the background.
    ///
    /// Blocks for the disk. Other archives of the file are swept as well.
    public func sweep() { fileAndArchive.file.sweepEverything() }

    /// Records an object as an older program did, whose type had another version.
    ///
    /// ```swift
    /// try store.record(StoredObject(
    ///     version: 0, key: "7", value: ["number": "7", "customer": "Ann"]))
    /// let migrated = try store.access(archiveWithKey: "7")
    /// ```
    ///
    /// Blocks for the disk. Memory does not keep it, so that the next access reads and migrates it.
    ///
    /// - Throws: `VellumError` if the key is too long, or the disk fails.
    public func record(_ object: StoredObject) throws {
        try withStore { store throws(VellumError) in
            var transaction = StoreTransaction()
            try transaction.record(
                encoded: object.data,
                version: Int64(object.version),
                forKey: EntryKey(object.key),
                in: store
            )
            try transaction.commit()
        }
    }

    // MARK: Damage

    /// Damages what the disk has under a key: the next access, which reads the disk, has the code
    /// `damagedEntry`.
    ///
    /// Blocks for the disk. Memory forgets everything that it has of the archive.
    ///
    /// - Returns: Whether there was an object.
    /// - Throws: The error of the disk.
    @discardableResult
    public func damage(archiveWithKey key: String) throws -> Bool {
        try flush()
        defer { trimMemory(to: .zero) }
        return try damageEntry(of: EntryKey(key), in: fileAndArchive)
    }
}
