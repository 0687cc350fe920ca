public import MiniCache
public import Vellum
internal import VellumCore
internal import VellumEngine

/// An observer had an answer where none was expected.
public struct UnexpectedAnswer: Error, CustomStringConvertible {
    /// How many answers there were.
    public var count: Int
    /// What happened, in a sentence.
    public var description: String { "An observer had \(count) answers although nothing should have changed what it sees." }
}

extension ArchiveStore {
    /// Waits until everybody who observes the archive has seen what is there now.
    ///
    /// ```swift
    /// let open = ArchiveResults(store, where: #Predicate { !$0.isPaid })
    /// try store.record(invoice)
    /// await store.observersSettled()
    /// #expect(open.value == [invoice])
    /// ```
    ///
    /// Whoever observes asks again, whether anything has changed or not, and this returns when each has the answer and waits for the next change:
    /// models such as `ArchiveResults`, also on the main actor, and loops that have asked for an element. The body of a loop is waited for up to
    /// a second; an iterator from which nobody requests an element is not.
    ///
    /// Does not block the actor of the caller.
    public func observersSettled() async {
        let (file, archive) = place
        await Settling.settle(file.observers(of: archive))
    }

    /// Throws if a sequence of answers of the archive has another answer because of what `body` does.
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
        from answers: Answers, while body: () async throws -> Void
    ) async throws where Answers.Element: Sendable {
        try await VellumTesting.expectNoAnswer(from: answers, settled: { await observersSettled() }, while: body)
    }

    /// Waits until so many callers wait for loads of the archive.
    ///
    /// Does not block the actor of the caller.
    public func waitForCallers(_ count: Int) async { while waitingCallers < count { await Task.yield() } }
}

extension MiniCache {
    /// Waits until everybody who observes the cache has seen what is there now.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func observersSettled() async throws {
        let (file, archive) = try place
        await Settling.settle(file.observers(of: archive))
    }

    /// Throws if a sequence of answers of the cache has another answer because of what `body` does.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Throws: ``UnexpectedAnswer``, the error of `body`, or that of the sequence.
    public func expectNoAnswer<Answers: AsyncSequence & Sendable>(
        from answers: Answers, while body: () async throws -> Void
    ) async throws where Answers.Element: Sendable {
        try await VellumTesting.expectNoAnswer(from: answers, settled: { try await observersSettled() }, while: body)
    }

    /// Waits until so many callers wait for loads of the cache.
    ///
    /// Does not block the actor of the caller.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func waitForCallers(_ count: Int) async throws {
        while try waitingCallers < count { await Task.yield() }
    }
}

private func expectNoAnswer<Answers: AsyncSequence & Sendable>(
    from answers: Answers, settled: () async throws -> Void, while body: () async throws -> Void
) async throws where Answers.Element: Sendable {
    let count = Locked(0)
    let failure = Locked<(any Error)?>(nil)
    let task = Task.detached {
        do {
            for try await _ in answers { count.withLock { $0 += 1 } }
        } catch {
            failure.withLock { $0 = error }
        }
    }
    defer { task.cancel() }
    while count.withLock({ $0 }) == 0, failure.withLock({ $0 }) == nil { await Task.yield() }
    try await settled()
    try await body()
    try await settled()
    if let error = failure.withLock({ $0 }) { throw error }
    let others = count.withLock { $0 } - 1
    guard others == 0 else { throw UnexpectedAnswer(count: others) }
}
