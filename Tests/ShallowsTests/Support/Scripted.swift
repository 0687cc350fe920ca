import Foundation
import Shallows
import VellumCore
import VellumEngine

/// A user-supplied error that does not say whether it is a miss.
struct Outage: Error, Equatable {
    var number = 0
}

/// A user-supplied error that means a miss.
struct Nothing: StorageMiss {}

/// A user-supplied storage whose answers a test decides: by default, those of a dictionary.
final class Scripted: StorageProtocol, RemovableStorageProtocol {
    enum Operation: Hashable, Sendable { case retrieve, set, remove, removeAll }

    enum Answer: Sendable {
        case normal
        /// The normal answer, on another thread.
        case late
        /// Done now, answered when it is released.
        case held
        /// Done and answered when it is released.
        case delayed
        case failing(any Error)
        /// The completion is kept, and never called.
        case never
        /// The completion is released, and never called.
        case dropped
        case twice
        /// Does that first: user-supplied code may do anything.
        case after(@Sendable () -> Void)
    }

    private struct Held: Sendable {
        let call: String
        let answer: @Sendable ((any Error)?) -> Void
    }

    private struct State: Sendable {
        var contents: [String: Int] = [:]
        var asked: [String] = []
        var script: [Operation: [Answer]] = [:]
        var always: [Operation: Answer] = [:]
        var held: [Held] = []
        var kept: [any Sendable] = []
    }

    let storageName: String
    private let state: Locked<State>

    init(_ storageName: String = "scripted", _ contents: [String: Int] = [:]) {
        self.storageName = storageName
        state = Locked(State(contents: contents))
    }

    // MARK: For tests

    var contents: [String: Int] {
        get { state.withLock { $0.contents } }
        set { state.withLock { $0.contents = newValue } }
    }

    /// What it was asked, in that order: `"retrieve a"`, `"set a 1"`, `"remove a"`, `"removeAll"`.
    var asked: [String] { state.withLock { $0.asked } }
    /// Which of these were neither answered nor forgotten.
    var held: [String] { state.withLock { $0.held.map(\.call) } }

    /// The answers to the next calls of the operation.
    @discardableResult
    func answering(_ operation: Operation, _ answers: Answer...) -> Scripted {
        state.withLock { $0.script[operation, default: []] += answers }
        return self
    }

    /// The answer to every call of the operation for which there is no other.
    @discardableResult
    func always(_ operation: Operation, _ answer: Answer) -> Scripted {
        state.withLock { $0.always[operation] = answer }
        return self
    }

    /// Answers the first of the calls that are held.
    func release(failing error: (any Error)? = nil) {
        let held = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
        guard let held else { return }
        held.answer(error)
    }

    // MARK: The storage

    func retrieve(forKey key: String, completion: @escaping @Sendable (ShallowsResult<Int>) -> Void)
    {
        answer(.retrieve, "retrieve \(key)", completion) { contents in
            contents[key].map { .success($0) } ?? .failure(Nothing())
        }
    }

    func set(
        _ value: Int,
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        answer(.set, "set \(key) \(value)", completion) { contents in
            .success(contents[key] = value)
        }
    }

    func remove(forKey key: String, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    {
        answer(.remove, "remove \(key)", completion) { contents in .success(contents[key] = nil) }
    }

    func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        answer(.removeAll, "removeAll", completion) { contents in .success(contents = [:]) }
    }

    private func answer<Value: Sendable>(
        _ operation: Operation,
        _ call: String,
        _ completion: @escaping @Sendable (ShallowsResult<Value>) -> Void,
        _ effect: @escaping @Sendable (inout [String: Int]) -> ShallowsResult<Value>
    ) {
        let answer = state.withLock { state -> Answer in
            state.asked.append(call)
            guard state.script[operation, default: []].isEmpty else {
                return state.script[operation, default: []].removeFirst()
            }
            return state.always[operation] ?? .normal
        }
        let perform: @Sendable () -> ShallowsResult<Value> = {
            self.state.withLock { effect(&$0.contents) }
        }
        switch answer {
        case .normal: completion(perform())
        case .late: DispatchQueue.global().async { completion(perform()) }
        case .held:
            let result = perform()
            hold(call) { error in completion(error.map { .failure($0) } ?? result) }
        case .delayed: hold(call) { error in completion(error.map { .failure($0) } ?? perform()) }
        case .failing(let error): completion(.failure(error))
        case .never: state.withLock { $0.kept.append(completion) }
        case .dropped: break
        case .twice:
            completion(perform())
            completion(perform())
        case .after(let work):
            work()
            completion(perform())
        }
    }

    private func hold(_ call: String, _ answer: @escaping @Sendable ((any Error)?) -> Void) {
        state.withLock { $0.held.append(Held(call: call, answer: answer)) }
    }
}
