extension ErasableStorage {
    /// Applies a transform that is written for storages that are retrieved from and set to.
    ///
    /// ```swift
    /// let numbers = readOnly.usingUnsupportedTransformation { $0.mapValues(transformIn: decode, transformOut: encode) }
    /// ```
    ///
    /// Inside, what this kind cannot do fails with an ``UnsupportedTransformationStorageError``. The result is of this kind again.
    public func usingUnsupportedTransformation<OtherKey, OtherValue>(
        _ transformation: (Storage<ErasedKey, ErasedValue>) -> Storage<OtherKey, OtherValue>
    ) -> AnyStorage<Access, OtherKey, OtherValue> {
        transformation(erased().transforming { $0.restricted(to: Access.self) }.retyped()).retyped()
    }
}

extension StorageOperations {
    /// These operations, of which those fail that the kind does not have.
    fileprivate func restricted<Access: StorageAccess>(to kind: Access.Type) -> StorageOperations {
        let unsupported = StorageOperations()
        return with(
            retrieve: Access.self is any ReadableAccess.Type ? nil : unsupported.retrieve,
            set: Access.self is any WritableAccess.Type ? nil : unsupported.set)
    }
}
