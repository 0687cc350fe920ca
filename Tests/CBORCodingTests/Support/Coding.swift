import CBORCoding
import Foundation

func encoded(_ value: some Encodable, _ change: (inout CBOREncoder) -> Void = { _ in }) throws -> Data {
    var encoder = CBOREncoder()
    change(&encoder)
    return try encoder.encode(value)
}

func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self, _ data: Data, _ change: (inout CBORDecoder) -> Void = { _ in }
) throws -> Value {
    var decoder = CBORDecoder()
    change(&decoder)
    return try decoder.decode(type, from: data)
}

func decoded<Value: Decodable>(_ type: Value.Type = Value.self, hex: String) throws -> Value { try decoded(type, Data(hex: hex)) }

/// What the value is once it was encoded and decoded.
func roundTrip<Value: Codable>(_ value: Value) throws -> Value { try decoded(Value.self, encoded(value)) }

/// An encoder's bytes as a function makes them.
struct Encoding: Encodable {
    var write: (any Encoder) throws -> Void

    init(_ write: @escaping (any Encoder) throws -> Void) { self.write = write }

    func encode(to encoder: any Encoder) throws { try write(encoder) }
}

struct Failure: Error, Equatable {}

/// A key of any text.
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
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    /// Which of the four it is.
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

/// The error of a failing decoding; `nil` where it succeeds or fails with something else.
func decodingError(_ decode: () throws -> some Any) -> DecodingError? {
    do {
        _ = try decode()
        return nil
    } catch {
        return error as? DecodingError
    }
}

/// Runs the function with a decoder of the bytes.
func withDecoder(_ data: Data, _ change: (inout CBORDecoder) -> Void = { _ in }, _ body: @escaping (any Decoder) throws -> Void) throws {
    struct Reading: DecodableWithConfiguration {
        init(from decoder: any Decoder, configuration: (any Decoder) throws -> Void) throws { try configuration(decoder) }
    }
    var decoder = CBORDecoder()
    change(&decoder)
    _ = try decoder.decode(Reading.self, from: data, configuration: body)
}
