internal import VellumCore

/// Two storages, one in front of the other: what every composition is made of (decision 23).
///
/// A ``WriteOrder`` keeps fills and writes of one key in order; retrievals of one key from the back
/// are one load.
@usableFromInline
final class LayeredStorage<Key: Sendable, Value: Sendable>: Sendable {
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

    @usableFromInline let front: Storage<Key, Value>
    @usableFromInline let back: Storage<Key, Value>
    /// Whether what the back has is set to the front.
    private let fills: Bool
    private let order: WriteOrder<Key>
    private let loads = LoadCoordinator<LoadKey, Outcome<Value>>()

    @usableFromInline
    init<Front: StorageAccess, Back: StorageAccess>(
        _ front: AnyStorage<Front, Key, Value>,
        _ back: AnyStorage<Back, Key, Value>,
        fills: Bool = true
    ) {
        self.front = front.retyped()
        self.back = back.retyped()
        self.fills = fills
        order = WriteOrder(layer: front.storageName)
    }

    @inlinable
    func storage<Access: StorageAccess>(
        _ direction: Direction,
        layers: [AnyStorage<Access, Key, Value>]
    ) -> AnyStorage<Access, Key, Value> {
        let operations = StorageOperations<Key, Value>(
            retrieve: direction.pulls ? pulling() : front.operations.retrieve,
            set: { value, key, call in self.set(value, key, call, direction) },
            remove: { key, call in self.remove(key, call, direction) },
            removeAll: { call in self.removeAll(call, direction) },
            lockKey: { [front = front.operations, back = back.operations] in
                front.lockKey($0) ?? back.lockKey($0)
            },
            fireAndForget: fireAndForget(direction)
        )
        return AnyStorage<Access, Key, Value>(
            name(direction),
            operations,
            parts: layers,
            reach: direction.pushes ? leaves : front.leaves
        )
    }

    @inlinable
    func pulling() -> StorageOperations<Key, Value>.Retrieve {
        { [front = front.operations] key, call in
            let finishedLoads = self.finishedLoads
            switch front.retrieve(key, call) {
            // The hit: nothing is allocated, and no lock is taken here.
            case .now(.success(let value)): return .now(.success(value))
            case .now(.failure(let error)):
                return self.pull(key, call, after: .failure(error), finishedLoads)
            case .later(let promise):
                return self.pull(key, call, after: .later(promise), finishedLoads)
            }
        }
    }

    /// The names of the storages that a set to both reaches.
    @usableFromInline var leaves: [String] { front.leaves + back.leaves }

    @usableFromInline
    func name(_ direction: Direction) -> String {
        front.storageName + direction.arrow + back.storageName
    }

    @usableFromInline
    func fireAndForget(_ direction: Direction) -> Call {
        let front = front.operations.fireAndForget
        return direction.pushes ? front.reporting(with: back.operations.fireAndForget) : front
    }
}

// MARK: Retrieving

extension LayeredStorage {
    /// How many loads from the back have finished.
    @usableFromInline var finishedLoads: Int { loads.finishedCount }

    /// Retrieves from the back what the front does not have.
    ///
    /// - Parameter finishedBefore: How many loads had finished when the front was asked.
    @usableFromInline
    func pull(
        _ key: Key,
        _ call: Call,
        after reply: Reply<Value>,
        _ finishedBefore: Int
    ) -> Reply<Value> {
        reply.then { [self] outcome in
            fallThrough(outcome, call) {
                let identity = AnyKey(key)
                return loads.run(key, identity, layer: back.storageName, call) { [self] in
                    load(key, identity, $0, finishedBefore)
                }
            }
        }
    }

    private func load(
        _ key: Key,
        _ identity: AnyKey?,
        _ call: Call,
        _ finishedBefore: Int
    ) -> Reply<Value> {
        if loads.finishedCount == finishedBefore { return retrieveAndFill(key, identity, call) }
        // A load has ended since the front was asked, and may have brought the value there.
        return front.operations.retrieve(key, call).then { [self] outcome in
            fallThrough(outcome, call) { retrieveAndFill(key, identity, call) }
        }
    }

    /// Asks the back if the outcome of the front permits it.
    private func fallThrough(
        _ outcome: Outcome<Value>,
        _ call: Call,
        _ askBack: () -> Reply<Value>
    ) -> Reply<Value> {
        guard case .failure(let error) = outcome else { return .now(outcome) }
        switch error.disposition {
        case .failure: return .now(outcome)
        case .unknown: call.report(StorageReport(.fellThrough, layer: error.layer, error))
        case .miss: break
        }
        guard !call.isCancelled else {
            return .failure(.cancelled(layer: back.storageName, key: error.key))
        }
        return askBack()
    }

    private func retrieveAndFill(
        _ key: Key,
        _ identity: AnyKey?,
        _ call: Call
    ) -> Reply<Value> {
        // Before the back is asked: what is written from now on is newer than its answer.
        let ticket = fills ? order.ticket(key) : nil
        return back.operations.retrieve(key, call).then { [self] outcome in
            guard let ticket, case .success(let value) = outcome else { return .now(outcome) }
            let fill = order.fill(identity, ticket, call.filling) {
                front.operations.set(value, key, $0)
            }
            guard let fill else { return .now(outcome) }
            return fill.map { filled in
                if case .failure(let error) = filled {
                    call.report(StorageReport(.fillFailed, layer: error.layer, error))
                }
                return outcome
            }
        }
    }
}

// MARK: Setting

extension LayeredStorage {
    /// Sets when no fill and no other write of the key is under way.
    @usableFromInline
    func set(
        _ value: Value,
        _ key: Key,
        _ call: Call,
        _ direction: Direction
    ) -> Reply<Void> {
        order.write(key, call) { [self] call in
            let set =
                direction.pushes
                ? setBoth(value, key, call) : front.operations.set(value, key, call)
            return set.map { [self] in detaching(key, $0) }
        }
    }

    /// Lets nobody join a load that may have read what was there before the write.
    private func detaching(_ key: Key, _ outcome: Outcome<Void>) -> Outcome<Void> {
        loads.detach(key)
        return outcome
    }

    private func setBoth(_ value: Value, _ key: Key, _ call: Call) -> Reply<Void> {
        front.operations.set(value, key, call).then { [self] outcome in
            guard case .failure(let error) = outcome else {
                return back.operations.set(value, key, call).map { $0.mapError(self.partiallySet) }
            }
            // What is behind a front that is only filled may be filled.
            guard call.isFill else { return .failure(error) }
            return back.operations.set(value, key, call).map { outcome in
                if case .failure(let inBack) = outcome {
                    call.report(StorageReport(.fillFailed, layer: inBack.layer, inBack))
                }
                return .failure(error)
            }
        }
    }

    private func partiallySet(_ error: ShallowsError) -> ShallowsError {
        error.partial(
            .partiallySet,
            "The value was set to some layers and not to all; set it again, or remove it.",
            succeeded: front.leaves + error.succeededLayers
        )
    }
}

// MARK: Removing

extension LayeredStorage {
    @usableFromInline
    func remove(_ key: Key, _ call: Call, _ direction: Direction) -> Reply<Void> {
        order.write(key, call) { [self] call in
            removeBoth(direction) { $0.remove(key, call) }.map { [self] in
                detaching(key, $0)
            }
        }
    }

    @usableFromInline
    func removeAll(_ call: Call, _ direction: Direction) -> Reply<Void> {
        order.writeAll(call) { [self] in
            removeBoth(direction) { $0.removeAll(call) }.map { [self] outcome in
                loads.detachAll()
                return outcome
            }
        }
    }

    /// Removes from both, whether or not one of them fails.
    private func removeBoth(
        _ direction: Direction,
        _ remove: @escaping @Sendable (StorageOperations<Key, Value>) -> Reply<Void>
    ) -> Reply<Void> {
        guard direction.pushes else { return remove(front.operations) }
        // The back first: what is still in the front hides what is no longer in the back, and not
        // the other way round.
        return remove(back.operations).then { [self] backOutcome in
            remove(front.operations).map { [self] frontOutcome in
                switch (frontOutcome, backOutcome) {
                case (.success, .success): return .success(())
                case (.failure(let error), .success):
                    return partiallyRemoved(error, error.succeededLayers + back.leaves)
                case (.success, .failure(let error)):
                    return partiallyRemoved(error, front.leaves + error.succeededLayers)
                case (.failure(let inFront), .failure(let inBack)):
                    let succeeded = inFront.succeededLayers + inBack.succeededLayers
                    return succeeded.isEmpty ? backOutcome : partiallyRemoved(inBack, succeeded)
                }
            }
        }
    }

    private func partiallyRemoved(_ error: ShallowsError, _ succeeded: [String]) -> Outcome<Void> {
        .failure(
            error.partial(
                .partiallyRemoved,
                "The value was removed from some layers and not from all; remove it again.",
                succeeded: succeeded
            )
        )
    }
}

extension ShallowsError {
    /// The error of a partial write that this error caused.
    fileprivate func partial(_ code: Code, _ message: String, succeeded: [String]) -> ShallowsError
    {
        let isPartial = self.code == code
        var partial = ShallowsError(
            code,
            isPartial ? self.message : "\(message) The reason: \(self.message)",
            layer: layer,
            key: key,
            cause: isPartial ? cause : underlyingError
        )
        partial.succeededLayers = succeeded
        return partial
    }
}
