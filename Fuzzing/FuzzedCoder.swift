import CBORCoding
import Foundation

/// Decodes the input as CBOR into many types, and checks that decoded values encode and decode to
/// themselves.
enum FuzzedCoder {
    /// A recursive type that matches many inputs.
    private indirect enum Shape: Codable {
        case leaf(Int?), pair(Shape, Shape), named([String: Shape])
    }

    private final class Link: Codable {
        var next: Link?
        var value: Int
    }

    private struct Mixed: Codable {
        var a: Int?
        var b: String?
        var c: [Double]?
        var d: Date?
        var e: Decimal?
        var f: URL?
        var g: UUID?
        var h: Data?
        var i: Int128?
        var j: [Int: Bool]?
        var k: Float?
    }

    static func run(_ input: Data) {
        let decoder = CBORDecoder()
        attempt { _ = try decoder.decode(Mixed.self, from: input) }
        attempt { _ = try decoder.decode(Link.self, from: input) }
        attempt { _ = try decoder.decode(Shape.self, from: input) }
        attempt { _ = try decoder.decode([String: [Int?]].self, from: input) }
        attempt {
            let value = try decoder.decode(CBORValue.self, from: input)
            let again = try CBOREncoder().encode(value)
            // An integer written as a bignum, or an indefinite length, may take one byte more in
            // the preferred form.
            require(
                again.count <= 2 * input.count,
                "The preferred form is at most twice as long as the input."
            )
            // Compares bytes, because NaN values are not equal.
            let third = try CBOREncoder().encode(decoder.decode(CBORValue.self, from: again))
            require(third == again, "An encoded value round-trips.")
            _ = value.description
        }
        // A decoded value can be encoded again without a change.
        attempt {
            let mixed = try decoder.decode(Mixed.self, from: input)
            let bytes = try CBOREncoder().encode(mixed)
            require(
                try CBOREncoder().encode(decoder.decode(Mixed.self, from: bytes)) == bytes,
                "A decoded value round-trips."
            )
        }
    }

    private static func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            require(
                error is DecodingError,
                "Invalid bytes throw a DecodingError, not \(type(of: error))."
            )
        }
    }
}
