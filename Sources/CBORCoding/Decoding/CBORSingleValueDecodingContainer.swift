internal import Foundation

/// The single-value container of a decoder.
struct CBORSingleValueDecodingContainer: SingleValueDecodingContainer {
    private let source: DecodingSource
    private let offset: Int
    private let depth: Int

    init(_ source: DecodingSource, at offset: Int, depth: Int) {
        self.source = source
        self.offset = offset
        self.depth = depth
    }

    var codingPath: [any CodingKey] { source.codingPath(of: offset) }

    func decodeNil() -> Bool { source.isOpen && source.reader.isNil(at: offset) }

    func decode(_ type: Bool.Type) throws -> Bool { try source.bool(at: offset) }
    func decode(_ type: String.Type) throws -> String { try source.string(at: offset) }
    func decode(_ type: Double.Type) throws -> Double { try source.double(at: offset) }
    func decode(_ type: Float.Type) throws -> Float { try source.float(at: offset) }
    func decode(_ type: Int.Type) throws -> Int { try source.integer(type, at: offset) }
    func decode(_ type: Int8.Type) throws -> Int8 { try source.integer(type, at: offset) }
    func decode(_ type: Int16.Type) throws -> Int16 { try source.integer(type, at: offset) }
    func decode(_ type: Int32.Type) throws -> Int32 { try source.integer(type, at: offset) }
    func decode(_ type: Int64.Type) throws -> Int64 { try source.integer(type, at: offset) }
    func decode(_ type: Int128.Type) throws -> Int128 { try source.integer(type, at: offset) }
    func decode(_ type: UInt.Type) throws -> UInt { try source.integer(type, at: offset) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try source.integer(type, at: offset) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try source.integer(type, at: offset) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try source.integer(type, at: offset) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try source.integer(type, at: offset) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try source.integer(type, at: offset) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try source.decode(type, at: offset, depth: depth) }
}
