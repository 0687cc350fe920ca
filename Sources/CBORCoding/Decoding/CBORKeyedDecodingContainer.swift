internal import Foundation

/// The keyed container of a decoder. Reads a map.
struct CBORKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let source: DecodingSource
    private let map: Int
    private let depth: Int

    init(_ source: DecodingSource, at map: Int, depth: Int) throws {
        let head = try source.contentHead(at: map)
        guard head.type == .map else {
            throw source.typeMismatch([String: Any].self, at: map)
        }
        source.startReading(MapCursor(map, head), depth: depth)
        // A dictionary's keys contain a text. Those of most other types are enums.
        if source.mayCompareKeys || MemoryLayout<Key>.size >= MemoryLayout<String>.size {
            try source.compareKeys(of: map, as: Key.self)
        }
        self.source = source
        self.map = map
        self.depth = depth
    }

    var codingPath: [any CodingKey] { source.codingPath(of: map) }

    var allKeys: [Key] {
        guard source.isOpen else { return [] }
        let count = source.count(of: map)
        // Fast paths: an empty array needs no allocation, and an enum is decoded from a map with
        // one key.
        guard count > 0 else { return [] }
        if count == 1 {
            return source.key(
                at: source.firstEntry(of: map),
                as: Key.self
            ).map { [$0] } ?? []
        }
        // Faster than appending, which looks up the metadata of the generic array type each time.
        return [Key](unsafeUninitializedCapacity: count) { keys, found in
            for entry in source.entries(of: map) {
                guard let key = source.key(at: entry, as: Key.self) else { continue }
                (keys.baseAddress.unsafelyUnwrapped + found).initialize(to: key)
                found += 1
            }
        }
    }

    func contains(_ key: Key) -> Bool {
        source.value(of: key, in: map, depth: depth, isRead: false) != nil
    }

    /// Returns the offset of the value for the key.
    @inline(__always)
    private func value(_ key: some CodingKey, isRead: Bool = true) throws -> Int {
        guard
            let value = source.value(
                of: key,
                in: map,
                depth: depth,
                isRead: isRead
            )
        else {
            throw source.keyNotFound(key, in: map)
        }
        return value
    }

    /// Reads the value for the key, or returns `nil` if the key is missing or its value is null.
    @inline(__always)
    private func ifPresent<Value>(
        _ key: Key,
        _ read: (Int) throws -> Value
    ) throws -> Value? {
        try source.checkIsOpen()
        guard
            let value = source.value(
                of: key,
                in: map,
                depth: depth,
                isRead: true
            ),
            !source.reader.isNil(at: value)
        else { return nil }
        return try read(value)
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(ifPresent key: Key) throws -> Number? {
        try ifPresent(key) { try source.integer(Number.self, at: $0) }
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        source.reader.isNil(at: try value(key, isRead: false))
    }

    // MARK: Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try source.bool(at: value(key))
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try source.string(at: value(key))
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try source.double(at: value(key))
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try source.float(at: value(key))
    }
    @inline(__always)
    func decode<Number: FixedWidthInteger & Decodable>(
        _ type: Number.Type,
        forKey key: Key
    ) throws -> Number {
        try source.integer(type, at: value(key))
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try source.integer(type, at: value(key))
    }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try source.integer(type, at: value(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try ifPresent(key) { try source.bool(at: $0) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try ifPresent(key) { try source.string(at: $0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try ifPresent(key) { try source.double(at: $0) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try ifPresent(key) { try source.float(at: $0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try integer(ifPresent: key)
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try integer(ifPresent: key)
    }

    // MARK: Values

    func decode<Value: Decodable>(
        _ type: Value.Type,
        forKey key: Key
    ) throws -> Value {
        try source.decode(type, at: value(key), depth: depth + 1)
    }

    func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        forKey key: Key
    ) throws -> Value? {
        try ifPresent(key) {
            try source.decode(type, at: $0, depth: depth + 1)
        }
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(
            try CBORKeyedDecodingContainer<Nested>(source, at: value(key), depth: depth + 1)
        )
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecodingContainer(source, at: value(key), depth: depth + 1)
    }

    func superDecoder() throws -> any Decoder {
        ItemDecoder(source: source, offset: try value(CBORKey.super), depth: depth + 1)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        ItemDecoder(source: source, offset: try value(key), depth: depth + 1)
    }
}
