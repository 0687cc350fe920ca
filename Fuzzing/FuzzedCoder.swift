import CBORCoding
import Foundation

/// Bytes that may be CBOR, decoded as types of every kind, and the rules that hold between them and what was decoded.
enum FuzzedCoder {
    /// A type of whatever shape the bytes have.
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
        attempt { _ = try decoder.decodeIfPresent(String.self, at: ["a", "b"], from: input) }
        attempt {
            let value = try decoder.decode(CBORValue.self, from: input)
            let again = try CBOREncoder().encode(value)
            // An integer that was written as a bignum, and a length of indefinite form, may take a byte more in the preferred form.
            require(again.count <= 2 * input.count, "The preferred form is hardly longer than any other.")
            // By bytes: one NaN does not equal another.
            let third = try CBOREncoder().encode(decoder.decode(CBORValue.self, from: again))
            require(third == again, "What was encoded is decoded as it was.")
            _ = value.description
        }
        // What is decoded can be encoded, and is the same once more.
        attempt {
            let mixed = try decoder.decode(Mixed.self, from: input)
            let bytes = try CBOREncoder().encode(mixed)
            require(try CBOREncoder().encode(decoder.decode(Mixed.self, from: bytes)) == bytes, "A value comes back as it was.")
        }
    }

    private static func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            require(error is DecodingError, "Bytes that are refused are refused by a DecodingError, not \(type(of: error)).")
        }
    }
}
