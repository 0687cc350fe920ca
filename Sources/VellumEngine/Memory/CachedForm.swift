public import Foundation
internal import VellumCore

/// What memory keeps of a value: the value itself, or its bytes.
///
/// The value where its type is `Sendable` and no class, so that a hit costs no decode. The bytes for everything else:
/// changing an object after it was recorded, or one that was accessed, must change nothing inside, and two threads
/// must never be handed one mutable object.
@frozen
@usableFromInline package enum CachedForm<Value> {
    case value(Value)
    case bytes(Data)
}

// Unchecked because `.value` is protected by `CachePolicy.values`, which can be made only for a `Sendable` type, and
// a store makes `.value` only under it.
extension CachedForm: @unchecked Sendable {}

/// Which of the two a store keeps.
@usableFromInline package struct CachePolicy<Value>: Sendable {
    @usableFromInline let keepsValues: Bool

    private init(keepsValues: Bool) { self.keepsValues = keepsValues }

    /// Bytes, for any type: one decode for each hit.
    @usableFromInline package static var bytes: CachePolicy { CachePolicy(keepsValues: false) }
}

extension CachePolicy where Value: Sendable {
    /// Values, where the type is no class: no decode on a hit. A struct that holds references promises value semantics
    /// by being recorded.
    @usableFromInline package static var values: CachePolicy { CachePolicy(keepsValues: !(Value.self is AnyObject.Type)) }
}
