public import Foundation

/// Two storages side by side: what `zip` is made of.
///
/// A pair is never made of two sets: sets of a key follow one another, and a retrieval that a set
/// overtook is made again.
final class ZippedStorage<Key: Sendable, LeftValue: Sendable, RightValue: Sendable>: Sendable {
    private let name: String
    private let left: Storage<Key, LeftValue>
    private let right: Storage<Key, RightValue>
    private let order: WriteOrder<Key>

    init<Access: StorageAccess>(
        _ left: AnyStorage<Access, Key, LeftValue>,
        _ right: AnyStorage<Access, Key, RightValue>
    ) {
        self.left = left.retyped()
        self.right = right.retyped()
        name = left.storageName + "+" + right.storageName
        order = WriteOrder(layer: name)
    }

    func storage<Access: StorageAccess>() -> AnyStorage<Access, Key, (LeftValue, RightValue)> {
        AnyStorage(
            name,
            StorageOperations(
                retrieve: { key, call in self.retrieve(key, call) },
                set: { value, key, call in self.set(value, key, call) },
                remove: { key, call in self.remove(key, call) },
                removeAll: { call in self.removeAll(call) },
                lockKey: left.operations.lockKey,
                fireAndForget: left.operations.fireAndForget.reporting(
                    with: right.operations.fireAndForget
                )
            ),
            reach: left.leaves + right.leaves
        )
    }

    private func remove(_ key: Key, _ call: Call) -> Reply<Void> {
        order.write(key, call) { [self] call in
            both(
                left.operations.remove(key, call),
                right.operations.remove(key, call),
                .partiallyRemoved,
                key
            )
        }
    }

    private func removeAll(_ call: Call) -> Reply<Void> {
        order.writeAll(call) { [self] in
            both(
                left.operations.removeAll(call),
                right.operations.removeAll(call),
                .partiallyRemoved,
                nil
            )
        }
    }

    // MARK: Retrieving

    private func retrieve(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        // A side that asks for the pair while it is set does not wait for itself.
        guard !order.isWrittenByCaller(key) else { return ask(key, call) }
        let askAlone: @Sendable (Call) -> Reply<(LeftValue, RightValue)> = { [self] call in
            ask(key, call)
        }
        guard let ticket = order.ticket(key) else { return order.read(key, call, askAlone) }
        return ask(key, call).then { [self] pair in
            // If a set came between the two reads, both sides are read again while the key is
            // locked.
            order.isCurrent(ticket) ? .now(pair) : order.read(key, call, askAlone)
        }
    }

    private func ask(_ key: Key, _ call: Call) -> Reply<(LeftValue, RightValue)> {
        let left = left.operations.retrieve(key, call)
        let right = right.operations.retrieve(key, call)
        return left.then { left in
            right.map { right in
                switch (left, right) {
                case (.success(let left), .success(let right)):
                    .success((left, right))
                default: .failure(self.error(left.error, right.error, key))
                }
            }
        }
    }

    // MARK: Setting and removing

    private func set(
        _ value: (LeftValue, RightValue),
        _ key: Key,
        _ call: Call
    ) -> Reply<Void> {
        order.write(key, call) { [self] call in
            both(
                left.operations.set(value.0, key, call),
                right.operations.set(value.1, key, call),
                .partiallySet,
                key
            )
        }
    }

    /// The outcome of both sides.
    private func both(
        _ left: Reply<Void>,
        _ right: Reply<Void>,
        _ partial: ShallowsError.Code,
        _ key: Key?
    ) -> Reply<Void> {
        left.then { left in
            right.map { [self] right in
                left.error == nil && right.error == nil
                    ? .success(())
                    : .failure(error(left.error, right.error, partial, key))
            }
        }
    }

    /// The error of a retrieval.
    private func error(_ left: ShallowsError?, _ right: ShallowsError?, _ key: Key) -> ShallowsError
    {
        let errors = [left, right].compactMap(\.self)
        guard !errors.allSatisfy(\.isMiss) else {
            return .miss(
                forKey: key,
                layer: name,
                cause: ZippedResultError(left: left?.underlyingError, right: right?.underlyingError)
            )
        }
        return error(left, right, .failed, key)
    }

    /// The error of a write, which may have reached one side, or a part of one.
    private func error(
        _ left: ShallowsError?,
        _ right: ShallowsError?,
        _ partial: ShallowsError.Code,
        _ key: Key?
    ) -> ShallowsError {
        var succeeded =
            (left == nil ? self.left.leaves : [])
            + (right == nil ? self.right.leaves : [])
        succeeded += (left?.succeededLayers ?? []) + (right?.succeededLayers ?? [])
        var error = ShallowsError(
            succeeded.isEmpty ? .failed : partial,
            "One side or both of a pair failed",
            layer: name,
            key: key,
            cause: ZippedResultError(
                left: left?.underlyingError,
                right: right?.underlyingError,
                succeededLayers: partial == .failed ? [] : succeeded
            )
        )
        error.throwsCause = true
        error.quotesCause = true
        error.disposition =
            [left, right].contains { $0?.disposition == .failure } ? .failure : .unknown
        if partial != .failed { error.succeededLayers = succeeded }
        return error
    }
}

/// The error of a pair: the errors of its sides.
///
/// A set that fails on one side leaves the other side set.
public struct ZippedResultError: LocalizedError, StorageMiss {
    /// The error of the left side; `nil` if it did not fail.
    public let left: (any Error)?
    /// The error of the right side; `nil` if it did not fail.
    public let right: (any Error)?
    /// If a set or a removal failed: the names of the layers where it succeeded.
    public let succeededLayers: [String]

    /// Creates the error of a pair.
    public init(
        left: (any Error)?,
        right: (any Error)?,
        succeededLayers: [String] = []
    ) {
        self.left = left
        self.right = right
        self.succeededLayers = succeededLayers
    }

    /// Whether no side failed, and at least one has no value.
    public var isMiss: Bool {
        [left, right].allSatisfy { error in
            error.map { ($0 as? any StorageMiss)?.isMiss ?? false } ?? true
        }
    }

    /// The texts of both errors, for `localizedDescription`.
    public var errorDescription: String? {
        [("left", left), ("right", right)].compactMap { side, error in
            error.map { "\(side): \(ShallowsError.reason(of: $0))" }
        }
        .joined(separator: "; ")
    }
}
