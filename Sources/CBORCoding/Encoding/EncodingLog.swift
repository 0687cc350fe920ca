internal import Foundation

/// What the containers of one encoder were told: the bytes in the order in which they came, and what is known of each item.
///
/// A container does not know how many entries it will have before the last has come, so that its head is one byte that is put right
/// when all is told (`EncodingLog+Assembly`). As a rule containers are written to one after the other, the innermost last. An entry
/// that comes for one that was left already is a detour, and brought to its place in the end.
final class EncodingLog {
    /// An item that an encoder or a container stands for.
    struct Item: BitwiseCopyable {
        enum Kind {
            /// Nothing was encoded yet. When it is left so, it becomes an empty map, until something comes after all.
            case undecided
            case scalar, array, map
            /// A scalar that came when the item had been left.
            case lateScalar
            /// Its encoding failed, and someone caught the error.
            case dropped
        }

        var parent: Int
        var depth: Int
        /// Its place in the parent.
        var place: Int
        /// Where its key begins, if it has one.
        var keyStart: Int
        /// Where the item begins; a container has a byte for its head there.
        var start: Int
        /// Behind its last byte, but for detours. Below zero as long as it is open.
        var end = -1
        var kind = Kind.undecided
        /// How many elements or pairs there are.
        var count = 0
        /// The last of its keys.
        var lastKey = -1
        var keyMask = KeyMask()
        /// Whether two of its keys may be one.
        var mayRepeat = false
    }

    /// A key in the bytes, and the one before it in the same map.
    struct Key: BitwiseCopyable {
        var start: Int
        var end: Int
        var previous: Int
    }

    /// Bytes of an item that had been left.
    struct Detour: BitwiseCopyable {
        var item: Int
        var start: Int
        var end: Int
    }

    let options: CBOREncoder
    // Checked by nobody at run time, which would take as long as the writing does: nothing here calls a type's code while it changes
    // what it has.
    @exclusivity(unchecked) var bytes: GrowingBuffer<UInt8>
    @exclusivity(unchecked) var items: GrowingBuffer<Item>
    @exclusivity(unchecked) var keys: GrowingBuffer<Key>
    /// Where the three begin: enough for most values.
    private let memory: UnsafeMutableRawPointer
    /// The item that was written to last. It and those around it are open.
    @exclusivity(unchecked) var current = 0
    @exclusivity(unchecked) var detours: [Detour] = []
    /// Stretches of values that failed when others had written since.
    var cuts: [Range<Int>] = []
    /// What was current before the detour that is under way.
    @exclusivity(unchecked) var beforeDetour: Int?
    /// The first misuse that could not be thrown where it happened.
    @exclusivity(unchecked) private(set) var failure: (any Error)?
    /// The keys of which the strategy made others, by where these begin.
    var originalKeys: [Int: any CodingKey] = [:]

    /// The item of the whole value.
    static var root: Int { 0 }

    init(_ options: CBOREncoder) {
        self.options = options
        let (byteCount, itemCount, keyCount) = (512, 8, 16)
        let itemsStart = byteCount
        let keysStart = itemsStart + itemCount * MemoryLayout<Item>.stride
        memory = .allocate(
            byteCount: keysStart + keyCount * MemoryLayout<Key>.stride, alignment: MemoryLayout<Item>.alignment)
        bytes = GrowingBuffer(in: memory, capacity: byteCount)
        items = GrowingBuffer(in: memory + itemsStart, capacity: itemCount)
        keys = GrowingBuffer(in: memory + keysStart, capacity: keyCount)
        if options.isSelfDescribed { bytes.appendHead(.tag, Tag.selfDescribed) }
        items.append(Item(parent: -1, depth: 0, place: 0, keyStart: -1, start: bytes.count))
    }

    deinit {
        bytes.free()
        items.free()
        keys.free()
        memory.deallocate()
    }

    // MARK: Where to write

    /// Makes the item the one that is written to.
    @inline(__always)
    func resume(_ item: Int) {
        if item != current { turn(to: item) }
    }

    @inline(never)
    private func turn(to item: Int) {
        if items[item].end < 0 {
            while current != item { leaveCurrent() }
        } else {
            endDetour()
            detours.append(Detour(item: item, start: bytes.count, end: -1))
            beforeDetour = current
            current = item
        }
    }

    /// Goes on with what is around the current item, or was current before the detour to it.
    func leaveCurrent() {
        if beforeDetour != nil, current == detours[detours.count - 1].item {
            endDetour()
        } else {
            close(current)
            current = items[current].parent
        }
    }

    func endDetour() {
        guard let before = beforeDetour else { return }
        let last = detours.count - 1
        while current != detours[last].item {
            close(current)
            current = items[current].parent
        }
        detours[last].end = bytes.count
        beforeDetour = nil
        current = before
    }

    func close(_ item: Int) {
        if items[item].kind == .undecided {
            items[item].start = bytes.count
            bytes.append(0)
        }
        items[item].end = bytes.count
    }

    /// Closes everything.
    func closeAll() {
        endDetour()
        while current >= 0 {
            close(current)
            current = items[current].parent
        }
    }

    // MARK: Items

    /// Begins an entry of the container, which is current.
    func beginItem(in container: Int, keyStart: Int) -> Int {
        let item = items.count
        let (depth, place) = (items[container].depth + 1, items[container].count - 1)
        items.append(Item(parent: container, depth: depth, place: place, keyStart: keyStart, start: bytes.count))
        current = item
        return item
    }

    /// Says that the item is a container of this kind. Asked a second time, it is the same one.
    func open(_ item: Int, as kind: Item.Kind) {
        let known = items[item].kind
        guard known != kind, known != .dropped else { return }
        guard known == .undecided, items[item].depth < options.nestingLimit else {
            return fail(known == .undecided ? tooDeep(item) : decidedTwice(item))
        }
        resume(item)
        items[item].kind = kind
        if items[item].end < 0 {
            items[item].start = bytes.count
            bytes.append(0)
        }
    }

    /// Says that the item is what is written next.
    func openScalar(_ item: Int) throws {
        if items[item].kind == .dropped { return resume(item) }
        guard items[item].kind == .undecided else { throw decidedTwice(item) }
        resume(item)
        items[item].kind = items[item].end < 0 ? .scalar : .lateScalar
    }

    /// Counts an entry of the container, and makes it current.
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
        error(item, "Containers lie deeper in one another than the encoder's nesting limit, \(options.nestingLimit).")
    }

    private func decidedTwice(_ item: Int) -> EncodingError {
        error(item, "An encoder was asked for two values, or for containers of two kinds. A value is one of them.")
    }

    func error(_ item: Int, _ description: String) -> EncodingError {
        let path = codingPath(of: item)
        return EncodingError.invalidValue(CodingPlace(path: path), .init(codingPath: path, debugDescription: description))
    }
}

/// What stands for the value in an error about an encoder, which knows only where it is.
struct CodingPlace {
    var path: [any CodingKey]
}
