/// Two storages side by side: what `zip` is made of.
///
/// A pair is never made of two sets: sets of a key follow one another, and a retrieval that a set overtook is made again.
final class ZippedStorage<Key: Sendable, LeftValue: Sendable, RightValue: Sendable>: Sendable {
    private typealias Value = (LeftValue, RightValue)

    private let name: String
    private let left: Layer<Key, LeftValue>
    private let right: Layer<Key, RightValue>
    /// Whether a side that was set is given back what it had when the other takes no value.
    private let undoes: Bool
    private let order: WriteOrder<Key>

    init<Access: StorageAccess>(_ left: AnyStorage<Access, Key, LeftValue>, _ right: AnyStorage<Access, Key, RightValue>, undoes: Bool) {
        self.left = Layer(left)
        self.right = Layer(right)
        self.undoes = undoes
        name = self.left.name + "+" + self.right.name
        order = WriteOrder(layer: name)
    }

    func storage<Access: StorageAccess>() -> AnyStorage<Access, Key, (LeftValue, RightValue)> {
        AnyStorage(
            name,
            StorageOperations(
                retrieve: { key, call in self.retrieve(key, call) },
                set: { value, key, call in self.set(value, key, call) },
                remove: { key, call in
                    self.order.write(key, call) { call in
                        self.both(self.left.operations.remove(key, call), self.right.operations.remove(key, call), .partiallyRemoved, key)
                    }
                },
                removeAll: { call in
                    self.order.writeAll(call) {
                        self.both(self.left.operations.removeAll(call), self.right.operations.removeAll(call), .partiallyRemoved, nil)
                    }
                },
                lockKey: left.operations.lockKey,
                fireAndForget: left.operations.fireAndForget.reporting(with: right.operations.fireAndForget),
                isBuiltIn: left.operations.isBuiltIn && right.operations.isBuiltIn),
            reach: left.leaves + right.leaves)
    }

    // MARK: Retrieving

    private func retrieve(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        // A side that asks for the pair while it is set does not wait for itself.
        guard !order.isWrittenByCaller(key) else { return ask(key, call) }
        let askAlone: @Sendable (Call) -> Reply<(LeftValue, RightValue)> = { [self] call in ask(key, call) }
        guard let ticket = order.ticket(key) else { return order.read(key, call, askAlone) }
        return ask(key, call).then { [self] pair in
            // If a set came between the two sides, they are asked again while nothing can.
            order.isCurrent(ticket) ? .now(pair) : order.read(key, call, askAlone)
        }
    }

    private func ask(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        let (left, right) = (left.operations.retrieve(key, call), right.operations.retrieve(key, call))
        return left.then { left in
            right.map { right in
                switch (left, right) {
                case (.success(let left), .success(let right)): .success((left, right))
                default: .failure(self.error(left.error, right.error, key))
                }
            }
        }
    }

    // MARK: Setting and removing

    private func set(_ value: (LeftValue, RightValue), _ key: Key, _ call: Call) -> Reply<Void> {
        order.write(key, call) { [self] call in
            guard undoes else {
                return both(left.operations.set(value.0, key, call), right.operations.set(value.1, key, call), .partiallySet, key)
            }
            let epoch = order.removeAllEpoch
            let (leftBefore, rightBefore) = (left.operations.retrieve(key, call), right.operations.retrieve(key, call))
            return leftBefore.then { [self] leftBefore in
                rightBefore.then { [self] rightBefore in
                    for case let error? in [leftBefore.error, rightBefore.error] where error.disposition == .failure {
                        return .failure(error)
                    }
                    return setOrUndo(value, key, call, (leftBefore.success, rightBefore.success), since: epoch)
                }
            }
        }
    }

    private func setOrUndo(
        _ value: (LeftValue, RightValue), _ key: Key, _ call: Call, _ before: (left: LeftValue?, right: RightValue?), since epoch: Int
    ) -> Reply<Void> {
        errors(left.operations.set(value.0, key, call), right.operations.set(value.1, key, call)).then { [self] outcome in
            guard case .success(let errors) = outcome, errors.left != nil || errors.right != nil else { return .success(()) }
            let error = error(errors, .partiallySet, key)
            guard error.code == .partiallySet else { return .failure(error) }
            let before = order.hasWrittenAll(since: epoch) ? (left: nil, right: nil) : before
            return undo(left, to: before.left, key, call, of: errors.left, after: error).then { [self] outcome in
                undo(right, to: before.right, key, call, of: errors.right, after: outcome.error ?? error)
            }
        }
    }

    /// Undoes one side, where it took the value or a part of it did.
    private func undo<Value: Sendable>(
        _ side: Layer<Key, Value>, to before: Value?, _ key: Key, _ call: Call, of own: ShallowsError?, after error: ShallowsError
    ) -> Reply<Void> {
        if let own, own.succeededLayers.isEmpty { return .failure(error) }
        return side.undo(to: before, key, call, after: error)
    }

    /// The outcome of both sides.
    private func both(_ left: Reply<Void>, _ right: Reply<Void>, _ partial: ShallowsError.Code, _ key: Key?) -> Reply<Void> {
        errors(left, right).then { [self] outcome in
            guard case .success(let errors) = outcome, errors.left != nil || errors.right != nil else { return .success(()) }
            return .failure(error(errors, partial, key))
        }
    }

    private func errors(_ left: Reply<Void>, _ right: Reply<Void>) -> Reply<Errors> {
        left.then { left in right.map { right in .success((left.error, right.error)) } }
    }

    private typealias Errors = (left: ShallowsError?, right: ShallowsError?)

    /// The error of a retrieval.
    private func error(_ left: ShallowsError?, _ right: ShallowsError?, _ key: Key) -> ShallowsError {
        let errors = [left, right].compactMap(\.self)
        guard !errors.allSatisfy(\.isMiss) else {
            return .miss(forKey: key, layer: name, cause: ZippedResultError(left: left?.underlyingError, right: right?.underlyingError))
        }
        return error((left, right), .failed, key)
    }

    /// The error of a write, which may have succeededLayers one side, or a part of one.
    private func error(_ errors: Errors, _ partial: ShallowsError.Code, _ key: Key?) -> ShallowsError {
        var succeeded = (errors.left == nil ? left.leaves : []) + (errors.right == nil ? right.leaves : [])
        succeeded += (errors.left?.succeededLayers ?? []) + (errors.right?.succeededLayers ?? [])
        var error = ShallowsError(
            succeeded.isEmpty ? .failed : partial, "One side or both of a pair failed", layer: name, key: key,
            cause: ZippedResultError(
                left: errors.left?.underlyingError, right: errors.right?.underlyingError,
                succeededLayers: partial == .failed ? [] : succeeded))
        (error.throwsCause, error.quotesCause) = (true, true)
        error.disposition = [errors.left, errors.right].contains { $0?.disposition == .failure } ? .failure : .unknown
        if partial != .failed { error.succeededLayers = succeeded }
        return error
    }
}
