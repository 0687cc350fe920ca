// Storages of other values. A read-only storage needs one direction, and a write-only storage the
// other.

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Returns a storage of other values.
    ///
    /// ```swift
    /// let numbers = strings.mapValues(
    ///     to: Int.self, transformIn: { try Int($0).unwrap() },
    ///     transformOut: { String($0) })
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the other values, if the transforms do not imply it.
    ///   - transformIn: Returns the value that is retrieved. What it throws is a failure and not a
    ///     miss: a composition stops and throws it.
    ///   - transformOut: Returns the value that is set.
    @preconcurrency
    @inlinable
    public func mapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        transformIn: @escaping @Sendable (ErasedValue) throws -> OtherValue,
        transformOut: @escaping @Sendable (OtherValue) throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        mapping(in: transformIn, out: transformOut)
    }

    /// Returns a storage of values whose raw values are this storage's values, such as the cases of
    /// an `enum`.
    @inlinable
    public func mapValues<OtherValue: RawRepresentable & Sendable>(
        toRawRepresentableType type: OtherValue.Type
    ) -> AnyStorage<Access, ErasedKey, OtherValue> where OtherValue.RawValue == ErasedValue {
        mapping(
            in: { try OtherValue(rawValue: $0).unwrap() },
            out: { $0.rawValue }
        )
    }

    /// Returns a storage of other values, transformed by asynchronous functions.
    @preconcurrency
    public func asyncMapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        transformIn: @escaping @Sendable (ErasedValue) async throws -> OtherValue,
        transformOut: @escaping @Sendable (OtherValue) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        asyncMapping(in: transformIn, out: transformOut)
    }
}

extension ErasableStorage where Access == StorageKind.ReadOnly {
    /// Returns a storage of other values. See ``mapValues(to:transformIn:transformOut:)``.
    @preconcurrency
    @inlinable
    public func mapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        _ transform: @escaping @Sendable (ErasedValue) throws -> OtherValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        mapping(
            in: transform,
            out: { _ in throw UnsupportedTransformationStorageError.storageIsReadOnly }
        )
    }

    /// Returns a storage of values whose raw values are this storage's values, such as the cases of
    /// an `enum`.
    @inlinable
    public func mapValues<OtherValue: RawRepresentable & Sendable>(
        toRawRepresentableType type: OtherValue.Type
    ) -> AnyStorage<Access, ErasedKey, OtherValue> where OtherValue.RawValue == ErasedValue {
        mapValues { try OtherValue(rawValue: $0).unwrap() }
    }

    /// Returns a storage of other values, transformed by an asynchronous function.
    @preconcurrency
    public func asyncMapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        _ transform: @escaping @Sendable (ErasedValue) async throws -> OtherValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        asyncMapping(
            in: transform,
            out: { _ in throw UnsupportedTransformationStorageError.storageIsReadOnly }
        )
    }
}

extension ErasableStorage where Access == StorageKind.WriteOnly {
    /// Returns a storage of other values. See ``mapValues(to:transformIn:transformOut:)``.
    @preconcurrency
    @inlinable
    public func mapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        _ transform: @escaping @Sendable (OtherValue) throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        mapping(
            in: { _ in throw UnsupportedTransformationStorageError.storageIsWriteOnly },
            out: transform
        )
    }

    /// Returns a storage of values whose raw values are this storage's values, such as the cases of
    /// an `enum`.
    @inlinable
    public func mapValues<OtherValue: RawRepresentable & Sendable>(
        toRawRepresentableType type: OtherValue.Type
    ) -> AnyStorage<Access, ErasedKey, OtherValue> where OtherValue.RawValue == ErasedValue {
        mapValues { $0.rawValue }
    }

    /// Returns a storage of other values, transformed by an asynchronous function.
    @preconcurrency
    public func asyncMapValues<OtherValue: Sendable>(
        to type: OtherValue.Type = OtherValue.self,
        _ transform: @escaping @Sendable (OtherValue) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        asyncMapping(
            in: { _ in throw UnsupportedTransformationStorageError.storageIsWriteOnly },
            out: transform
        )
    }
}

extension ErasableStorage {
    /// Transforms values: what every transform of values is made of.
    @inlinable
    func mapping<OtherValue: Sendable>(
        in transformIn: @escaping @Sendable (ErasedValue) throws -> OtherValue,
        out transformOut: @escaping @Sendable (OtherValue) throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.withValues(
                retrieve: { key, call in
                    switch operations.retrieve(key, call) {
                    case .now(.success(let value)):
                        // The hit, without an allocation.
                        return .transformed(value, name, key, transformIn)
                    case .now(.failure(let error)): return .failure(error)
                    case .later(let promise):
                        return .later(
                            promise.then { outcome in
                                outcome.then { .transformed($0, name, key, transformIn) }
                            }
                        )
                    }
                },
                set: { value, key, call in
                    do { return operations.set(try transformOut(value), key, call) } catch {
                        return .failedTransform(error, name, key)
                    }
                }
            )
        }
    }

    func asyncMapping<OtherValue: Sendable>(
        in transformIn: @escaping @Sendable (ErasedValue) async throws -> OtherValue,
        out transformOut: @escaping @Sendable (OtherValue) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, OtherValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.withValues(
                retrieve: { key, call in
                    operations.retrieve(key, call).then { outcome in
                        outcome.then {
                            .transforming($0, name, key, call, transformIn) { .success($0) }
                        }
                    }
                },
                set: { value, key, call in
                    .transforming(value, name, key, call, transformOut) {
                        operations.set($0, key, call)
                    }
                }
            )
        }
    }
}

extension Reply {
    @inlinable
    static func transformed<Input>(
        _ input: Input,
        _ layer: String,
        _ key: any Sendable,
        _ transform: (Input) throws -> Value
    ) -> Reply {
        do { return .success(try transform(input)) } catch {
            return .failedTransform(error, layer, key)
        }
    }
}
