// Compositions of two storages: `combined` pulls and pushes, `backed` pulls, `pushing` pushes. Each
// is a `LayeredStorage`.

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Returns this storage in front of another: retrieves from the back what the front does not
    /// have, and sets to both.
    ///
    /// ```swift
    /// let images = MemoryStorage<Filename, Image>()
    ///     .combined(with: disk.combined(with: server))
    /// ```
    ///
    /// *Retrieving* asks the front. If it has no value, the back is asked, at most once at a time
    /// for each key, and its value is set to the front, unless the key was set or removed
    /// meanwhile. If that fill fails, it is reported and the value is still returned. A miss of the
    /// front continues with the back; so does an unknown error of a user-supplied storage, which is
    /// reported, unless that storage is ``strict()``; a failure of a storage of this package stops,
    /// so that a disk that fails does not look empty. (Other calls do not join a load that a
    /// blocking call inside a task has begun.) What is written to the front by others than this
    /// storage does not stop the fill.
    ///
    /// *Setting* sets to the front, then to the back. If the back fails, the error's code is
    /// `partiallySet`, and its ``ShallowsError/succeededLayers`` names the layers that have the
    /// value. Writes of one key follow one another: a back that does not answer holds up the next.
    ///
    /// Failed sets without a completion are reported to the reporters of both layers. See
    /// ``ErasableStorage/reporting(_:)``.
    @inlinable
    public func combined<Back: ErasableStorage>(
        with back: Back
    ) -> Storage<ErasedKey, ErasedValue>
    where
        Back.Access: ReadableAccess & WritableAccess, Back.ErasedKey == ErasedKey,
        Back.ErasedValue == ErasedValue
    {
        let front = erased().asStorage()
        let back = back.erased().asStorage()
        return LayeredStorage(front, back).storage(.bothWays, layers: front.layers + back.layers)
    }

    /// Returns this storage in front of one that is only retrieved from: values are set to the
    /// front only.
    ///
    /// See `combined(with:)` for retrieving. A miss of the front continues with the back; so does
    /// an unknown error of a user-supplied storage, which is reported, unless that storage is
    /// ``strict()``; a failure of a storage of this package stops.
    @inlinable
    public func backed<Back: ReadableStorageProtocol>(
        by back: Back
    ) -> AnyStorage<Access, ErasedKey, ErasedValue>
    where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        return LayeredStorage(front, back.asReadOnlyStorage()).storage(
            .pulling,
            layers: front.layers
        )
    }

    /// Returns this storage, with every value also set to another: values are retrieved from the
    /// front only.
    ///
    /// See `combined(with:)` for setting.
    @inlinable
    public func pushing<Back: WritableStorageProtocol>(
        to back: Back
    ) -> Storage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased().asStorage()
        return LayeredStorage(front, back.asWriteOnlyStorage()).storage(
            .pushing,
            layers: front.layers
        )
    }
}

extension ErasableStorage where Access == StorageKind.ReadOnly {
    /// Returns this storage in front of another: retrieves from the back what the front does not
    /// have. Nothing is set to the front.
    @inlinable
    public func backed<Back: ReadableStorageProtocol>(
        by back: Back
    ) -> ReadOnlyStorage<ErasedKey, ErasedValue>
    where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        let back = back.asReadOnlyStorage()
        return LayeredStorage(front, back, fills: false).storage(
            .pulling,
            layers: front.layers + back.layers
        )
    }
}

extension ErasableStorage where Access == StorageKind.WriteOnly {
    /// Returns this storage, with every value also set to another.
    @inlinable
    public func pushing<Back: WritableStorageProtocol>(
        to back: Back
    ) -> WriteOnlyStorage<ErasedKey, ErasedValue>
    where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        let back = back.asWriteOnlyStorage()
        return LayeredStorage(front, back).storage(.pushing, layers: front.layers + back.layers)
    }
}

extension ErasableStorage where Access == StorageKind.ReadWriteRemove {
    /// Returns this storage in front of another, both of which can remove: removing removes from
    /// both.
    ///
    /// See `combined(with:)` for retrieving and setting. Every layer is asked to remove, even if
    /// one of them fails.
    @inlinable
    public func combined<Back: RemovableStorageProtocol>(
        with back: Back
    ) -> RemovableStorage<ErasedKey, ErasedValue>
    where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        let back = back.asRemovableStorage()
        return LayeredStorage(front, back).storage(.bothWays, layers: front.layers + back.layers)
    }

    /// Returns this storage, with every value also set to, and removed from, another.
    @inlinable
    public func pushing<Back: RemovableStorageProtocol>(
        to back: Back
    ) -> RemovableStorage<ErasedKey, ErasedValue>
    where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        let back = back.asRemovableStorage()
        return LayeredStorage(front, back).storage(.pushing, layers: front.layers)
    }
}

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Returns this storage in front of a function that loads values: the last layer of a cache.
    ///
    /// ```swift
    /// let articles = memory.combined(with: disk).loading { id in
    ///     try await server.article(id)
    /// }
    /// let article = try await articles.retrieve(forKey: 7)
    /// ```
    ///
    /// At most one load runs per key through this storage (*single-flight*); cancelling one caller
    /// does not affect the others, and cancelling the last cancels the load. A loaded value is set
    /// to every layer, unless the key was set or removed meanwhile: then the next call starts
    /// another load. An error is thrown to all callers, and is not cached. Setting sets to this
    /// storage only.
    ///
    /// - Parameters:
    ///   - name: The name of the function in errors and reports.
    ///   - load: Returns the value. Throws a ``StorageMiss`` if there is none.
    @preconcurrency
    public func loading(
        named name: String = "loading",
        _ load: @escaping @Sendable (ErasedKey) async throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        backed(by: ReadOnlyStorage(storageName: name, retrieve: load))
    }
}
