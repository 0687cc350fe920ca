extension ErasableStorage {
    /// Returns the same storage with another name, which compositions of it use. Errors keep the name of the layer in which they arose.
    public func renaming(to newName: String) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let storage = erased()
        return AnyStorage(newName, storage.operations, parts: storage.parts, reach: storage.reach)
    }
}
