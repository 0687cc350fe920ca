public import Foundation

/// Any CBOR value. Use it for data without a matching Swift type: foreign data, tags, simple
/// values.
///
/// ```swift
/// let value = try CBORDecoder().decode(CBORValue.self, from: data)
/// print(value)  // {"name": "Ann", "born": 1(362188800)}
/// let name = value["name"]
/// ```
///
/// Encoding a decoded value reproduces the original data, except that numbers and lengths are
/// written in their shortest form, and map entries in the order of deterministic encoding. Only
/// `CBOREncoder` and `CBORDecoder` support this type; other coders throw.
public enum CBORValue: Hashable, Sendable {
    /// An integer. An integer beyond 64 bits is encoded as a bignum: a byte string with tag 2 or 3.
    case integer(Int128)
    /// A floating-point number of any width.
    case float(Double)
    /// A byte string.
    case bytes(Data)
    /// A text string.
    case text(String)
    /// An array.
    case array([CBORValue])
    /// A map, with keys of any kind.
    case map([CBORValue: CBORValue])
    /// A tag and the item that it applies to.
    indirect case tagged(UInt64, CBORValue)
    /// `true` or `false`.
    case bool(Bool)
    /// The simple value `null`.
    case null
    /// The simple value `undefined`.
    case undefined
    /// An unassigned simple value: 0 to 19, or 32 to 255. Encoding another number throws.
    case simple(UInt8)

    /// The integer; `nil` if this value is not an ``integer(_:)`` or does not fit an `Int`.
    ///
    /// ```swift
    /// let value: CBORValue = ["age": 30]
    /// let age = value["age"]?.intValue  // 30
    /// ```
    public var intValue: Int? {
        guard case .integer(let integer) = self else { return nil }
        return Int(exactly: integer)
    }

    /// Returns the element at an index, or `nil` if this value is not an array or the index is out
    /// of range.
    public subscript(index: Int) -> CBORValue? {
        guard case .array(let elements) = self,
            elements.indices.contains(index)
        else { return nil }
        return elements[index]
    }
}

extension CBORValue: Codable {
    /// Creates a value of any kind from the decoder of a ``CBORDecoder``.
    ///
    /// - Throws: `DecodingError` if another kind of decoder is used, or if two keys of a map are
    ///   equal as ``CBORValue``.
    public init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ItemDecoder else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "Only a CBORDecoder can decode a CBORValue."
                )
            )
        }
        self = try decoder.source.value(at: decoder.offset)
    }

    /// Encodes this value to the encoder of a ``CBOREncoder``.
    ///
    /// - Throws: `EncodingError` if another kind of encoder is used, if the value is nested too
    ///   deep, or if it contains an invalid simple value.
    public func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? ItemEncoder else {
            throw EncodingError.invalidValue(
                "(not shown)",
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only a CBOREncoder can encode a CBORValue."
                )
            )
        }
        try encoder.buffer.add(self, as: encoder.item)
    }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a ``text(_:)``.
    public init(stringLiteral text: String) { self = .text(text) }
    /// Creates an ``integer(_:)``.
    public init(integerLiteral integer: Int64) { self = .integer(Int128(integer)) }
    /// Creates a ``float(_:)``.
    public init(floatLiteral number: Double) { self = .float(number) }
    /// Creates a ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an ``array(_:)``.
    public init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
    /// Creates a ``map(_:)``. If a key is repeated, its last value is used.
    public init(dictionaryLiteral pairs: (CBORValue, CBORValue)...) {
        self = .map(Dictionary(pairs) { _, last in last })
    }
}
