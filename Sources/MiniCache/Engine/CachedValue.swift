internal import Foundation
internal import VellumCore
internal import VellumEngine

/// What the engine keeps for a cache: a value that was decoded, bytes that were not yet, or the knowledge that there is nothing.
///
/// One engine serves handles with different types of values, so the type is looked at when a handle reads: by its identity,
/// without a cast.
@usableFromInline
struct CachedValue: Sendable {
    @usableFromInline let box: CacheBox

    @inlinable
    init(_ box: CacheBox) { self.box = box }

    /// The value, if it is there as one of this type.
    @inlinable
    func typed<Value: Codable>(as type: Value.Type) -> TypedBox<Value>? {
        Swift.type(of: box) == TypedBox<Value>.self ? unsafeDowncast(box, to: TypedBox<Value>.self) : nil
    }
}

/// One of the three. Unchecked because what a box holds is protected by never being changed, and by `TypedBox` being made only
/// for `Sendable` values.
@usableFromInline
class CacheBox: @unchecked Sendable {
    @usableFromInline
    init() {}

    /// The bytes that the disk holds for it.
    func encoded() throws -> Data { preconditionFailure("Each kind of box says what its bytes are.") }
}

/// A value as its users know it. Unchecked because `value` is protected by never being changed, and is of a `Sendable` type.
@usableFromInline
final class TypedBox<Value: Codable>: CacheBox, @unchecked Sendable {
    @usableFromInline let value: Value
    /// What it becomes on the disk.
    private let format: CodableFormat

    init(_ value: Value, _ format: CodableFormat) {
        self.value = value
        self.format = format
        super.init()
    }

    override func encoded() throws -> Data { try ValueCoding.encode(value, as: format) }
}

/// Bytes that no handle has decoded yet, or none may keep decoded. Unchecked because `bytes` is protected by never being changed.
final class BytesBox: CacheBox, @unchecked Sendable {
    let bytes: Data

    init(_ bytes: Data) {
        self.bytes = bytes
        super.init()
    }

    override func encoded() -> Data { bytes }
}

/// A miss that was remembered. Unchecked because there is nothing to be protected by anything.
final class NothingBox: CacheBox, @unchecked Sendable {
    /// It takes room as a value does, so that limits bound how many misses there are. No format begins with such a byte.
    static let bytes = Data([2]) + Data(count: 63)

    override func encoded() -> Data { Self.bytes }
}
