public import Foundation

/// A type whose values an index can hold: `Bool`, integers, floating-point numbers, `String`, `Date`, `UUID`, `Data`, what is raw
/// representable by these, and optionals of all.
///
/// An `enum` or another type with such a raw value conforms by saying so:
///
/// ```swift
/// enum Kind: String, Codable, IndexableValue { case small, large }
/// ```
///
/// Two values must be equal exactly when their raw values are.
public protocol IndexableValue {
    /// The value as an index keeps it; nothing if it has no certain place there. Then the object that holds it is looked at by
    /// every query.
    var indexValue: IndexValue? { get }

    /// Where those values stand that compare with nothing, not even with themselves, where the type has such: before all others.
    static var incomparableIndexValue: IndexValue? { get }

    /// How the values are kept: an index of the same property is another one if this changes.
    static var indexEncoding: String { get }
}

/// An indexable type that is not an optional itself.
public protocol IndexableScalar: IndexableValue {}

extension IndexableValue {
    public static var incomparableIndexValue: IndexValue? { nil }
    public static var indexEncoding: String { "\(Self.self)" }
}

extension Optional: IndexableValue where Wrapped: IndexableScalar {
    public var indexValue: IndexValue? {
        switch self {
        case .some(let value): value.indexValue
        case nil: .null
        }
    }

    public static var incomparableIndexValue: IndexValue? { Wrapped.incomparableIndexValue }
    public static var indexEncoding: String { Wrapped.indexEncoding + "?" }
}

extension RawRepresentable where Self: IndexableValue, RawValue: IndexableValue {
    public var indexValue: IndexValue? { rawValue.indexValue }
    public static var incomparableIndexValue: IndexValue? { RawValue.incomparableIndexValue }
    public static var indexEncoding: String { RawValue.indexEncoding }
}

extension Bool: IndexableScalar {
    public var indexValue: IndexValue? { .integer(self ? 1 : 0) }
}

extension FixedWidthInteger where Self: IndexableScalar {
    public var indexValue: IndexValue? {
        if let value = Int64(exactly: self), Self.isSigned || Self.bitWidth < 64 { return .integer(value) }
        guard Self.bitWidth <= 64 else { return .bytes(orderedBytes) }
        // The order of unsigned numbers is that of signed ones with the first bit turned over.
        return .integer(Int64(bitPattern: UInt64(truncatingIfNeeded: self) ^ (1 << 63)))
    }

    /// Integers of up to 64 bits are kept alike but for the largest unsigned ones.
    public static var indexEncoding: String {
        Self.bitWidth > 64 ? "\(Self.self)" : Self.isSigned || Self.bitWidth < 64 ? "integer" : "unsigned"
    }

    /// The most significant byte first, and below zero before above.
    fileprivate var orderedBytes: Data {
        var value = (Self.isSigned ? self ^ .min : self).bigEndian
        return withUnsafeBytes(of: &value) { Data($0) }
    }
}

extension Int: IndexableScalar {}
extension Int8: IndexableScalar {}
extension Int16: IndexableScalar {}
extension Int32: IndexableScalar {}
extension Int64: IndexableScalar {}
extension UInt: IndexableScalar {}
extension UInt8: IndexableScalar {}
extension UInt16: IndexableScalar {}
extension UInt32: IndexableScalar {}
extension UInt64: IndexableScalar {}

extension Int128: IndexableScalar {
    public var indexValue: IndexValue? { .bytes(orderedBytes) }
}

extension UInt128: IndexableScalar {
    public var indexValue: IndexValue? { .bytes(orderedBytes) }
}

extension BinaryFloatingPoint where Self: IndexableScalar {
    // Exact: every number of these types is a `Double`.
    public var indexValue: IndexValue? { IndexValue(orderOf: Double(self)) }
    public static var incomparableIndexValue: IndexValue? { .notANumber }
    public static var indexEncoding: String { "number" }
}

extension Double: IndexableScalar {}
extension Float: IndexableScalar {}

extension Date: IndexableScalar {
    /// To the last bit.
    public var indexValue: IndexValue? { IndexValue(orderOf: timeIntervalSinceReferenceDate) }
    public static var incomparableIndexValue: IndexValue? { .notANumber }
}

extension String: IndexableScalar {
    public var indexValue: IndexValue? { IndexValue(normalizing: self) }
}

extension UUID: IndexableScalar {
    public var indexValue: IndexValue? { withUnsafeBytes(of: uuid) { .bytes(Data($0)) } }
}

extension Data: IndexableScalar {
    public var indexValue: IndexValue? { .bytes(self) }
}
