public import Foundation

/// A type whose values an index can hold: `Bool`, integers, floating-point numbers, `String`,
/// `Date`, `UUID`, `Data`, types with such a raw value, and optionals of all of these.
///
/// An index of an `enum` or another type with such a raw value stores the raw value. The type need
/// not conform; a type that does needs no code.
///
/// Two values must be equal exactly when their raw values are equal.
public protocol IndexableValue {
    /// The value as the index stores it; `nil` if its order is uncertain. Every query then examines
    /// the object that holds it.
    var indexValue: IndexValue? { get }

    /// The index value of values that are unequal to themselves, such as NaN; `nil` if the type has
    /// none. It is ordered before all others.
    static var incomparableIndexValue: IndexValue? { get }

    /// The name of the encoding. If it changes, the index of the property is rebuilt.
    static var indexEncoding: String { get }
}

/// An indexable type that is not itself an optional.
public protocol IndexableScalar: IndexableValue {}

extension IndexableValue {
    /// `nil`: every value is equal to itself.
    public static var incomparableIndexValue: IndexValue? { nil }
    /// The name of the type.
    public static var indexEncoding: String { "\(Self.self)" }
}

extension Optional: IndexableValue where Wrapped: IndexableScalar {
    /// The wrapped value's index value; `.null` for `nil`.
    public var indexValue: IndexValue? {
        switch self {
        case .some(let value): value.indexValue
        case nil: .null
        }
    }

    /// The wrapped type's value.
    public static var incomparableIndexValue: IndexValue? { Wrapped.incomparableIndexValue }
    /// The wrapped type's encoding, marked as optional.
    public static var indexEncoding: String { Wrapped.indexEncoding + "?" }
}

extension RawRepresentable where Self: IndexableValue, RawValue: IndexableValue {
    /// The raw value's index value.
    public var indexValue: IndexValue? { rawValue.indexValue }
    /// The raw type's value.
    public static var incomparableIndexValue: IndexValue? { RawValue.incomparableIndexValue }
    /// The raw type's encoding.
    public static var indexEncoding: String { RawValue.indexEncoding }
}

extension Bool: IndexableScalar {
    /// 0 for `false`, 1 for `true`.
    public var indexValue: IndexValue? { .integer(self ? 1 : 0) }
}

extension FixedWidthInteger where Self: IndexableScalar {
    /// The integer, in an encoding that keeps the order of the type.
    public var indexValue: IndexValue? {
        if let value = Int64(exactly: self), Self.isSigned || Self.bitWidth < 64 {
            return .integer(value)
        }
        guard Self.bitWidth <= 64 else { return .bytes(orderedBytes) }
        // Flipping the first bit maps the order of unsigned numbers to that of signed numbers.
        return .integer(Int64(bitPattern: UInt64(truncatingIfNeeded: self) ^ (1 << 63)))
    }

    /// The name of the encoding, which all integers of up to 64 bits share, except for `UInt` and
    /// `UInt64`.
    public static var indexEncoding: String {
        Self.bitWidth > 64
            ? "\(Self.self)" : Self.isSigned || Self.bitWidth < 64 ? "integer" : "unsigned"
    }

    /// The bytes with the most significant first, and negative numbers before positive ones.
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
    /// The integer's 16 bytes, in ascending order.
    public var indexValue: IndexValue? { .bytes(orderedBytes) }
}

extension UInt128: IndexableScalar {
    /// The integer's 16 bytes, in ascending order.
    public var indexValue: IndexValue? { .bytes(orderedBytes) }
}

extension BinaryFloatingPoint where Self: IndexableScalar {
    /// The rank of the number. Exact, because every number of these types is a `Double`.
    public var indexValue: IndexValue? { IndexValue(orderOf: Double(self)) }
    /// The rank of NaN.
    public static var incomparableIndexValue: IndexValue? { .notANumber }
    /// The encoding that all floating-point types share.
    public static var indexEncoding: String { "number" }
}

extension Double: IndexableScalar {}
extension Float: IndexableScalar {}

extension Date: IndexableScalar {
    /// The rank of the date, without rounding.
    public var indexValue: IndexValue? { IndexValue(orderOf: timeIntervalSinceReferenceDate) }
    /// The rank of a date whose interval is NaN.
    public static var incomparableIndexValue: IndexValue? { .notANumber }
}

extension String: IndexableScalar {
    /// The normal form (NFC) of the string; `nil` if it is uncertain.
    public var indexValue: IndexValue? { IndexValue(normalizing: self) }
}

extension UUID: IndexableScalar {
    /// The 16 bytes of the identifier.
    public var indexValue: IndexValue? { withUnsafeBytes(of: uuid) { .bytes(Data($0)) } }
}

extension Data: IndexableScalar {
    /// The bytes themselves.
    public var indexValue: IndexValue? { .bytes(self) }
}
