/// The reading position in a map.
struct MapCursor: BitwiseCopyable {
    /// The offset of the map, including its tags.
    private(set) var map = -1
    /// The offset of the next entry, or of the value that is being read if `isAtValue`.
    private(set) var offset = -1
    private(set) var isAtValue = false
    /// The offset of the entry whose value is being read or was read last.
    private(set) var entry = -1
    /// The number of remaining entries; negative for a map of indefinite length.
    private var remaining = 0
    /// The filter of the map's keys; computed on first use.
    var mask: KeyMask?

    /// Creates an unused cursor.
    init() {}

    /// Creates a cursor at the first entry of a map.
    init(_ map: Int, _ reader: ItemReader) {
        self.init(map, reader.contentHead(at: map))
    }

    @inline(__always)
    init(_ map: Int, _ head: ItemReader.Head) {
        self.map = map
        offset = head.next
        remaining = head.isIndefinite ? -1 : Int(head.argument)
    }

    @inline(__always)
    func isAtEnd(_ reader: ItemReader) -> Bool {
        remaining == 0 || remaining < 0 && reader.isBreak(at: offset)
    }

    /// The offset after the last byte of the map. All entries must have been read.
    func end(_ reader: ItemReader) -> Int { remaining < 0 ? offset + 1 : offset }

    @inline(__always)
    mutating func moveToValue(_ value: Int) {
        entry = offset
        offset = value
        isAtValue = true
    }

    /// Moves back to the value that was read last.
    mutating func moveBack(to value: Int) {
        offset = value
        isAtValue = true
        if remaining >= 0 { remaining += 1 }
    }

    /// Moves to the entry after the current value, which ends at `end`.
    @inline(__always)
    mutating func moveToNextEntry(_ end: Int) {
        offset = end
        isAtValue = false
        if remaining > 0 { remaining -= 1 }
    }

    /// Moves to the next entry without reading the current one.
    mutating func skipEntry(_ reader: ItemReader) {
        moveToNextEntry(reader.end(of: reader.end(of: offset)))
    }

    /// Moves back to the first entry.
    mutating func restart(_ reader: ItemReader) {
        let mask = mask
        self = MapCursor(map, reader)
        self.mask = mask
    }
}

/// The offsets of the entries from a cursor to the end of the map.
struct MapEntries: Sequence, IteratorProtocol {
    var cursor: MapCursor
    let reader: ItemReader

    mutating func next() -> Int? {
        guard !cursor.isAtEnd(reader) else { return nil }
        defer { cursor.skipEntry(reader) }
        return cursor.offset
    }
}

/// The element of an array that is being read. It is used for the coding paths of errors.
struct ArrayCursor: BitwiseCopyable {
    var array = -1
    var element = -1
    var index = 0
}
