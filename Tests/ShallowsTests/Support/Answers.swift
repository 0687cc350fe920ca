import Foundation
import Shallows
import VellumCore
import VellumEngine

/// Everything that a completion was called with.
final class Answers<Value: Sendable>: Sendable {
    private struct State {
        var all: [ShallowsResult<Value>] = []
        var waiting: [CheckedContinuation<ShallowsResult<Value>, Never>] = []
    }

    private let state = Locked(State())

    var all: [ShallowsResult<Value>] { state.withLock { $0.all } }
    var count: Int { all.count }
    var isEmpty: Bool { count == 0 }

    @Sendable
    func take(_ result: ShallowsResult<Value>) {
        let waiting = state.withLock { state in
            state.all.append(result)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    /// The first answer, when it is there.
    func first() async -> ShallowsResult<Value> {
        await withCheckedContinuation { continuation in
            let first = state.withLock { state in
                if state.all.isEmpty { state.waiting.append(continuation) }
                return state.all.first
            }
            if let first { continuation.resume(returning: first) }
        }
    }

    /// The value of the only answer; `nil` while there is none, or where it is an error.
    var value: Value? { count == 1 ? try? all[0].get() : nil }
    /// The error of the only answer.
    var error: (any Error)? {
        guard count == 1, case .failure(let error) = all[0] else { return nil }
        return error
    }
}

extension ReadableStorageProtocol {
    func answers(forKey key: Key) -> Answers<Value> {
        let answers = Answers<Value>()
        retrieve(forKey: key, completion: answers.take)
        return answers
    }
}

extension WritableStorageProtocol {
    func setting(_ value: Value, forKey key: Key) -> Answers<Void> {
        let answers = Answers<Void>()
        set(value, forKey: key, completion: answers.take)
        return answers
    }
}

extension RemovableStorageProtocol {
    func removing(_ key: Key) -> Answers<Void> {
        let answers = Answers<Void>()
        remove(forKey: key, completion: answers.take)
        return answers
    }

    func removingAll() -> Answers<Void> {
        let answers = Answers<Void>()
        removeAll(completion: answers.take)
        return answers
    }
}

extension StorageProtocol {
    func updating(_ key: Key, _ modify: @escaping @Sendable (inout Value) -> Void) -> Answers<Value>
    {
        let answers = Answers<Value>()
        update(forKey: key, modify, completion: answers.take)
        return answers
    }
}

/// Runs the body on a thread that runs no task, and waits for it without holding one that does.
@discardableResult
func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Reports, as they come.
final class Reports: Sendable {
    private let state = Locked<[StorageReport]>([])

    var all: [StorageReport] { state.withLock { $0 } }
    var events: [StorageReport.Event] { all.map(\.event) }

    @Sendable
    func take(_ report: StorageReport) { state.withLock { $0.append(report) } }
}

/// Counts, from any thread.
final class Counter: Sendable {
    private let state = Locked(0)

    var value: Int { state.withLock { $0 } }
    @discardableResult
    func add(_ number: Int = 1) -> Int {
        state.withLock { count in
            count += number
            return count
        }
    }
}
