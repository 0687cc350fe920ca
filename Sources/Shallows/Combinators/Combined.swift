// Compositions: which way values go between the two storages is in the name. `combined` pulls and pushes, `backed` pulls, `pushing`
// pushes. Their work is one `LayeredStorage`.

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// This storage in front of another: retrieves from the back what the front has not, and sets to both.
    ///
    /// ```swift
    /// let images = MemoryStorage<Filename, Image>().combined(with: disk.combined(with: server))
    /// ```
    ///
    /// *Retrieving* asks the front. Where it has no value, or fails with an error of which nothing is known (one of your own; that
    /// is reported), the back is asked, once for each key however many ask at a time, and what it has is set to the front, unless
    /// something was set or removed meanwhile. (A retrieval that a waiting call inside a task has begun is not joined by others.) A fill that fails is reported and changes nothing about the answer. Where the front
    /// fails with an error of this module, retrieving stops: a disk that fails is not a disk that is empty.
    ///
    /// *Setting* sets to the front, then to the back. If the back fails, the error's code is `partiallySet`
    /// and its ``ShallowsError/succeededLayers`` names who has the value. Sets of one key follow one another: one whose back does not answer
    /// holds up the next.
    @inlinable
    public func combined<Back: ErasableStorage>(
        with back: Back
    ) -> Storage<ErasedKey, ErasedValue>
    where Back.Access: ReadableAccess & WritableAccess, Back.ErasedKey == ErasedKey, Back.ErasedValue == ErasedValue {
        let (front, back) = (erased().asStorage(), back.erased().asStorage())
        return LayeredStorage(front, back).storage(.bothWays, layers: front.layers + back.layers)
    }

    /// This storage in front of one that values are only retrieved from: what is set is set to the front alone.
    ///
    /// See ``combined(with:)`` for retrieving.
    @inlinable
    public func backed<Back: ReadableStorageProtocol>(
        by back: Back
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased()
        return LayeredStorage(front, back.asReadOnlyStorage()).storage(.pulling, layers: front.layers)
    }

    /// This storage, whose values are set to another as well: what is retrieved comes from the front alone.
    ///
    /// See ``combined(with:)`` for setting.
    @inlinable
    public func pushing<Back: WritableStorageProtocol>(
        to back: Back
    ) -> Storage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let front = erased().asStorage()
        return LayeredStorage(front, back.asWriteOnlyStorage()).storage(.pushing, layers: front.layers)
    }
}

extension ErasableStorage where Access == StorageKind.ReadOnly {
    /// This storage in front of another: retrieves from the back what the front has not. Nothing is set to the front.
    @inlinable
    public func backed<Back: ReadableStorageProtocol>(
        by back: Back
    ) -> ReadOnlyStorage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let (front, back) = (erased(), back.asReadOnlyStorage())
        return LayeredStorage(front, back, fills: false).storage(.pulling, layers: front.layers + back.layers)
    }
}

extension ErasableStorage where Access == StorageKind.WriteOnly {
    /// This storage, whose values are set to another as well.
    @inlinable
    public func pushing<Back: WritableStorageProtocol>(
        to back: Back
    ) -> WriteOnlyStorage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let (front, back) = (erased(), back.asWriteOnlyStorage())
        return LayeredStorage(front, back).storage(.pushing, layers: front.layers + back.layers)
    }
}

extension ErasableStorage where Access == StorageKind.ReadWriteRemove {
    /// The same for two storages that values can be removed from: removing removes from both.
    ///
    /// - Parameters:
    ///   - back: The other.
    ///   - undoesPartialSets: Whether the front is given back what it had when the back fails to take a value. Costs a
    ///     retrieval from the front at every set, and sets of one key then take turns.
    @inlinable
    public func combined<Back: RemovableStorageProtocol>(
        with back: Back, undoingPartialSets undoesPartialSets: Bool = false
    ) -> RemovableStorage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let (front, back) = (erased(), back.asRemovableStorage())
        return LayeredStorage(front, back, undoes: undoesPartialSets).storage(.bothWays, layers: front.layers + back.layers)
    }

    /// The same for two storages that values can be removed from: removing removes from both.
    @inlinable
    public func pushing<Back: RemovableStorageProtocol>(
        to back: Back
    ) -> RemovableStorage<ErasedKey, ErasedValue> where Back.Key == ErasedKey, Back.Value == ErasedValue {
        let (front, back) = (erased(), back.asRemovableStorage())
        return LayeredStorage(front, back).storage(.pushing, layers: front.layers)
    }
}
