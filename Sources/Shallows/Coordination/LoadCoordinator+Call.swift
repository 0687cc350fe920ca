internal import VellumCore

extension LoadCoordinator where Key == LoadKey {
    /// Gives the outcome of the load of the key that is running; `retrieve` starts one if there is
    /// none.
    ///
    /// A caller that cancels leaves; when the last has left, the load is cancelled. A caller that
    /// is part of a load that would wait for itself loads without joining.
    ///
    /// - Parameter identity: The key with its type erased; `nil` for a key that cannot be compared.
    func run<Value: Sendable>(
        _ key: any Sendable,
        _ identity: AnyKey?,
        layer: String,
        _ call: Call,
        _ retrieve: (Call) -> Reply<Value>
    ) -> Reply<Value> where Outcome == Result<Value, ShallowsError> {
        guard let identity else { return retrieve(call) }
        let answer = Promise<Value>()
        let number = Self.newNumber()
        let onMayBlock = call.notification { [self] in
            if answer.fulfill(.failure(.wouldBlock(layer: layer, key: key))) {
                leave(number)
            }
        }
        let waiter = Waiter(number: number, onMayBlock: onMayBlock) { ending in
            switch ending {
            case .finished(let outcome, _): answer.fulfill(outcome)
            case .cancelled, .recursive:
                answer.fulfill(.failure(.cancelled(layer: layer, key: key)))
            }
        }
        // A call that blocks a task (``Call/rejectsBlocking``) joins a load that other calls
        // started. They do not join one that it started, because that fails where they would wait.
        let newKey = call.rejectsBlocking ? LoadKey(key: identity, rejectsBlocking: true) : nil
        switch join(LoadKey(key: identity, rejectsBlocking: false), startingAs: newKey, waiter) {
        case .recursive, .cancelled: return retrieve(call)
        case .waits: break
        case .started(let load):
            if let outcome = start(load, call, retrieve) { return .now(outcome) }
        }
        return call.wait(for: answer) { [self] in leave(number) }
    }

    /// Starts a load. Returns its outcome, if the layer answered synchronously.
    private func start<Value: Sendable>(
        _ load: UInt64,
        _ call: Call,
        _ retrieve: (Call) -> Reply<Value>
    ) -> Outcome? where Outcome == Result<Value, ShallowsError> {
        let cancellation = Cancellation()
        let running = ReentrancyGuard(.load(load))
        onCancel(load) { cancellation.cancel() }
        let end: @Sendable (Outcome) -> Void = { [self] outcome in
            running.end()
            finish(load, outcome)
        }
        switch running.run({
            retrieve(call.cancelled(by: cancellation).notifying { [self] in mayBlock(load) })
        }) {
        case .now(let outcome):
            end(outcome)
            return outcome
        case .later(let promise):
            promise.observe(end)
            return nil
        }
    }

    /// Lets nobody else join the loads of a key: what they bring is old.
    func detach<Value: Sendable>(_ key: some Sendable)
    where Outcome == Result<Value, ShallowsError> {
        guard !isIdle, let identity = AnyKey(key) else { return }
        detach([
            LoadKey(key: identity, rejectsBlocking: false),
            LoadKey(key: identity, rejectsBlocking: true),
        ])
    }
}

/// What loads must have in common to be one.
struct LoadKey: Hashable, Sendable {
    var key: AnyKey
    /// Whether the load was started by a call that fails where others wait: those start their own,
    /// or they would fail as well.
    var rejectsBlocking: Bool
}
