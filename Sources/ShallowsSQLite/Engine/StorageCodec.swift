internal import Foundation
internal import VellumCore
internal import VellumEngine

/// How values become bytes: `Data` as it is, anything else in the format. Bytes of every format are read.
///
/// Chosen by the type and not by an overload, so that generic code that knows `Value` only as `Codable` makes the same file.
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
