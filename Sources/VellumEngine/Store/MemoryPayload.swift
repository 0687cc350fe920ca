public import Foundation
internal import VellumCore

/// The form in which memory keeps a value: decoded, or encoded.
///
/// A value is kept decoded if its type is `Sendable` and not a class, so that a hit does not
/// decode. Otherwise its bytes are kept: changes to an object that was recorded or returned must
/// not affect the cache, and no two threads may share a mutable object.
@frozen
@usableFromInline package enum MemoryPayload<Value> {
    case value(Value)
    case bytes(Data)
}

// Unchecked because only a store with `CachePolicy.values` creates `.value`, and that policy exists
// only for `Sendable` types.
extension MemoryPayload: @unchecked Sendable {}

/// Whether a store keeps values decoded or encoded.
@usableFromInline package struct CachePolicy<Value>: Sendable {
    @usableFromInline let keepsValues: Bool

    private init(keepsValues: Bool) { self.keepsValues = keepsValues }

    /// Keeps bytes, for any type. Every hit decodes.
    @usableFromInline package static var bytes: CachePolicy { CachePolicy(keepsValues: false) }
}

extension CachePolicy where Value: Sendable {
    /// Keeps values, unless the type is a class. A hit does not decode. A struct that contains
    /// references must have value semantics.
    @usableFromInline package static var values: CachePolicy {
        CachePolicy(keepsValues: !(Value.self is AnyObject.Type))
    }
}
