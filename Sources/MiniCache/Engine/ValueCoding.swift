internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The bytes of values: in the manager's format, and `Data` unchanged after a zero byte, with which no format begins.
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

/// The codec of the store: bytes from the disk stay encoded until a handle decodes them as its type.
struct CachedValueCodec: Codec {
    func encode(_ value: CachedValue) throws -> Data { try value.form.encoded() }

    func decode(_ bytes: Data) -> CachedValue {
        bytes == EncodedForm.tombstone.bytes ? .tombstone : CachedValue(EncodedForm(bytes))
    }
}
