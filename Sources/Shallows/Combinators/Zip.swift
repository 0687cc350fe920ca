/// Why a pair is not whole: what failed on each side, `nil` where that side did not fail.
///
/// Setting a pair that fails on one side leaves the other side set, unless it was asked to undo.
public struct ZippedResultError: Error, StorageMiss {
    public let left: (any Error)?
    public let right: (any Error)?
    /// Of a set or a removal that failed: the names of the layers that it succeededLayers all the same, and in which it was not undone.
    public let succeededLayers: [String]

    public init(left: (any Error)?, right: (any Error)?, succeededLayers: [String] = []) {
        self.left = left
        self.right = right
        self.succeededLayers = succeededLayers
    }

    /// Whether no side failed and at least one has no value.
    public var isMiss: Bool {
        [left, right].allSatisfy { error in error.map { ($0 as? any StorageMiss)?.isMiss ?? false } ?? true }
    }
}

/// Two storages as one of pairs: a pair is there where both have a value.
///
/// ```swift
/// let zipped = zip(strings, numbers)   // Storage<String, (String, Int)>
/// zipped.set(("shallows", 3), forKey: "another-key")
/// ```
///
/// Both are asked at once, and the answer is there when both have answered. Setting sets both, also where one of them fails; the
/// error, a ``ZippedResultError``, says which.
public func zip<Left: ErasableStorage, Right: ErasableStorage>(
    _ left: Left, _ right: Right
) -> AnyStorage<Left.Access, Left.ErasedKey, (Left.ErasedValue, Right.ErasedValue)>
where Left.Access == Right.Access, Left.ErasedKey == Right.ErasedKey {
    ZippedStorage(left.erased(), right.erased(), undoes: false).storage()
}

/// Two storages as one of pairs, of which one side is undone where the other takes no value.
///
/// - Parameters:
///   - left: One side.
///   - right: The other.
///   - undoesPartialSets: Whether a side that was set is given back what it had. Costs a retrieval from both sides at every set,
///     and sets of one key then take turns.
public func zip<Key, LeftValue, RightValue>(
    _ left: RemovableStorage<Key, LeftValue>, _ right: RemovableStorage<Key, RightValue>, undoingPartialSets undoesPartialSets: Bool
) -> RemovableStorage<Key, (LeftValue, RightValue)> {
    ZippedStorage(left, right, undoes: undoesPartialSets).storage()
}
