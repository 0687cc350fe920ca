internal import CodableFormats
package import Foundation
internal import VellumEngine

/// A codec for `Codable` types that reads and writes only Foundation's JSON. Infinity and NaN are
/// encoded as strings.
package struct JSONCodec<Value: Codable>: Codec {
    package init() {}

    package func encode(_ value: Value) throws -> Data { try JSONCoders.encoder.encode(value) }
    package func decode(_ bytes: Data) throws -> Value {
        try JSONCoders.decoder.decode(Value.self, from: bytes)
    }
}

/// A codec for bytes, which leaves them unchanged.
package struct IdentityCodec: Codec {
    package init() {}

    package func encode(_ value: Data) -> Data { value }
    package func decode(_ bytes: Data) -> Data { bytes }
}
