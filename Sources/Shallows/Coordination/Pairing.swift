/// Two storages side by side: what `zip` is made of.
///
/// Pairs are never mixed: sets of a key take turns, and a retrieval that a set overtook is made again.
final class Pairing<Key: Sendable, LeftValue: Sendable, RightValue: Sendable>: Sendable {
    private typealias Value = (LeftValue, RightValue)

    private let name: String
    private let left: Layer<Key, LeftValue>
    private let right: Layer<Key, RightValue>
    /// Whether a side that was set is given back what it had when the other takes no value.
    private let undoes: Bool
    private let gate: WriteGate
    private let stripe = FillGate.striping(of: Key.self)
    private let turns = Turns()

    init<Access: StorageAccess>(_ left: AnyStorage<Access, Key, LeftValue>, _ right: AnyStorage<Access, Key, RightValue>, undoes: Bool) {
        self.left = Layer(left)
        self.right = Layer(right)
        self.undoes = undoes
        let name = self.left.name + "+" + self.right.name
        gate = WriteGate(layer: name)
        self.name = name
    }

    func storage<Access: StorageAccess>() -> AnyStorage<Access, Key, (LeftValue, RightValue)> {
        AnyStorage(
            name,
            StorageVerbs(
                retrieve: { key, call in self.retrieve(key, call) },
                set: { value, key, call in self.set(value, key, call) },
                remove: { key, call in
                    self.writing(key, call) { call in
                        self.both(self.left.verbs.remove(key, call), self.right.verbs.remove(key, call), .partiallyRemoved, key)
                    }
                },
                removeAll: { call in
                    self.gate.writeAll(call) {
                        self.both(self.left.verbs.removeAll(call), self.right.verbs.removeAll(call), .partiallyRemoved, nil)
                    }
                },
                turn: left.verbs.turn), reach: left.leaves + right.leaves)
    }

    // MARK: Retrieving

    private func retrieve(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        // A side that asks for the pair while it is set does not wait for itself.
        guard !name(of: key).isCurrent else { return ask(key, call) }
        guard let ticket = gate.ticket(for: stripe(key)) else { return turns.run(turn(of: key), layer: name, call) { self.ask(key, $0) } }
        return ask(key, call).then { pair in
            // A set came between the two sides. In its turn no other can.
            guard self.gate.isCurrent(ticket) else {
                return self.turns.run(self.turn(of: key), layer: self.name, call) { self.ask(key, $0) }
            }
            return .now(pair)
        }
    }

    private func ask(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        let (left, right) = (left.verbs.retrieve(key, call), right.verbs.retrieve(key, call))
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
        writing(key, call) { [self] call in
            guard undoes else { return both(left.verbs.set(value.0, key, call), right.verbs.set(value.1, key, call), .partiallySet, key) }
            let wipes = gate.wipes
            let (leftBefore, rightBefore) = (left.verbs.retrieve(key, call), right.verbs.retrieve(key, call))
            return leftBefore.then { [self] leftBefore in
                rightBefore.then { [self] rightBefore in
                    for case let error? in [leftBefore.error, rightBefore.error] where error.standing == .failure {
                        return .failure(error)
                    }
                    return setOrUndo(value, key, call, (leftBefore.success, rightBefore.success), since: wipes)
                }
            }
        }
    }

    private func setOrUndo(
        _ value: (LeftValue, RightValue), _ key: Key, _ call: Call, _ before: (left: LeftValue?, right: RightValue?), since wipes: Int
    ) -> Reply<Void> {
        errors(left.verbs.set(value.0, key, call), right.verbs.set(value.1, key, call)).then { [self] outcome in
            guard case .success(let errors) = outcome, errors.left != nil || errors.right != nil else { return .success(()) }
            let error = error(errors, .partiallySet, key)
            guard error.code == .partiallySet else { return .failure(error) }
            return gate.undo(stripe(key), call, since: wipes) { [self] wasWiped, call in
                undo(left, to: wasWiped ? nil : before.left, key, call, of: errors.left, after: error).then { [self] outcome in
                    let error = outcome.error ?? error
                    return undo(right, to: wasWiped ? nil : before.right, key, call, of: errors.right, after: error)
                }
            }
        }
    }

    /// Undoes one side, where it took the value or a part of it did.
    private func undo<Value: Sendable>(
        _ side: Layer<Key, Value>, to before: Value?, _ key: Key, _ call: Call, of own: ShallowsError?, after error: ShallowsError
    ) -> Reply<Void> {
        if let own, own.reached.isEmpty { return .failure(error) }
        return side.undo(to: before, key, call, after: error)
    }

    private func writing(_ key: Key, _ call: Call, _ write: @escaping @Sendable (Call) -> Reply<Void>) -> Reply<Void> {
        turns.run(turn(of: key), layer: name, call) { [self] call in
            let named = NamedWork(name(of: key))
            return named.doing { gate.write(stripe(key), call) { write(call) } }.map { outcome in
                named.end()
                return outcome
            }
        }
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

    private func turn(of key: Key) -> Turn { Turn(of: self, key) }

    private func name(of key: Key) -> NamedWork.Name { NamedWork.Name(owner: ObjectIdentifier(self), key: KeyIdentity(key)) }

    /// The error of a retrieval.
    private func error(_ left: ShallowsError?, _ right: ShallowsError?, _ key: Key) -> ShallowsError {
        let errors = [left, right].compactMap(\.self)
        guard !errors.allSatisfy(\.isMiss) else {
            return .miss(forKey: key, layer: name, cause: ZippedResultError(left: left?.surfaced, right: right?.surfaced))
        }
        return error((left, right), .failed, key)
    }

    /// The error of a write, which may have reached one side, or a part of one.
    private func error(_ errors: Errors, _ partial: ShallowsError.Code, _ key: Key?) -> ShallowsError {
        var reached = (errors.left == nil ? left.leaves : []) + (errors.right == nil ? right.leaves : [])
        reached += (errors.left?.reached ?? []) + (errors.right?.reached ?? [])
        var error = ShallowsError(
            reached.isEmpty ? .failed : partial, "One side or both of a pair failed; the cause says which.", layer: name, key: key,
            cause: ZippedResultError(
                left: errors.left?.surfaced, right: errors.right?.surfaced, reached: partial == .failed ? [] : reached))
        error.isTransparent = true
        error.standing = [errors.left, errors.right].contains { $0?.standing == .failure } ? .failure : .unknown
        if partial != .failed { error.reached = reached }
        return error
    }
}
