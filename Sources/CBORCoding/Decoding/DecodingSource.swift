internal import Foundation

/// The bytes that one decoder reads, well-formed by now, and how far its containers have come in them.
///
/// Nothing is made of the bytes before a type asks for it. As a rule types ask for their keys in the order in which they encoded them,
/// so that a map keeps a cursor at the entry that comes next, and looks further only if that is another one.
final class DecodingSource {
    let options: CBORDecoder
    let reader: ItemReader
    /// False when the decoding is over, and a decoder that somebody kept has nothing to read any more.
    @exclusivity(unchecked) private(set) var isOpen = true
    /// The cursors of the maps that are being read, by depth. A map whose place another has taken begins anew.
    @exclusivity(unchecked) var cursors: GrowingBuffer<MapCursor>
    /// The elements of the arrays that are being read, by depth: where errors are.
    @exclusivity(unchecked) var places: GrowingBuffer<ArrayPlace>
    /// Where these two begin: enough for most values.
    private let memory: UnsafeMutableRawPointer
    /// The item whose end was met last.
    @exclusivity(unchecked) private var finishedStart = -1
    @exclusivity(unchecked) private var finishedEnd = -1

    private init(_ reader: ItemReader, _ options: CBORDecoder) {
        self.reader = reader
        self.options = options
        let depths = 6
        let placesStart = depths * MemoryLayout<MapCursor>.stride
        memory = .allocate(
            byteCount: placesStart + depths * MemoryLayout<ArrayPlace>.stride, alignment: MemoryLayout<MapCursor>.alignment)
        cursors = GrowingBuffer(in: memory, capacity: depths)
        places = GrowingBuffer(in: memory + placesStart, capacity: depths)
    }

    deinit {
        cursors.free()
        places.free()
        memory.deallocate()
    }

    /// Reads a value from the bytes by `body`, if they are well-formed.
    static func reading<Value>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ options: CBORDecoder, _ body: (DecodingSource) throws -> Value
    ) throws -> Value {
        let reader = try findingFaults { () throws(WellFormedness.Fault) in
            try WellFormedness.check(bytes, nestingLimit: options.nestingLimit)
        }
        let source = DecodingSource(reader, options)
        defer { source.isOpen = false }
        return try body(source)
    }

    /// Tells what is wrong with bytes as decoders do.
    static func findingFaults<Result>(_ body: () throws(WellFormedness.Fault) -> Result) throws -> Result {
        do throws(WellFormedness.Fault) {
            return try body()
        } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [],
                    debugDescription: "The data is not one well-formed CBOR value: at byte \(error.offset) \(error.problem)."))
        }
    }

    // MARK: Where items end

    /// Says where an item ends.
    @inline(__always)
    func finish(_ start: Int, at end: Int) {
        finishedStart = start
        finishedEnd = end
    }

    /// Where the item ends that begins at `start`, in so many containers.
    @inline(__always)
    func end(of start: Int, depth: Int) -> Int {
        finishedStart == start ? finishedEnd : endOfUnfinished(start, depth: depth)
    }

    @inline(never)
    private func endOfUnfinished(_ start: Int, depth: Int) -> Int {
        guard depth < cursors.count, cursors[depth].map == start else { return reader.end(of: start) }
        // A map that was read: what is left of it remains to be passed.
        settle(depth: depth)
        var cursor = cursors[depth]
        while !cursor.isAtEnd(reader) { cursor.pass(reader) }
        return cursor.end(reader)
    }
}
