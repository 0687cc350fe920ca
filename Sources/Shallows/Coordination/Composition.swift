/// Two storages, one in front of the other: what every composition is made of.
///
/// Retrieving and writing the same key at the same time is kept in order by a ``WriteGate``; retrievals of one key from the back
/// are one (``Flights``).
@usableFromInline
final class Composition<Key: Sendable, Value: Sendable>: Sendable {
    /// Which way values go.
    @usableFromInline
    enum Direction: Sendable {
        case bothWays, pulling, pushing

        @usableFromInline var pulls: Bool { self != .pushing }
        @usableFromInline var pushes: Bool { self != .pulling }
        var arrow: String {
            switch self {
            case .bothWays: "<->"
            case .pulling: "<-"
            case .pushing: "->"
            }
        }
    }

    @usableFromInline let front: Layer<Key, Value>
    @usableFromInline let back: Layer<Key, Value>
    /// Whether what the back has is set to the front.
    private let fills: Bool
    /// Whether the front is given back what it had when the back takes no value.
    @usableFromInline let undoes: Bool
    private let gate: WriteGate
    private let stripe = FillGate.striping(of: Key.self)
    private let flights = Flights<Key, Value>()
    private let turns = Turns()

    @usableFromInline
    init<Front: StorageAccess, Back: StorageAccess>(
        _ front: AnyStorage<Front, Key, Value>, _ back: AnyStorage<Back, Key, Value>, fills: Bool = true, undoes: Bool = false
    ) {
        self.front = Layer(front)
        self.back = Layer(back)
        self.fills = fills
        self.undoes = undoes
        gate = WriteGate(layer: front.storageName)
    }

    @inlinable
    func storage<Access: StorageAccess>(
        _ direction: Direction, layers: [AnyStorage<Access, Key, Value>]
    ) -> AnyStorage<Access, Key, Value> {
        let front = front.verbs
        let pull: StorageVerbs<Key, Value>.Retrieve = { key, call in
            let landings = self.landings
            switch front.retrieve(key, call) {
            // The hit: nothing is allocated, and no lock is taken here.
            case .now(.success(let value)): return .now(.success(value))
            case .now(.failure(let error)): return self.pull(key, call, after: .failure(error), landings)
            case .later(let promise): return self.pull(key, call, after: .later(promise), landings)
            }
        }
        let verbs = StorageVerbs<Key, Value>(
            retrieve: direction.pulls ? pull : front.retrieve,
            set: { value, key, call in self.set(value, key, call, direction) },
            remove: { key, call in self.remove(key, call, direction) },
            removeAll: { call in self.removeAll(call, direction) },
            turn: { [back = back.verbs] in front.turn($0) ?? back.turn($0) })
        return AnyStorage<Access, Key, Value>(name(direction), verbs, parts: layers, reach: direction.pushes ? leaves : self.front.leaves)
    }

    /// Whom a set to both reaches.
    @usableFromInline var leaves: [String] { front.leaves + back.leaves }

    @usableFromInline
    func name(_ direction: Direction) -> String { front.name + direction.arrow + back.name }
}

// MARK: Retrieving

extension Composition {
    /// How many retrievals from the back have landed.
    @usableFromInline var landings: Int { flights.landings }

    /// Retrieves from the back what the front has not.
    ///
    /// - Parameter landings: How many had landed when the front was asked.
    @usableFromInline
    func pull(_ key: Key, _ call: Call, after reply: Reply<Value>, _ landings: Int) -> Reply<Value> {
        reply.then { [self] outcome in
            fallThrough(outcome, call) {
                flights.join(key, layer: back.name, call) { [self] call in
                    guard flights.landings != landings else { return retrieveAndFill(key, call) }
                    // Another may have brought the value to the front since it was asked.
                    return front.verbs.retrieve(key, call).then { [self] outcome in
                        fallThrough(outcome, call) { retrieveAndFill(key, call) }
                    }
                }
            }
        }
    }

    /// Goes on to the back where that is what the front's outcome is for.
    private func fallThrough(_ outcome: Outcome<Value>, _ call: Call, _ askBack: () -> Reply<Value>) -> Reply<Value> {
        guard case .failure(let error) = outcome else { return .now(outcome) }
        switch error.standing {
        case .failure: return .now(outcome)
        case .unknown: call.report(StorageReport(.fellThrough, layer: error.layer, error))
        case .miss: break
        }
        guard !call.isCancelled else { return .failure(.cancelled(layer: back.name, key: error.key)) }
        return askBack()
    }

    private func retrieveAndFill(_ key: Key, _ call: Call) -> Reply<Value> {
        // Before the back is asked: what is written from now on is newer than its answer.
        let ticket = fills ? gate.ticket(for: stripe(key)) : nil
        return back.verbs.retrieve(key, call).then { [self] outcome in
            guard let ticket, case .success(let value) = outcome else { return .now(outcome) }
            let fill = gate.fill(ticket, call.filling) { front.verbs.set(value, key, $0) }
            guard let fill else { return .now(outcome) }
            return fill.map { filled in
                if case .failure(let error) = filled { call.report(StorageReport(.fillFailed, layer: error.layer, error)) }
                return outcome
            }
        }
    }
}

// MARK: Setting and removing

extension Composition {
    @inlinable
    func set(_ value: Value, _ key: Key, _ call: Call, _ direction: Direction) -> Reply<Void> {
        // Most often nothing is in the way, and both answer at once.
        guard !undoes, let stripe = begin(key) else { return setInTurn(value, key, call, direction) }
        let reply = direction.pushes ? setBoth(value, key, call) : front.verbs.set(value, key, call)
        switch reply {
        case .now(let outcome): return .now(end(key, stripe, outcome))
        case .later(let promise): return goOnInTurn(key, stripe, call, promise)
        }
    }

    /// Goes on with a set that is not answered at once: those of its key that come meanwhile wait for their turn.
    @usableFromInline
    func goOnInTurn(_ key: Key, _ stripe: Int, _ call: Call, _ promise: Promise<Void>) -> Reply<Void> {
        // No one has the turn: there was no other write when this one began, and there is none yet.
        let reply = inTurn(key, call) { _ in .later(promise) }
        gate.admitOtherWrites(stripe)
        return reply.map { [self] outcome in
            flights.detach(key)
            gate.end(stripe)
            return outcome
        }
    }

    /// Sets once no fill is under way, and one after another.
    @usableFromInline
    func setInTurn(_ value: Value, _ key: Key, _ call: Call, _ direction: Direction) -> Reply<Void> {
        writing(key, call) { [self] in
            inTurn(key, call) { [self] call in
                guard direction.pushes else { return front.verbs.set(value, key, call) }
                return undoes && !call.isFill ? setBothOrUndo(value, key, call) : setBoth(value, key, call)
            }
        }
    }

    /// Begins a write that nothing is in the way of, else returns `nil`: no retrieval that began before leaves an older value behind.
    @usableFromInline
    func begin(_ key: Key) -> Int? {
        let stripe = stripe(key)
        guard gate.beginSoleWrite(stripe) else { return nil }
        flights.detach(key)
        return stripe
    }

    @usableFromInline
    func end(_ key: Key, _ stripe: Int, _ outcome: Outcome<Void>) -> Outcome<Void> {
        flights.detach(key)
        gate.admitOtherWrites(stripe)
        gate.end(stripe)
        return outcome
    }

    /// Runs writes of a key one after another: both layers get them in one order, and none is undone over the next.
    private func inTurn(_ key: Key, _ call: Call, _ write: @escaping @Sendable (Call) -> Reply<Void>) -> Reply<Void> {
        turns.run(Turn(of: self, key), layer: front.name, call, write)
    }

    @inlinable
    func setBoth(_ value: Value, _ key: Key, _ call: Call) -> Reply<Void> {
        switch front.verbs.set(value, key, call) {
        case .now(.success): setBack(value, key, call)
        case .now(.failure(let error)): setBack(value, key, call, after: error)
        case .later(let promise):
            .later(
                promise.then { outcome in
                    switch outcome {
                    case .success: self.setBack(value, key, call)
                    case .failure(let error): self.setBack(value, key, call, after: error)
                    }
                })
        }
    }

    @inlinable
    func setBack(_ value: Value, _ key: Key, _ call: Call) -> Reply<Void> {
        switch back.verbs.set(value, key, call) {
        case .now(.success): .success(())
        case .now(.failure(let error)): .failure(partiallySet(error))
        case .later(let promise): .later(promise.then { outcome in .now(outcome.mapError { self.partiallySet($0) }) })
        }
    }

    /// Goes on past a front that failed, where it is only filled: what is behind it may be.
    @usableFromInline
    func setBack(_ value: Value, _ key: Key, _ call: Call, after error: ShallowsError) -> Reply<Void> {
        guard call.isFill else { return .failure(error) }
        return back.verbs.set(value, key, call).map { outcome in
            if case .failure(let inBack) = outcome { call.report(StorageReport(.fillFailed, layer: inBack.layer, inBack)) }
            return .failure(error)
        }
    }

    private func setBothOrUndo(_ value: Value, _ key: Key, _ call: Call) -> Reply<Void> {
        let wipes = gate.wipes
        return front.verbs.retrieve(key, call).then { [self] before in
            if case .failure(let error) = before, error.standing == .failure { return .failure(error) }
            return setBoth(value, key, call).then { [self] outcome in
                guard case .failure(let error) = outcome, error.code == .partiallySet, !error.reached.isEmpty else { return .now(outcome) }
                // What the back was asked for may still be done: then the front is right.
                guard !error.isOfRefusedSet else { return .now(outcome) }
                return gate.undo(stripe(key), call, since: wipes) { [self] wasWiped, call in
                    front.undo(to: wasWiped ? nil : before.success, key, call, after: error)
                }
            }
        }
    }

    @usableFromInline
    func partiallySet(_ error: ShallowsError) -> ShallowsError {
        var partial = ShallowsError(
            .partiallySet, "The value was set to some layers and not to all; set it again, or remove it.", layer: error.layer,
            key: error.key, cause: error.code == .partiallySet ? error.cause : error.surfaced)
        partial.reached = front.leaves + error.reached
        return partial
    }

    @usableFromInline
    func remove(_ key: Key, _ call: Call, _ direction: Direction) -> Reply<Void> {
        writing(key, call) { [self] in
            inTurn(key, call) { [self] call in removeBoth(direction) { $0.remove(key, call) } }
        }
    }

    @usableFromInline
    func removeAll(_ call: Call, _ direction: Direction) -> Reply<Void> {
        flights.detachAll()
        return gate.writeAll(call) { [self] in
            removeBoth(direction) { $0.removeAll(call) }.map { [self] outcome in
                flights.detachAll()
                return outcome
            }
        }
    }

    /// Removes from both, whether or not one of them fails.
    private func removeBoth(
        _ direction: Direction, _ remove: @escaping @Sendable (StorageVerbs<Key, Value>) -> Reply<Void>
    ) -> Reply<Void> {
        guard direction.pushes else { return remove(front.verbs) }
        // The back first: what is still in the front hides what is no longer in the back, and not the other way round.
        return remove(back.verbs).then { [self] backOutcome in
            remove(front.verbs).map { [self] frontOutcome in
                switch (frontOutcome, backOutcome) {
                case (.success, .success): return .success(())
                case (.failure(let error), .success): return .failure(partiallyRemoved(error, by: error.reached + back.leaves))
                case (.success, .failure(let error)): return .failure(partiallyRemoved(error, by: front.leaves + error.reached))
                case (.failure(let inFront), .failure(let inBack)):
                    let reached = inFront.reached + inBack.reached
                    return reached.isEmpty ? backOutcome : .failure(partiallyRemoved(inBack, by: reached))
                }
            }
        }
    }

    private func partiallyRemoved(_ error: ShallowsError, by leaves: [String]) -> ShallowsError {
        var partial = ShallowsError(
            .partiallyRemoved, "The value was removed from some layers and not from all; remove it again.", layer: error.layer,
            key: error.key, cause: error.code == .partiallyRemoved ? error.cause : error.surfaced)
        partial.reached = leaves
        return partial
    }

    /// Runs a write in its place among the retrievals of the key: none that began before it leaves an older value behind.
    private func writing(_ key: Key, _ call: Call, _ write: @escaping @Sendable () -> Reply<Void>) -> Reply<Void> {
        flights.detach(key)
        return gate.write(stripe(key), call) { [self] in
            write().map { [self] outcome in
                flights.detach(key)
                return outcome
            }
        }
    }
}
