internal import VellumCore
internal import VellumEngine

/// What a model of a screen asks of an archive, again after each change of the archive or of the question.
///
/// An answer to a question that has changed meanwhile is dropped: the model keeps its value until there is one to the new question.
@MainActor
final class ScreenQuestion<Question: Sendable, Answer: Sendable> {
    private let asked: Guarded<Asked>
    private var observation: ObservedQuestion<Numbered>?
    private var task: Task<Void, Never>?

    /// A question, and its number among those of the model.
    struct Asked: Sendable {
        var question: Question
        var number: UInt64 = 0
        /// The number of the one that is being answered, or was answered last.
        var answered: UInt64 = 0
    }

    struct Numbered: Sendable {
        var answer: Answer
        var number: UInt64
    }

    /// Begins to ask.
    ///
    /// - Parameters:
    ///   - key: The key that matters; `nil` if all do.
    ///   - ask: Called on a thread that may block.
    ///   - take: Receives each answer to the present question, and says whether there is still somebody to receive the next.
    init<Archive: Archivable & Sendable>(
        _ question: Question, of store: ArchiveStore<Archive>, _ key: EntryKey? = nil,
        ask: @escaping @Sendable (Store<Archive>, Question, @escaping () -> Bool) throws(VellumError) -> ObservedAnswer<Answer>,
        take: @escaping @MainActor (Result<Answer, VellumError>) -> Bool
    ) {
        asked = Guarded(Asked(question: question))
        do throws(VellumError) {
            // Before this returns, so that no change from now on is missed.
            let observation = try store.observation(key, isPrompt: true) { [asked] (store, _, isCancelled) throws(VellumError) in
                asked.change { $0.answered = $0.number }
                let (question, number) = (asked.value.question, asked.value.answered)
                let answer = try ask(store, question, isCancelled)
                return answer.map(number: number) { Numbered(answer: $0, number: number) }
            }
            self.observation = observation
            task = Task { [asked] in
                defer { observation.stop() }
                while let answer = await observation.next() {
                    let number = if case .success(let answer) = answer { answer.number } else { asked.value.answered }
                    guard number == asked.value.number else { continue }
                    guard take(answer.map(\.answer)) else { return }
                }
            }
        } catch {
            _ = take(.failure(error))
        }
    }

    isolated deinit { stop() }

    /// The question that is asked.
    var question: Question { asked.value.question }

    /// Changes the question, and asks it.
    func change(_ change: (inout Question) -> Void) {
        asked.change { asked in
            change(&asked.question)
            asked.number += 1
        }
        observation?.askAgain()
    }

    /// Whether there will be answers.
    var isAsked: Bool { task?.isCancelled == false }

    func stop() {
        task?.cancel()
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
