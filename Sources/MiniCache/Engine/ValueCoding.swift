internal import Foundation
internal import VellumCore
internal import VellumEngine

/// How a value becomes bytes: in the manager's format, and `Data` as it is behind a zero byte, which no format begins with. No bytes
/// are no value.
enum ValueCoding {
    private static let dataMark: UInt8 = 0

    static func encode<Value: Encodable>(_ value: Value, as format: CodableFormat) throws -> Data {
        if Value.self == Data.self, let data = value as? Data { return [dataMark] + data }
        return try format.encode(value)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        if Value.self == Data.self, bytes.first == dataMark, let value = Data(bytes.dropFirst()) as? Value { return value }
        return try CodableFormat.decode(Value.self, from: bytes)
    }
}

/// The engine's codec: what comes from the disk stays as it is until a handle says of what type it is.
struct CachedValueCodec: Codec {
    private static let nothing = CachedValue(NothingBox())

    func encode(_ value: CachedValue) throws -> Data { try value.box.encoded() }

    func decode(_ bytes: Data) -> CachedValue { bytes == NothingBox.bytes ? Self.nothing : CachedValue(BytesBox(bytes)) }
}
