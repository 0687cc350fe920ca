internal import Foundation

/// The unkeyed container of a decoder. Reads an array.
struct CBORUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private let source: DecodingSource
    private let array: Int
    private let depth: Int
    private let elements: Int
    /// The offset of the next element.
    private var next: Int
    private(set) var currentIndex = 0

    init(_ source: DecodingSource, at array: Int, depth: Int) throws {
        let head = try source.contentHead(at: array)
        guard head.type == .array else {
            throw source.typeMismatch([Any].self, at: array)
        }
        self.source = source
        self.array = array
        self.depth = depth
        elements = source.elements(of: head)
        next = head.next
    }

    var codingPath: [any CodingKey] { source.codingPath(of: array) }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex == elements }

    /// Reads the next element and advances if that succeeds.
    @inline(__always)
    private mutating func element<Element>(
        _ type: Any.Type,
        _ read: (ItemDecoder) throws -> Element
    ) throws -> Element {
        try source.checkIsOpen()
        guard !isAtEnd else { throw endOfArray(type) }
        source.setElement(
            ArrayCursor(array: array, element: next, index: currentIndex),
            depth: depth
        )
        let element = try read(ItemDecoder(source: source, offset: next, depth: depth + 1))
        next = source.end(of: next, depth: depth + 1)
        currentIndex += 1
        if isAtEnd {
            source.finish(array, at: source.reader.endOfArray(array, lastEnd: next))
        }
        return element
    }

    private func endOfArray(_ type: Any.Type) -> DecodingError {
        let path = codingPath + [CBORKey(index: currentIndex)]
        return .valueNotFound(
            type,
            .init(
                codingPath: path,
                debugDescription: "The array has no more elements. Test 'isAtEnd' first."
            )
        )
    }

    mutating func decodeNil() throws -> Bool {
        try source.checkIsOpen()
        guard !isAtEnd else { throw endOfArray(Any?.self) }
        guard source.reader.isNil(at: next) else { return false }
        return try element(Any?.self) { _ in true }
    }

    // MARK: Scalars

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try element(type) { try $0.source.bool(at: $0.offset) }
    }
    mutating func decode(_ type: String.Type) throws -> String {
        try element(type) { try $0.source.string(at: $0.offset) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try element(type) { try $0.source.double(at: $0.offset) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try element(type) { try $0.source.float(at: $0.offset) }
    }
    @inline(__always)
    mutating func decode<Number: FixedWidthInteger & Decodable>(
        _ type: Number.Type
    ) throws -> Number {
        try element(type) { try $0.source.integer(type, at: $0.offset) }
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try element(type) { try $0.source.integer(type, at: $0.offset) }
    }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try element(type) { try $0.source.integer(type, at: $0.offset) }
    }

    // MARK: Values

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try element(type) {
            try $0.source.decode(type, at: $0.offset, depth: $0.depth)
        }
    }

    // MARK: Containers

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(
            try element([String: Any].self) {
                try CBORKeyedDecodingContainer<Nested>($0.source, at: $0.offset, depth: $0.depth)
            }
        )
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element([Any].self) {
            try CBORUnkeyedDecodingContainer($0.source, at: $0.offset, depth: $0.depth)
        }
    }

    mutating func superDecoder() throws -> any Decoder {
        try element((any Decoder).self) { $0 }
    }
}
