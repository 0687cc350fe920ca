public import Foundation

/// What memory keeps of a value: the value itself, or its bytes.
///
/// The value where its type is `Sendable` and no class, so that a hit costs no decode. The bytes for everything else:
/// changing an object after it was recorded, or one that was accessed, must change nothing inside, and two threads
/// must never be handed one mutable object.
@frozen
public enum Remembered<Value> {
    case value(Value)
    case bytes(Data)
}

// Unchecked because `.value` is protected by `Remembrance.values`, which can be made only for a `Sendable` type, and
// a store makes `.value` only under it.
extension Remembered: @unchecked Sendable {}

/// Which of the two a store keeps.
public struct Remembrance<Value>: Sendable {
    @usableFromInline let keepsValues: Bool

    private init(keepsValues: Bool) { self.keepsValues = keepsValues }

    /// Bytes, for any type: one decode for each hit.
    public static var bytes: Remembrance { Remembrance(keepsValues: false) }
}

extension Remembrance where Value: Sendable {
    /// Values, where the type is no class: no decode on a hit. A struct that holds references promises value semantics
    /// by being recorded.
    public static var values: Remembrance { Remembrance(keepsValues: !(Value.self is AnyObject.Type)) }
}
