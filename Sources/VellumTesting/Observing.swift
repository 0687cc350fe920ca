internal import VellumCore

/// An observer had an answer where none was expected, or had none at all.
public struct UnexpectedAnswer: Error, CustomStringConvertible {
    /// How many answers there were.
    public let count: Int
    /// What happened, in a sentence.
    public var description: String {
        count == 0
            ? "A sequence of answers ended before its first answer."
            : "An observer had \(count) answers although nothing should have changed what it sees."
    }
}

/// Throws if the sequence has more than one answer, the one before `body`.
func expectNoAnswer<Answers: AsyncSequence & Sendable>(
    from answers: Answers,
    settled: () async throws -> Void,
    while body: () async throws -> Void
) async throws where Answers.Element: Sendable {
    let count = Locked(0)
    let failure = Locked<(any Error)?>(nil)
    let isOver = Locked(false)
    let task = Task.detached {
        do {
            for try await _ in answers { count.withLock { $0 += 1 } }
        } catch {
            failure.withLock { $0 = error }
        }
        isOver.withLock { $0 = true }
    }
    defer { task.cancel() }
    while count.withLock({ $0 }) == 0,
        !isOver.withLock({ $0 }),
        !Task.isCancelled
    {
        await Settling.pause()
    }
    try await settled()
    try await body()
    try await settled()
    if let error = failure.withLock({ $0 }) { throw error }
    let answers = count.withLock { $0 }
    guard answers == 1 else { throw UnexpectedAnswer(count: max(0, answers - 1)) }
}
