internal import Foundation

/// The output of one encoder: the encoded bytes in the order in which they were written, and a
/// record for each item.
///
/// The number of entries of a container is known only when it ends, so one byte is reserved for its
/// head, and the final head is written during assembly (`EncodingBuffer+Assembly`). Types usually
/// finish an inner container before they continue with the outer one. Bytes that are written to a
/// container after it was left are a late segment; assembly moves them into the container.
final class EncodingBuffer {
    /// An item that is written by an encoder or a container.
    struct Item: BitwiseCopyable {
        enum Kind {
            /// Nothing has been encoded yet. If nothing follows, the item becomes an empty map.
            case undecided
            case scalar, array, map
            /// A scalar that was encoded after the item had been left.
            case lateScalar
            /// Encoding the item threw, and the error was caught.
            case dropped
        }

        var parent: Int
        var depth: Int
        /// Its index in the parent.
        var index: Int
        /// The offset of its key, or -1 if it has no key.
        var keyStart: Int
        /// The offset of the item. For a container, the byte at this offset is reserved for the
        /// head.
        var start: Int
        /// The offset after its last byte, not counting late segments. Negative while the item is
        /// open.
        var end = -1
        var kind = Kind.undecided
        /// The number of elements or key-value pairs.
        var count = 0
        /// The index in `keys` of its last key.
        var lastKey = -1
        var keyMask = KeyMask()
        /// Whether two of its keys may be equal.
        var mayHaveDuplicates = false
    }

    /// The bytes of a key, and the index of the previous key of the same map.
    struct Key: BitwiseCopyable {
        var start: Int
        var end: Int
        var previous: Int
    }

    /// Bytes of an item that were written after the item had been left.
    struct LateSegment: BitwiseCopyable {
        var item: Int
        var start: Int
        var end: Int
    }

    let options: CBOREncoder
    // Exclusivity checks would take as long as writing the bytes. They are unnecessary: no property
    // is accessed while a type's code runs.
    @exclusivity(unchecked) var bytes: GrowingBuffer<UInt8>
    @exclusivity(unchecked) var items: GrowingBuffer<Item>
    @exclusivity(unchecked) var keys: GrowingBuffer<Key>
    /// The initial memory of the three buffers, large enough for most values.
    private let memory: UnsafeMutableRawPointer
    /// The item that was written to last. This item and its ancestors are open.
    @exclusivity(unchecked) var current = 0
    @exclusivity(unchecked) var lateSegments: [LateSegment] = []
    /// Byte ranges of values that failed to encode after other items had been written.
    var removedRanges: [Range<Int>] = []
    /// The item that was current before the open late segment, or `nil` if no late segment is open.
    @exclusivity(unchecked) var resumedAfterLateSegment: Int?
    /// The first error that occurred in a call that cannot throw.
    @exclusivity(unchecked) private(set) var failure: (any Error)?
    /// The original keys of converted keys, by the offset of the converted key.
    @exclusivity(unchecked) var originalKeys: [Int: any CodingKey] = [:]

    /// The item of the whole value.
    static var root: Int { 0 }

    init(_ options: CBOREncoder) {
        self.options = options
        let byteCount = 512
        let itemCount = 8
        let keyCount = 16
        let itemsStart = byteCount
        let keysStart = itemsStart + itemCount * MemoryLayout<Item>.stride
        memory = .allocate(
            byteCount: keysStart + keyCount * MemoryLayout<Key>.stride,
            alignment: MemoryLayout<Item>.alignment
        )
        bytes = GrowingBuffer(in: memory, capacity: byteCount)
        items = GrowingBuffer(in: memory + itemsStart, capacity: itemCount)
        keys = GrowingBuffer(in: memory + keysStart, capacity: keyCount)
        if options.isSelfDescribed { bytes.appendHead(.tag, Tag.selfDescribed) }
        items.append(
            Item(
                parent: -1,
                depth: 0,
                index: 0,
                keyStart: -1,
                start: bytes.count
            )
        )
    }

    deinit {
        bytes.free()
        items.free()
        keys.free()
        memory.deallocate()
    }

    // MARK: Current item

    /// Makes the item current, so that it receives the next bytes.
    @inline(__always)
    func resume(_ item: Int) {
        if item != current { switchTo(item) }
    }

    @inline(never)
    private func switchTo(_ item: Int) {
        if items[item].end < 0 {
            while current != item { leaveCurrent() }
        } else {
            endLateSegment()
            lateSegments.append(LateSegment(item: item, start: bytes.count, end: -1))
            resumedAfterLateSegment = current
            current = item
        }
    }

    /// Makes the parent of the current item current, or ends the late segment if the current item
    /// is its target.
    func leaveCurrent() {
        if resumedAfterLateSegment != nil, current == lateSegments[lateSegments.count - 1].item {
            endLateSegment()
        } else {
            closeCurrent()
        }
    }

    func endLateSegment() {
        guard let before = resumedAfterLateSegment else { return }
        let last = lateSegments.count - 1
        while current != lateSegments[last].item { closeCurrent() }
        lateSegments[last].end = bytes.count
        resumedAfterLateSegment = nil
        current = before
    }

    private func closeCurrent() {
        if items[current].kind == .undecided {
            items[current].start = bytes.count
            bytes.append(0)
        }
        items[current].end = bytes.count
        current = items[current].parent
    }

    /// Closes all open items.
    func closeAll() {
        endLateSegment()
        while current >= 0 { closeCurrent() }
    }

    // MARK: Items

    /// Adds an item as the last entry of the container, which must be current.
    func beginItem(in container: Int, keyStart: Int) -> Int {
        let item = items.count
        let depth = items[container].depth + 1
        let index = items[container].count - 1
        items.append(
            Item(
                parent: container,
                depth: depth,
                index: index,
                keyStart: keyStart,
                start: bytes.count
            )
        )
        current = item
        return item
    }

    /// Makes the item a container of the given kind. Does nothing if it already is one.
    func open(_ item: Int, as kind: Item.Kind) {
        let known = items[item].kind
        guard known != kind, known != .dropped else { return }
        guard known == .undecided, items[item].depth < options.nestingLimit else {
            return fail(known == .undecided ? tooDeep(item) : secondValue(item))
        }
        resume(item)
        items[item].kind = kind
        if items[item].end < 0 {
            items[item].start = bytes.count
            bytes.append(0)
        }
    }

    /// Makes the item a scalar, whose bytes are written next.
    func openScalar(_ item: Int) throws {
        if items[item].kind == .dropped { return resume(item) }
        guard items[item].kind == .undecided else { throw secondValue(item) }
        resume(item)
        items[item].kind = items[item].end < 0 ? .scalar : .lateScalar
    }

    /// Makes the container current and counts an entry.
    @inline(__always)
    func beginEntry(in container: Int) {
        resume(container)
        items[container].count += 1
    }

    // MARK: Errors

    func fail(_ error: any Error) {
        if failure == nil { failure = error }
    }

    func tooDeep(_ item: Int) -> EncodingError {
        error(
            item,
            """
            Containers are nested deeper than 'nestingLimit', \(options.nestingLimit). Raise it, \
            unless an object contains itself.
            """
        )
    }

    private func secondValue(_ item: Int) -> EncodingError {
        error(
            item,
            """
            A value was encoded twice, or as containers of two kinds, into one encoder. Encode one \
            value or one container.
            """
        )
    }

    func error(_ item: Int, _ description: String) -> EncodingError {
        // Errors contain no values.
        .invalidValue(
            "(not shown)",
            .init(codingPath: codingPath(of: item), debugDescription: description)
        )
    }
}
