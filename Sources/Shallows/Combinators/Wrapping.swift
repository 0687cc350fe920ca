internal import VellumCore

extension ErasableStorage {
    /// Applies a transform that is written for storages that are retrieved from and set to.
    ///
    /// ```swift
    /// let numbers = readOnly.usingUnsupportedTransformation {
    ///     $0.mapValues(transformIn: decode, transformOut: encode)
    /// }
    /// ```
    ///
    /// Inside, what this kind cannot do fails with an ``UnsupportedTransformationStorageError``.
    /// The result is of this kind again.
    public func usingUnsupportedTransformation<OtherKey, OtherValue>(
        _ transformation: (Storage<ErasedKey, ErasedValue>) -> Storage<OtherKey, OtherValue>
    ) -> AnyStorage<Access, OtherKey, OtherValue> {
        let unsupported = StorageOperations<ErasedKey, ErasedValue>()
        let restricted = erased().transforming { operations in
            operations.with(
                retrieve: Access.self is any ReadableAccess.Type ? nil : unsupported.retrieve,
                set: Access.self is any WritableAccess.Type ? nil : unsupported.set
            )
        }
        return transformation(restricted.retyped()).retyped()
    }

    /// Returns the same storage with another name, which compositions of it use. Errors keep the
    /// name of the layer in which they arose.
    public func renaming(to newName: String) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let storage = erased()
        return AnyStorage(newName, storage.operations, parts: storage.parts, reach: storage.reach)
    }

    /// Returns a storage that answers calls one after another, in the order in which they are made:
    /// for a storage of your own that does not work on several threads.
    ///
    /// A call begins when the one before it was answered. A sync call blocks its thread until then.
    public func synchronizedCalls() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let mutex = KeyedMutex()
        let name = storageName
        let key = LockKey(of: mutex, ())
        return erased().transforming { operations in
            operations.with(
                retrieve: { storageKey, call in
                    mutex.run(key, layer: name, call) { operations.retrieve(storageKey, $0) }
                },
                set: { value, storageKey, call in
                    mutex.run(key, layer: name, call) { operations.set(value, storageKey, $0) }
                },
                remove: { storageKey, call in
                    mutex.run(key, layer: name, call) { operations.remove(storageKey, $0) }
                },
                removeAll: { call in
                    mutex.run(key, layer: name, call) { operations.removeAll($0) }
                }
            )
        }
    }
}
