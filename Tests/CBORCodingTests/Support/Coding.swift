import CBORCoding
import Foundation

func encoded(
    _ value: some Encodable,
    _ change: (inout CBOREncoder) -> Void = { _ in }
) throws -> Data {
    var encoder = CBOREncoder()
    change(&encoder)
    return try encoder.encode(value)
}

func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self,
    _ data: Data,
    _ change: (inout CBORDecoder) -> Void = { _ in }
) throws -> Value {
    var decoder = CBORDecoder()
    change(&decoder)
    return try decoder.decode(type, from: data)
}

func decoded<Value: Decodable>(_ type: Value.Type = Value.self, hex: String) throws -> Value {
    try decoded(type, Data(hex: hex))
}

/// Encodes and decodes the value.
func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try decoded(Value.self, encoded(value))
}

/// A value that encodes itself with a function.
struct Encoding: Encodable {
    var write: (any Encoder) throws -> Void

    init(_ write: @escaping (any Encoder) throws -> Void) { self.write = write }

    func encode(to encoder: any Encoder) throws { try write(encoder) }
}

struct Failure: Error, Equatable {}

/// A coding key with any text.
struct TextKey: CodingKey, ExpressibleByStringLiteral, Hashable {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral: String) { stringValue = stringLiteral }
    init?(intValue: Int) { nil }
}

extension DecodingError {
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    /// The name of the case.
    var kind: String {
        switch self {
        case .typeMismatch: "typeMismatch"
        case .valueNotFound: "valueNotFound"
        case .keyNotFound: "keyNotFound"
        case .dataCorrupted: "dataCorrupted"
        @unknown default: "unknown"
        }
    }

    var path: String { (context?.codingPath ?? []).map(\.stringValue).joined(separator: "/") }
}

/// Returns the `DecodingError` that the function throws, or `nil` if it succeeds or throws another
/// error.
func decodingError(_ decode: () throws -> some Any) -> DecodingError? {
    do {
        _ = try decode()
        return nil
    } catch {
        return error as? DecodingError
    }
}

/// Calls the function with a decoder for the data.
func withDecoder(
    _ data: Data,
    _ change: (inout CBORDecoder) -> Void = { _ in },
    _ body: @escaping (any Decoder) throws -> Void
) throws {
    struct Reading: DecodableWithConfiguration {
        init(from decoder: any Decoder, configuration: (any Decoder) throws -> Void) throws {
            try configuration(decoder)
        }
    }
    var decoder = CBORDecoder()
    change(&decoder)
    _ = try decoder.decode(Reading.self, from: data, configuration: body)
}
