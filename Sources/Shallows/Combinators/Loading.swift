extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// This storage in front of a function that has every value: the last layer of a cache.
    ///
    /// ```swift
    /// let articles = memory.combined(with: disk).loading { id in try await server.article(id) }
    /// let article = try await articles.retrieve(forKey: 7)
    /// ```
    ///
    /// Called for what no layer has, once for each key however many ask at a time (*single-flight*), and cancelled when none of
    /// them wants it any more. What it returns is set to every layer, unless something newer was set meanwhile; what it throws is
    /// thrown to all who ask, and is not remembered. Setting sets to this storage alone.
    ///
    /// - Parameters:
    ///   - name: What the function is called in errors and reports.
    ///   - load: Throws a ``StorageMiss`` where there is no such value.
    @preconcurrency
    public func loading(
        named name: String = "loading", _ load: @escaping @Sendable (ErasedKey) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        backed(by: ReadOnlyStorage(storageName: name, retrieve: load))
    }
}
