/// How far a map was read.
struct MapCursor: BitwiseCopyable {
    /// Where the map begins, with its tags.
    private(set) var map = -1
    /// Where the next entry begins; if `isAtValue`, the value that is being read.
    private(set) var offset = -1
    private(set) var isAtValue = false
    /// Where the entry begins whose value is being read, or was last.
    private(set) var entry = -1
    /// How many entries come still; below zero if that comes to light at the end.
    private var remaining = 0
    /// Which keys the map may have, once somebody looked.
    var mask: KeyMask?

    /// No map's.
    init() {}

    /// At the first entry.
    init(_ map: Int, _ reader: ItemReader) {
        let head = reader.head(at: reader.content(at: map))
        self.map = map
        offset = head.next
        remaining = head.isIndefinite ? -1 : Int(head.argument)
    }

    @inline(__always)
    func isAtEnd(_ reader: ItemReader) -> Bool {
        remaining == 0 || remaining < 0 && reader.isBreak(at: offset)
    }

    /// Behind the last byte of the map, of which nothing is left.
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

    /// Moves behind the value, which ends at `end`.
    @inline(__always)
    mutating func moveBehindValue(_ end: Int) {
        offset = end
        isAtValue = false
        if remaining > 0 { remaining -= 1 }
    }

    /// Moves behind the entry.
    mutating func pass(_ reader: ItemReader) {
        moveBehindValue(reader.end(of: reader.end(of: offset)))
    }

    /// Moves back to the first entry.
    mutating func restart(_ reader: ItemReader) {
        let mask = mask
        self = MapCursor(map, reader)
        self.mask = mask
    }
}

/// Where the entries begin that are before a cursor.
struct MapEntries: Sequence, IteratorProtocol {
    private var cursor: MapCursor
    private let reader: ItemReader

    init(_ cursor: MapCursor, _ reader: ItemReader) {
        self.cursor = cursor
        self.reader = reader
    }

    mutating func next() -> Int? {
        guard !cursor.isAtEnd(reader) else { return nil }
        defer { cursor.pass(reader) }
        return cursor.offset
    }
}

/// The element of an array that is being read.
struct ArrayPlace: BitwiseCopyable {
    var array = -1
    var element = -1
    var place = 0
}
