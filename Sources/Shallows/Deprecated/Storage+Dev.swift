extension StorageProtocol {
    /// Single calls that involve a second storage.
    @available(*, deprecated, message: "Write 'backed(by:)' or 'pushing(to:)', which return a storage to keep.")
    public var dev: Storage<Key, Value>.Dev { Storage<Key, Value>.Dev(frontStorage: asStorage()) }
}

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// Single calls that involve a second storage. See ``StorageProtocol/dev``.
    @available(*, deprecated, message: "Write 'backed(by:)' or 'pushing(to:)', which return a storage to keep.")
    public struct Dev: Sendable {
        let frontStorage: Storage<Key, Value>

        /// Sets the value to this storage, and then to the other.
        @preconcurrency
        public func set<Back: WritableStorageProtocol>(
            _ value: Value, forKey key: Key, pushingTo backStorage: Back,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) where Back.Key == Key, Back.Value == Value {
            frontStorage.pushing(to: backStorage).set(value, forKey: key, completion: completion)
        }

        /// Retrieves the value from this storage, or from the other and sets it to this one.
        @preconcurrency
        public func retrieve<Back: ReadableStorageProtocol>(
            forKey key: Key, backedBy backStorage: Back, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
        ) where Back.Key == Key, Back.Value == Value {
            frontStorage.backed(by: backStorage).retrieve(forKey: key, completion: completion)
        }
    }
}
