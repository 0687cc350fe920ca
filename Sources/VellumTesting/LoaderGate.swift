internal import VellumCore

/// A loader whose calls wait until the test answers them.
///
/// ```swift
/// let gate = LoaderGate<Double>()
/// async let rate = rates.value(forKey: "USD") { try await gate.load() }
/// await gate.waitForCalls(1)
/// gate.release(with: 1.08)
/// #expect(try await rate == 1.08)
/// ```
///
/// A call that is cancelled throws `CancellationError`. Any thread may call the methods.
public final class LoaderGate<Value: Sendable>: Sendable {
    private struct Call {
        var number: UInt64
        var name: String
        var load: UInt64?
        var continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var calls: [String] = []
        var waiting: [Call] = []
        /// Answers to calls that are yet to come.
        var early: [Result<Value, any Error>] = []
    }

    private let state = Locked(State())

    /// Creates a gate that nobody has called.
    public init() {}

    /// The names of all calls so far, in their order.
    public var calls: [String] { state.withLock { $0.calls } }

    /// The names of the calls that have no answer yet, in their order.
    public var waiting: [String] { state.withLock { $0.waiting.map(\.name) } }

    /// Waits for the test: what a loader of the tested code does.
    ///
    /// - Parameter name: What is loaded; any string, such as the key.
    /// - Throws: What the test makes the call fail with, or `CancellationError`.
    public func load(_ name: String = "") async throws -> Value {
        let number = LoadCoordinator<Int, Void>.newNumber()
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = Call(
                    number: number,
                    name: name,
                    load: ReentrancyGuard.currentLoad,
                    continuation: continuation
                )
                // Before anybody sees the call, and may answer it.
                GatedLoads.add(call.load)
                let early = state.withLock { state -> Result<Value, any Error>? in
                    state.calls.append(name)
                    guard state.early.isEmpty else { return state.early.removeFirst() }
                    state.waiting.append(call)
                    return nil
                }
                if let early {
                    answer(call, early)
                } else if Task.isCancelled {
                    answer(.failure(CancellationError())) { $0.number == number }
                }
            }
        } onCancel: {
            answer(.failure(CancellationError())) { $0.number == number }
        }
    }

    /// Waits until there were so many calls, or the task is cancelled.
    public func waitForCalls(_ count: Int = 1) async {
        while calls.count < count, !Task.isCancelled { await Settling.pause() }
    }

    /// Answers the first call that waits; if none does, the next one.
    public func release(with value: Value) { answerFirst(.success(value)) }

    /// Answers every call of a name that waits.
    public func release(_ name: String, with value: Value) {
        answer(.success(value)) { $0.name == name }
    }

    /// Makes the first call fail that waits; if none does, the next one.
    public func fail(with error: any Error) { answerFirst(.failure(error)) }

    /// Makes every call of a name fail that waits.
    public func fail(_ name: String, with error: any Error) {
        answer(.failure(error)) { $0.name == name }
    }

    private func answerFirst(_ result: Result<Value, any Error>) {
        let call = state.withLock { state -> Call? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.early.append(result)
            return nil
        }
        if let call { answer(call, result) }
    }

    private func answer(_ result: Result<Value, any Error>, _ isMeant: (Call) -> Bool) {
        let calls = state.withLock { state in
            let calls = state.waiting.filter(isMeant)
            state.waiting.removeAll(where: isMeant)
            return calls
        }
        for call in calls { answer(call, result) }
    }

    private func answer(_ call: Call, _ result: Result<Value, any Error>) {
        GatedLoads.remove(call.load)
        call.continuation.resume(with: result)
    }
}

/// The loads that wait at a gate: they end when the test says so.
enum GatedLoads {
    private static let counts = Locked<[UInt64: Int]>([:])

    static func contains(_ load: UInt64) -> Bool { counts.withLock { $0[load] != nil } }

    static func add(_ load: UInt64?) {
        guard let load else { return }
        counts.withLock { $0[load, default: 0] += 1 }
    }

    static func remove(_ load: UInt64?) {
        guard let load else { return }
        counts.withLock { counts in
            counts[load, default: 1] -= 1
            if counts[load] == 0 { counts[load] = nil }
        }
    }
}
