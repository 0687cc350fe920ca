/// Two storages side by side: what `zip` is made of.
///
/// Pairs are never mixed: sets of a key take turns, and a retrieval that a set overtook is made again.
final class Pairing<Key: Sendable, LeftValue: Sendable, RightValue: Sendable>: Sendable {
    private typealias Value = (LeftValue, RightValue)

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
        gate = WriteGate(layer: self.left.name)
        self.undoes = undoes
    }

    func storage<Access: StorageAccess>() -> AnyStorage<Access, Key, (LeftValue, RightValue)> {
        AnyStorage(
            name,
            StorageVerbs(
                retrieve: { key, call in self.retrieve(key, call) },
                set: { value, key, call in self.set(value, key, call) },
                remove: { key, call in
                    self.writing(key, call) { self.both(self.left.verbs.remove(key, call), self.right.verbs.remove(key, call), key) }
                },
                removeAll: { call in
                    self.gate.writeAll(call) { self.both(self.left.verbs.removeAll(call), self.right.verbs.removeAll(call), ()) }
                },
                turn: left.verbs.turn))
    }

    private var name: String { left.name + "+" + right.name }

    // MARK: Retrieving

    private func retrieve(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        guard let ticket = gate.ticket(for: stripe(key)) else { return turns.run(turn(of: key), layer: name, call) { self.ask(key, call) } }
        return ask(key, call).then { pair in
            // A set came between the two sides. In its turn no other can.
            guard self.gate.isCurrent(ticket) else {
                return self.turns.run(self.turn(of: key), layer: self.name, call) { self.ask(key, call) }
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
        writing(key, call) { [self] in
            guard undoes else { return setBoth(value, key, call) }
            let (leftBefore, rightBefore) = (left.verbs.retrieve(key, call), right.verbs.retrieve(key, call))
            return leftBefore.then { [self] leftBefore in
                rightBefore.then { [self] rightBefore in
                    for case let error? in [leftBefore.error, rightBefore.error] where error.standing == .failure {
                        return .failure(error)
                    }
                    return setOrUndo(value, key, call, leftBefore, rightBefore)
                }
            }
        }
    }

    private func setBoth(_ value: (LeftValue, RightValue), _ key: Key, _ call: Call) -> Reply<Void> {
        both(left.verbs.set(value.0, key, call), right.verbs.set(value.1, key, call), key)
    }

    private func setOrUndo(
        _ value: (LeftValue, RightValue), _ key: Key, _ call: Call, _ leftBefore: Outcome<LeftValue>, _ rightBefore: Outcome<RightValue>
    ) -> Reply<Void> {
        setBoth(value, key, call).then { [self] outcome in
            guard case .failure(let error) = outcome, error.code == .partiallySet, let sides = error.cause as? ZippedResultError else {
                return .now(outcome)
            }
            return sides.left == nil
                ? left.undo(to: leftBefore, key, call, after: error) : right.undo(to: rightBefore, key, call, after: error)
        }
    }

    /// The outcome of both sides.
    private func both(_ left: Reply<Void>, _ right: Reply<Void>, _ key: any Sendable) -> Reply<Void> {
        left.then { left in
            right.map { right in
                if case (.success, .success) = (left, right) { return .success(()) }
                return .failure(self.error(left.error, right.error, key))
            }
        }
    }

    private func writing(_ key: Key, _ call: Call, _ write: @escaping @Sendable () -> Reply<Void>) -> Reply<Void> {
        turns.run(turn(of: key), layer: name, call) { self.gate.write(self.stripe(key), call, write) }
    }

    private func turn(of key: Key) -> Turn { Turn(of: self, key) }

    private func error(_ left: ShallowsError?, _ right: ShallowsError?, _ key: any Sendable) -> ShallowsError {
        let sides = ZippedResultError(left: left?.surfaced, right: right?.surfaced)
        let errors = [left, right].compactMap(\.self)
        guard !errors.allSatisfy(\.isMiss) else { return .miss(forKey: key, layer: name, cause: sides) }
        let isPartial = errors.count == 1
        var error = ShallowsError(
            isPartial ? .partiallySet : .failed, "One side or both of a pair failed; the cause says which.", layer: name, key: key,
            cause: sides)
        error.isTransparent = true
        error.standing = errors.contains { $0.standing == .failure } ? .failure : .unknown
        if isPartial { error.reached = left == nil ? self.left.leaves : self.right.leaves }
        return error
    }
}
