public import Tiers

extension ErasableStorage {
    /// The storage under other keys.
    ///
    /// ```swift
    /// let numbered = storage.mapKeys { (number: Int) in String(number) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the other keys, where the transform does not say it.
    ///   - transform: Turns a key into one of this storage. What it throws is thrown to the caller.
    @preconcurrency
    @inlinable
    public func mapKeys<OtherKey: Sendable>(
        to type: OtherKey.Type = OtherKey.self, _ transform: @escaping @Sendable (OtherKey) throws -> ErasedKey
    ) -> AnyStorage<Access, OtherKey, ErasedValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.withKeys(
                retrieve: { key, call in
                    do { return operations.retrieve(try transform(key), call) } catch { return .failedTransform(error, name, key) }
                },
                set: { value, key, call in
                    do { return operations.set(value, try transform(key), call) } catch { return .failedTransform(error, name, key) }
                },
                remove: { key, call in
                    do { return operations.remove(try transform(key), call) } catch { return .failedTransform(error, name, key) }
                },
                lockKey: { key in
                    // A key that cannot be transformed has nothing to update.
                    do { return operations.lockKey(try transform(key)) } catch { return nil }
                })
        }
    }

    /// The storage under keys that stand for this storage's, such as the cases of an `enum` of strings.
    @inlinable
    public func mapKeys<OtherKey: RawRepresentable & Sendable>(
        toRawRepresentableType type: OtherKey.Type
    ) -> AnyStorage<Access, OtherKey, ErasedValue> where OtherKey.RawValue == ErasedKey {
        mapKeys { $0.rawValue }
    }

    /// The storage of what lies under one key: its operations need no key.
    @inlinable
    public func singleKey(_ key: ErasedKey) -> AnyStorage<Access, Void, ErasedValue> {
        mapKeys { key }
    }

    /// The storage under keys that an asynchronous function makes.
    @preconcurrency
    public func asyncMapKeys<OtherKey: Sendable>(
        to type: OtherKey.Type = OtherKey.self, _ transform: @escaping @Sendable (OtherKey) async throws -> ErasedKey
    ) -> AnyStorage<Access, OtherKey, ErasedValue> {
        let (name, identity) = (storageName, Identity())
        return erased().transforming { operations in
            operations.withKeys(
                retrieve: { key, call in .transforming(key, name, key, call, transform) { operations.retrieve($0, call) } },
                set: { value, key, call in .transforming(key, name, key, call, transform) { operations.set(value, $0, call) } },
                remove: { key, call in .transforming(key, name, key, call, transform) { operations.remove($0, call) } },
                // Which keys are one is not known yet: updates of all of them exclude each other.
                lockKey: { _ in LockKey(of: identity, ()) })
        }
    }
}

extension ErasableStorage where ErasedKey == Filename {
    /// The storage under strings.
    @inlinable
    public func usingStringKeys() -> AnyStorage<Access, String, ErasedValue> {
        mapKeys { Filename(rawValue: $0) }
    }
}

extension Reply {
    /// What a transform of a user's own threw: a failure, whatever it is, for the storage that it was asked of did answer.
    @usableFromInline
    static func failedTransform(_ error: any Error, _ layer: String, _ key: any Sendable) -> Reply {
        .failure(ShallowsError(error, layer: layer, key: key, disposition: .failure))
    }

    /// Goes on with what an asynchronous transform makes of a value.
    static func transforming<Input: Sendable, Output: Sendable>(
        _ input: Input, _ layer: String, _ key: any Sendable, _ call: Call,
        _ transform: @escaping @Sendable (Input) async throws -> Output, _ next: @escaping @Sendable (Output) -> Reply
    ) -> Reply {
        Reply<Output>.foreign(layer: layer, key: key, call) { try await transform(input) }.then { outcome in
            switch outcome {
            case .success(let output): return next(output)
            case .failure(var error):
                if error.disposition == .unknown { error.disposition = .failure }
                return .failure(error)
            }
        }
    }
}
