public import Foundation

/// Any value that CBOR can say, for what no type of a program stands for: data of others, tags, simple values.
///
/// ```swift
/// let value = try CBORDecoder().decode(CBORValue.self, from: data)
/// print(value)  // {"name": "Ann", "born": 1(362188800)}
/// let name = value["name"]
/// ```
///
/// Encoded, it is what it was decoded from, but for the lengths of numbers and strings, which are the shortest again, and the order of a
/// map's pairs, which is that of deterministic encoding. Only the coders of CBOR can encode it.
public enum CBORValue: Hashable, Sendable {
    /// An integer. One beyond 64 bits is a byte string under the tag 2 or 3 in the data.
    case integer(Int128)
    case float(Double)
    case bytes(Data)
    case text(String)
    case array([CBORValue])
    case map([CBORValue: CBORValue])
    indirect case tagged(UInt64, CBORValue)
    case bool(Bool)
    case null
    case undefined
    /// A simple value that has no name: 0 to 19, or 32 to 255.
    case simple(UInt8)

    /// The value under the key; `nil` if this is no map, or has no such key.
    public subscript(key: CBORValue) -> CBORValue? {
        guard case .map(let pairs) = self else { return nil }
        return pairs[key]
    }

    /// The element at the place; `nil` if this is no array, or a shorter one.
    public subscript(place: Int) -> CBORValue? {
        guard case .array(let elements) = self, elements.indices.contains(place) else { return nil }
        return elements[place]
    }
}

extension CBORValue: Codable {
    public init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ItemDecoder else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "A CBORValue is decoded by a CBORDecoder alone."))
        }
        self = try decoder.source.value(at: decoder.offset)
    }

    public func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? ItemEncoder else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "A CBORValue is encoded by a CBOREncoder alone."))
        }
        try encoder.log.add(self, as: encoder.item)
    }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral integer: Int64) { self = .integer(Int128(integer)) }
    public init(floatLiteral number: Double) { self = .float(number) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
    public init(nilLiteral: ()) { self = .null }

    /// The last of several values under one key counts.
    public init(dictionaryLiteral pairs: (CBORValue, CBORValue)...) {
        self = .map(Dictionary(pairs) { _, last in last })
    }
}
