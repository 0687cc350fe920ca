extension ErasableStorage {
    /// Applies to this storage, of one kind, a transform that is written for storages that are retrieved from and set to.
    ///
    /// ```swift
    /// let numbers = readOnly.usingUnsupportedTransformation { $0.mapValues(transformIn: decode, transformOut: encode) }
    /// ```
    ///
    /// What this kind cannot do fails inside with an ``UnsupportedTransformationStorageError``, and cannot be asked of the result.
    public func usingUnsupportedTransformation<OtherKey, OtherValue>(
        _ transformation: (Storage<ErasedKey, ErasedValue>) -> Storage<OtherKey, OtherValue>
    ) -> AnyStorage<Access, OtherKey, OtherValue> {
        transformation(erased().retyped()).retyped()
    }
}
