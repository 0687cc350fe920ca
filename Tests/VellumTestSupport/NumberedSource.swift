internal import TestThreads
internal import Testing
package import VellumCore

/// A loader whose calls the test answers one by one.
package final class NumberedSource: Sendable {
    private struct State {
        var calls = 0
        var open: [Int: CheckedContinuation<LoadResult<String>, any Error>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())
    private let ignoresCancellation: Bool

    /// - Parameter ignoresCancellation: Whether calls that are cancelled go on. Others throw.
    package init(ignoresCancellation: Bool = false) {
        self.ignoresCancellation = ignoresCancellation
    }

    package var calls: Int { state.withLock { $0.calls } }
    /// The numbers of the calls that have no answer yet.
    package var open: [Int] { state.withLock { $0.open.keys.sorted() } }
    /// The numbers of the calls that were cancelled.
    package var cancelled: Set<Int> { state.withLock { $0.cancelled } }

    package func load(_ previous: String? = nil) async throws -> LoadResult<String> {
        let number = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    let isOver = !ignoresCancellation && state.cancelled.contains(number)
                    if !isOver { state.open[number] = continuation }
                    return isOver
                }
                if isOver { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            state.withLock { _ = $0.cancelled.insert(number) }
            if !ignoresCancellation { answer(number, .failure(CancellationError())) }
        }
    }

    /// Loads a text.
    package func text() async throws -> String {
        guard case .value(let text, _) = try await load() else { throw SourceDown() }
        return text
    }

    /// Answers a call that has no answer yet.
    package func answer(_ call: Int, _ result: Result<LoadResult<String>, any Error>) {
        state.withLock { $0.open.removeValue(forKey: call) }?.resume(with: result)
    }

    package func answer(_ call: Int, _ text: String) {
        answer(call, .success(.value(text, maxAge: .seconds(100))))
    }

    /// Returns once there is such a call without an answer.
    package func waitForCall(_ number: Int = 1) async {
        await until("call \(number) of the loader waits for its answer") { open.contains(number) }
    }
}
