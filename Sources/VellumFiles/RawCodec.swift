internal import CBORCoding
internal import CodableFormats
internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Decodes values of any type as CBOR. Nothing is encoded by it.
struct RawCodec: Codec {
    func decode(_ bytes: Data) throws -> CBORValue { Self.value(of: bytes) }
    func encode(_ value: CBORValue) throws -> Data { try CBOREncoder().encode(value) }
    func isSame(
        _ value: CBORValue,
        _ new: Data,
        as old: Data
    ) throws -> Bool { new == old }
    /// A value of another version of its type is shown as it is.
    func migrate(
        _ bytes: Data,
        from version: Int64,
        of key: EntryKey
    ) throws -> Migration<CBORValue> { .value(Self.value(of: bytes)) }

    /// The value of bytes in CBOR or JSON; `.bytes` if a type wrote them in a form of its own.
    static func value(of bytes: Data) -> CBORValue {
        do {
            if CBORDecoder.isSelfDescribed(bytes) || bytes.first.map({ 0x80...0xDB ~= $0 }) ?? false
            {
                let value = try CBORDecoder().decode(CBORValue.self, from: bytes)
                // RFC 8949, 3.4.6: the tag says only that this is CBOR.
                if case .tagged(55799, let object) = value { return object }
                return value
            }
            return try JSONCoders.decoder.decode(JSONValue.self, from: bytes).value
        } catch {
            return .bytes(bytes)
        }
    }
}

/// Any value of JSON.
private struct JSONValue: Decodable {
    let value: CBORValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
            do { return try container.decode(type) } catch { return nil }
        }
        /// Whether the text of a number is the one that was read, which `Decimal` does not round.
        func isExact(_ text: String) -> Bool {
            decoded(Decimal.self).map { $0 == Decimal(string: text) } ?? true
        }
        if container.decodeNil() {
            value = .null
        } else if let bool = decoded(Bool.self) {
            value = .bool(bool)
        } else if let integer = decoded(Int64.self), isExact("\(integer)") {
            value = .integer(Int128(integer))
        } else if let integer = decoded(UInt64.self), isExact("\(integer)") {
            value = .integer(Int128(integer))
        } else if let text = decoded(String.self) {
            value = .text(text)
        } else if let number = decoded(Double.self), isExact("\(number)") {
            value = .float(number)
        } else if let decimal = decoded(Decimal.self) {
            let bytes = try CBOREncoder().encode(decimal)
            value = try CBORDecoder().decode(CBORValue.self, from: bytes)
        } else if let elements = decoded([JSONValue].self) {
            value = .array(elements.map(\.value))
        } else {
            let pairs = try container.decode([String: JSONValue].self)
            value = .map(
                Dictionary(uniqueKeysWithValues: pairs.map { (.text($0.key), $0.value.value) })
            )
        }
    }
}
