internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Encodes `Data` as it is, and other values in the format. Decodes every format.
///
/// The type is checked at run time, so that generic code that knows `Value` only as `Codable` writes the same bytes.
struct StorageCodec<Value: Codable>: Codec {
    private let format: CodableFormat

    init(_ format: CodableFormat) { self.format = format }

    func encode(_ value: Value) throws -> Data {
        if Value.self == Data.self, let data = value as? Data { return data }
        return try format.encode(value)
    }

    func decode(_ bytes: Data) throws -> Value {
        if Value.self == Data.self, let value = bytes as? Value { return value }
        return try CodableFormat.decode(Value.self, from: bytes)
    }
}
