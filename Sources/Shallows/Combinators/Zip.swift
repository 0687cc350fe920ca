/// Returns a storage of pairs: a pair is there if both storages have a value.
///
/// ```swift
/// let zipped = zip(strings, numbers)   // Storage<String, (String, Int)>
/// zipped.set(("shallows", 3), forKey: "another-key")
/// ```
///
/// Both are asked concurrently. Setting sets both, even if one of them fails; the error, a
/// ``ZippedResultError``, says which. Writes of one key follow one another, and a pair is never
/// made of the values of two sets.
public func zip<Left: ErasableStorage, Right: ErasableStorage>(
    _ left: Left,
    _ right: Right
) -> AnyStorage<Left.Access, Left.ErasedKey, (Left.ErasedValue, Right.ErasedValue)>
where Left.Access == Right.Access, Left.ErasedKey == Right.ErasedKey {
    ZippedStorage(left.erased(), right.erased()).storage()
}
