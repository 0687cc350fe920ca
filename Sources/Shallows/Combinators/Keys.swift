public import VellumCore

extension ErasableStorage {
    /// Returns the storage under other keys.
    ///
    /// ```swift
    /// let numbered = storage.mapKeys { (number: Int) in String(number) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the other keys, if the transform does not imply it.
    ///   - transform: Returns the key of this storage. What it throws is thrown to the caller.
    @preconcurrency
    @inlinable
    public func mapKeys<OtherKey: Sendable>(
        to type: OtherKey.Type = OtherKey.self,
        _ transform: @escaping @Sendable (OtherKey) throws -> ErasedKey
    ) -> AnyStorage<Access, OtherKey, ErasedValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.withKeys(
                retrieve: { key, call in
                    do { return operations.retrieve(try transform(key), call) } catch {
                        return .failedTransform(error, name, key)
                    }
                },
                set: { value, key, call in
                    do { return operations.set(value, try transform(key), call) } catch {
                        return .failedTransform(error, name, key)
                    }
                },
                remove: { key, call in
                    do { return operations.remove(try transform(key), call) } catch {
                        return .failedTransform(error, name, key)
                    }
                },
                lockKey: { key in
                    // A key that cannot be transformed has nothing to update.
                    do { return operations.lockKey(try transform(key)) } catch { return nil }
                }
            )
        }
    }

    /// Returns the storage under keys whose raw values are this storage's keys, such as the cases
    /// of an `enum`.
    @inlinable
    public func mapKeys<OtherKey: RawRepresentable & Sendable>(
        toRawRepresentableType type: OtherKey.Type
    ) -> AnyStorage<Access, OtherKey, ErasedValue> where OtherKey.RawValue == ErasedKey {
        mapKeys { $0.rawValue }
    }

    /// Returns the storage of the value under one key: its functions need no key.
    @inlinable
    public func singleKey(_ key: ErasedKey) -> AnyStorage<Access, Void, ErasedValue> {
        mapKeys { key }
    }

    /// Returns the storage under other keys, transformed by an asynchronous function.
    @preconcurrency
    public func asyncMapKeys<OtherKey: Sendable>(
        to type: OtherKey.Type = OtherKey.self,
        _ transform: @escaping @Sendable (OtherKey) async throws -> ErasedKey
    ) -> AnyStorage<Access, OtherKey, ErasedValue> {
        let name = storageName
        let identity = Identity()
        return erased().transforming { operations in
            operations.withKeys(
                retrieve: { key, call in
                    .transforming(key, name, key, call, transform) { operations.retrieve($0, call) }
                },
                set: { value, key, call in
                    .transforming(key, name, key, call, transform) {
                        operations.set(value, $0, call)
                    }
                },
                remove: { key, call in
                    .transforming(key, name, key, call, transform) { operations.remove($0, call) }
                },
                // Which keys are one is not known yet: updates of all of them exclude each other.
                lockKey: { _ in LockKey(of: identity, ()) }
            )
        }
    }
}

extension ErasableStorage where ErasedKey == Filename {
    /// Returns the storage under strings.
    @inlinable
    public func usingStringKeys() -> AnyStorage<Access, String, ErasedValue> {
        mapKeys { Filename(rawValue: $0) }
    }
}

extension Reply {
    /// The failure of a user-supplied transform: never a miss, because the storage did answer.
    @usableFromInline
    static func failedTransform(_ error: any Error, _ layer: String, _ key: any Sendable) -> Reply {
        .failure(ShallowsError(error, layer: layer, key: key, disposition: .failure))
    }

    /// Goes on with the result of an asynchronous transform.
    static func transforming<Input: Sendable, Output: Sendable>(
        _ input: Input,
        _ layer: String,
        _ key: any Sendable,
        _ call: Call,
        _ transform: @escaping @Sendable (Input) async throws -> Output,
        _ next: @escaping @Sendable (Output) -> Reply
    ) -> Reply {
        Reply<Output>.foreign(layer: layer, key: key, call) {
            try await transform(input)
        }.then {
            outcome in
            outcome.mapError(\.strict).then(next)
        }
    }
}
