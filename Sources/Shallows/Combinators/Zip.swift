public import Foundation

/// The error of a pair: the errors of its sides.
///
/// A set that fails on one side leaves the other side set.
public struct ZippedResultError: LocalizedError, StorageMiss {
    /// The error of the left side; `nil` if it did not fail.
    public let left: (any Error)?
    /// The error of the right side; `nil` if it did not fail.
    public let right: (any Error)?
    /// If a set or a removal failed: the names of the layers where it succeeded.
    public let succeededLayers: [String]

    /// Creates the error of a pair.
    public init(left: (any Error)?, right: (any Error)?, succeededLayers: [String] = []) {
        self.left = left
        self.right = right
        self.succeededLayers = succeededLayers
    }

    /// Whether no side failed, and at least one has no value.
    public var isMiss: Bool {
        [left, right].allSatisfy { error in error.map { ($0 as? any StorageMiss)?.isMiss ?? false } ?? true }
    }

    /// The texts of both errors, for `localizedDescription`.
    public var errorDescription: String? {
        [("left", left), ("right", right)].compactMap { side, error in error.map { "\(side): \(ShallowsError.reason(of: $0))" } }
            .joined(separator: "; ")
    }
}

/// Returns a storage of pairs: a pair is there if both storages have a value.
///
/// ```swift
/// let zipped = zip(strings, numbers)   // Storage<String, (String, Int)>
/// zipped.set(("shallows", 3), forKey: "another-key")
/// ```
///
/// Both are asked concurrently. Setting sets both, even if one of them fails; the error, a ``ZippedResultError``, says which. Writes of one
/// key follow one another, and a pair is never made of the values of two sets.
public func zip<Left: ErasableStorage, Right: ErasableStorage>(
    _ left: Left, _ right: Right
) -> AnyStorage<Left.Access, Left.ErasedKey, (Left.ErasedValue, Right.ErasedValue)>
where Left.Access == Right.Access, Left.ErasedKey == Right.ErasedKey {
    ZippedStorage(left.erased(), right.erased()).storage()
}
