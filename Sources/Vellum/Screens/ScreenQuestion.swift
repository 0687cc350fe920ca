internal import VellumCore
internal import VellumEngine

/// What a model of a screen asks of an archive, again after each change of the archive or of the
/// question.
///
/// An answer to an earlier question is dropped: the model keeps its value until there is one to the
/// new question.
@MainActor
final class ScreenQuestion<Question: Sendable, Answer: Sendable> {
    private let asked: Guarded<Asked>
    private var observation: ObservedQuestion<Numbered>?
    private var task: Task<Void, Never>?

    private struct Asked: Sendable {
        var question: Question
        /// How often the model has changed the question or written.
        var number: UInt64 = 0
        /// The number with which the present question was asked first.
        var first: UInt64 = 0
        /// The number of the question that is being answered, or was answered last.
        var answered: UInt64 = 0
    }

    private struct Numbered: Sendable {
        var answer: Answer
        var number: UInt64
    }

    /// Begins to ask.
    ///
    /// - Parameters:
    ///   - key: The key that matters; `nil` if all do.
    ///   - ask: Called on a thread that may block.
    ///   - take: Receives each answer to the present question, with the number of own writes and
    ///     questions before it, and says whether there is still somebody to receive the next.
    init<Archive: Archivable & Sendable>(
        _ question: Question,
        of store: ArchiveStore<Archive>,
        _ key: EntryKey? = nil,
        ask:
            @escaping @Sendable (Store<Archive>, Question, @escaping () -> Bool) throws(VellumError)
            -> ObservedAnswer<Answer>,
        take: @escaping @MainActor (Result<Answer, VellumError>, _ number: UInt64) -> Bool
    ) {
        asked = Guarded(Asked(question: question))
        do throws(VellumError) {
            // Before this returns, so that no change from now on is missed.
            let observation = try store.observation(key, isPrompt: true) {
                [asked] (store, _, isCancelled) throws(VellumError) in
                asked.change { $0.answered = $0.number }
                let question = asked.value.question
                let number = asked.value.answered
                let answer = try ask(store, question) {
                    isCancelled() || asked.value.first > number
                }
                return answer.map(number: number) { Numbered(answer: $0, number: number) }
            }
            self.observation = observation
            task = Task { [asked, weak self] in
                defer { observation.stop() }
                while let answer = await observation.next() {
                    let number =
                        if case .success(let answer) = answer { answer.number } else {
                            asked.value.answered
                        }
                    guard number >= asked.value.first else { continue }
                    guard take(answer.map(\.answer), number) else { return }
                }
                guard !Task.isCancelled else { return }
                self?.task = nil
                _ = take(.failure(store.located(.closed)), asked.value.number)
            }
        } catch {
            _ = take(.failure(error), 0)
        }
    }

    isolated deinit { stop() }

    /// The question that is asked.
    var question: Question { asked.value.question }

    /// Whether there will be answers.
    var isAsked: Bool { task != nil }

    /// Changes the question, and asks it.
    func change(_ change: (inout Question) -> Void) {
        asked.change { asked in
            change(&asked.question)
            asked.number += 1
            asked.first = asked.number
        }
        observation?.askAgain()
    }

    /// Asks again after an own write.
    ///
    /// - Returns: A number. Answers with a lower one may not have the write.
    func didWrite() -> UInt64 {
        asked.change { $0.number += 1 }
        observation?.askAgain()
        return asked.value.number
    }

    func stop() {
        task?.cancel()
        task = nil
        observation?.stop()
    }
}

/// A value that several tasks read and change.
final class Guarded<Value: Sendable>: Sendable {
    private let stored: Locked<Value>

    init(_ value: Value) { stored = Locked(value) }

    var value: Value { stored.withLock { $0 } }

    func change(_ change: (inout Value) -> Void) { stored.withLock { change(&$0) } }
}
