extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Returns this storage in front of a function that loads values: the last layer of a cache.
    ///
    /// ```swift
    /// let articles = memory.combined(with: disk).loading { id in try await server.article(id) }
    /// let article = try await articles.retrieve(forKey: 7)
    /// ```
    ///
    /// At most one load runs per key through this storage (*single-flight*); cancelling one caller does not affect the others, and
    /// cancelling the last cancels the load. A loaded value is set to every layer, unless the key was set or removed meanwhile: then
    /// the next call starts another load. An error is thrown to all callers, and is not cached. Setting sets to this storage only.
    ///
    /// - Parameters:
    ///   - name: The name of the function in errors and reports.
    ///   - load: Returns the value. Throws a ``StorageMiss`` if there is none.
    @preconcurrency
    public func loading(
        named name: String = "loading", _ load: @escaping @Sendable (ErasedKey) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        backed(by: ReadOnlyStorage(storageName: name, retrieve: load))
    }
}
