import Benchmark
import CBORCoding
import Foundation
import Samples
import SwiftProtobuf

/// Encoding or decoding one object with each coder. All coders are created once and reused.
///
/// Protobuf codes messages with the same fields as the struct. Its users have the message instead
/// of the struct, so converting one to the other is not measured.
enum CoderComparison<Value: Coded> {
    private static var limit: Double { 1 / 2.5 }

    static func make(_ work: Work) -> Comparison {
        Comparison(
            work: work,
            subject: Value.title,
            scale: .thousand,
            sides: [("CBOR", nil), ("JSON", limit), ("property list", nil), ("protobuf", nil)],
            limitsOfBytes: work == .coderEncode ? ["JSON": 0.8] : [:],
            batch: Value.batch,
            rounds: 10_000,
            seconds: 3
        ) { _ in
            let values = (0..<Scale.thousand.rawValue).map(Value.make)
            let (window, begin) = Window.make(count: values.count, batch: Value.batch)
            let turns: [(turn: Turn, bytes: Double)] = [
                try turn(
                    work,
                    values,
                    window,
                    encode: { [encoder = CBOREncoder()] in try encoder.encode($0) },
                    decode: { [decoder = CBORDecoder()] in
                        try decoder.decode(Value.self, from: $0)
                    }
                ),
                try turn(
                    work,
                    values,
                    window,
                    encode: { [encoder = JSONEncoder()] in try encoder.encode($0) },
                    decode: { [decoder = JSONDecoder()] in
                        try decoder.decode(Value.self, from: $0)
                    }
                ),
                try turn(
                    work,
                    values,
                    window,
                    encode: { [encoder = binaryEncoder()] in try encoder.encode($0) },
                    decode: { [decoder = PropertyListDecoder()] in
                        try decoder.decode(Value.self, from: $0)
                    }
                ),
                try turn(
                    work,
                    values.map(\.message),
                    window,
                    encode: { try $0.serializedBytes() },
                    decode: { try Value.Message(serializedBytes: $0) }
                ),
            ]
            return Course(
                turns: turns.map(\.turn),
                bytes: work == .coderEncode ? turns.map(\.bytes) : [],
                begin: begin
            )
        }
    }

    private static func binaryEncoder() -> PropertyListEncoder {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }

    /// The turn of one coder, and the encoded size of an object.
    private static func turn<Object: Equatable>(
        _ work: Work,
        _ objects: [Object],
        _ window: Window,
        encode: @escaping (Object) throws -> Data,
        decode: @escaping (Data) throws -> Object
    ) throws -> (turn: Turn, bytes: Double) {
        let encoded = try objects.map(encode)
        guard try encoded.map(decode) == objects else { throw CocoaError(.coderInvalidValue) }
        let turn =
            work == .coderEncode
            ? Turn { for object in objects[window.range] { blackHole(try encode(object)) } }
            : Turn { for bytes in encoded[window.range] { blackHole(try decode(bytes)) } }
        return (turn, Double(encoded.reduce(0) { $0 + $1.count }) / Double(encoded.count))
    }
}

/// The objects that all sides code in this round: different ones in each round, until all were
/// used.
private final class Window {
    private(set) var range: Range<Int>

    private init(_ range: Range<Int>) { self.range = range }

    static func make(count: Int, batch: Int) -> (window: Window, begin: (_ round: Int) -> Void) {
        let window = Window(0..<batch)
        return (
            window,
            { round in window.range = round * batch % count..<round * batch % count + batch }
        )
    }
}
