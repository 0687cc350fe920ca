internal import Foundation

/// The validated bytes of one decoder, and the reading positions of its containers.
///
/// Items are decoded lazily, when a type asks for them. Types usually ask for keys in the order in
/// which they encoded them, so each map keeps a cursor at the next entry and searches the other
/// entries only if the key differs.
final class DecodingSource {
    let options: CBORDecoder
    let reader: ItemReader
    /// Whether a map has a key that is not a text, or is a text of indefinite length.
    let hasOtherKeys: Bool
    /// The item that began to be decoded last, and its type.
    @exclusivity(unchecked) var decodedItem = -1
    @exclusivity(unchecked) var decodedType: Any.Type = Never.self
    /// Whether decoding is in progress. A decoder that outlives the call must not read the bytes.
    @exclusivity(unchecked) private(set) var isOpen = true
    /// The cursors of the maps that are being read, by depth. A map whose cursor was replaced is
    /// read from its beginning again.
    @exclusivity(unchecked) var mapCursors: GrowingBuffer<MapCursor>
    /// The cursors of the arrays that are being read, by depth. They are used for the coding paths
    /// of errors.
    @exclusivity(unchecked) var arrayCursors: GrowingBuffer<ArrayCursor>
    /// The initial memory of both buffers, large enough for most values.
    private let memory: UnsafeMutableRawPointer
    /// The offsets of the item whose end was recorded last.
    @exclusivity(unchecked) private var finishedStart = -1
    @exclusivity(unchecked) private var finishedEnd = -1

    @inline(__always)
    private init(_ reader: ItemReader, _ options: CBORDecoder, hasOtherKeys: Bool) {
        self.reader = reader
        self.hasOtherKeys = hasOtherKeys
        self.options = options
        let depths = 6
        let arrayCursorsStart = depths * MemoryLayout<MapCursor>.stride
        memory = .allocate(
            byteCount: arrayCursorsStart + depths * MemoryLayout<ArrayCursor>.stride,
            alignment: MemoryLayout<MapCursor>.alignment
        )
        mapCursors = GrowingBuffer(in: memory, capacity: depths)
        arrayCursors = GrowingBuffer(in: memory + arrayCursorsStart, capacity: depths)
    }

    deinit {
        mapCursors.free()
        arrayCursors.free()
        memory.deallocate()
    }

    /// Validates the bytes, then reads a value from them with `body`.
    static func reading<Value>(
        _ data: Data,
        _ options: CBORDecoder,
        _ body: (DecodingSource) throws -> Value
    ) throws -> Value {
        try data.withUnsafeBytes { bytes in
            var shared = WellFormedness.Shared(nestingLimit: options.nestingLimit)
            let reader: ItemReader
            do throws(WellFormedness.Fault) {
                reader = try WellFormedness.check(
                    bytes.assumingMemoryBound(to: UInt8.self),
                    &shared
                )
            } catch {
                let problem =
                    """
                    The data is not a single well-formed CBOR value: at byte \(error.offset), \
                    \(error.problem).
                    """
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: problem))
            }
            let source = DecodingSource(reader, options, hasOtherKeys: shared.hasOtherKeys)
            defer { source.isOpen = false }
            return try body(source)
        }
    }

    @inline(__always)
    func checkIsOpen() throws {
        guard isOpen else { throw decoderExpired }
    }

    /// The head of an item behind its tags, while values may be decoded.
    @inline(__always)
    func contentHead(at offset: Int) throws -> ItemReader.Head {
        try checkIsOpen()
        return reader.contentHead(at: offset)
    }

    // MARK: Ends of items

    /// Records the end of an item, so that `end(of:depth:)` need not compute it.
    @inline(__always)
    func finish(_ start: Int, at end: Int) {
        finishedStart = start
        finishedEnd = end
    }

    /// Returns the end of the item at `start`, which has `depth` enclosing containers.
    @inline(__always)
    func end(of start: Int, depth: Int) -> Int {
        finishedStart == start ? finishedEnd : computedEnd(start, depth: depth)
    }

    @inline(never)
    private func computedEnd(_ start: Int, depth: Int) -> Int {
        guard depth < mapCursors.count, mapCursors[depth].map == start else {
            return reader.end(of: start)
        }
        // The map was partly read. Skip its remaining entries.
        finishValue(depth: depth)
        var cursor = mapCursors[depth]
        while !cursor.isAtEnd(reader) { cursor.skipEntry(reader) }
        return cursor.end(reader)
    }
}
