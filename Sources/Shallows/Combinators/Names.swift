extension ErasableStorage {
    /// The same storage under another name, which compositions of it will bear. Errors name the layer that they arose in.
    public func renaming(to newName: String) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let storage = erased()
        return AnyStorage(newName, storage.operations, parts: storage.parts, reach: storage.reach)
    }
}
