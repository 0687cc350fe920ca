/// Looks at all bytes before anything is made of them: whether they are one well-formed item (RFC 8949, appendix C), with no two
/// equal keys in a map and nothing too deep. Texts are compared by canonical equivalence, like Swift's `==`.
///
/// No length is believed before as many bytes were seen, and nothing is allocated but for maps with many keys, as much as these take.
struct WellFormedness {
    /// What is wrong, and where.
    struct Fault: Error {
        var problem: String
        var offset: Int
    }

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let nestingLimit: Int

    private init(_ bytes: UnsafeBufferPointer<UInt8>, nestingLimit: Int) throws(Fault) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { throw Fault(problem: "there are no bytes", offset: 0) }
        self.base = base
        count = bytes.count
        self.nestingLimit = nestingLimit
    }

    /// Throws what is wrong with the bytes. If nothing is, they can be read without looking at every step.
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, nestingLimit: Int) throws(Fault) -> ItemReader {
        let check = try WellFormedness(bytes, nestingLimit: nestingLimit)
        let end = try check.item(at: 0, level: 0)
        guard end == bytes.count else { throw Fault(problem: "something follows the value", offset: end) }
        return ItemReader(check.base, count: check.count)
    }

    /// The bytes of the value at the end of a path of keys; `nil` if there is none. What comes after it is not looked at.
    static func field(
        at path: [String], in bytes: UnsafeBufferPointer<UInt8>, nestingLimit: Int
    ) throws(Fault) -> UnsafeBufferPointer<UInt8>? {
        let check = try WellFormedness(bytes, nestingLimit: nestingLimit)
        var offset = 0
        for (level, key) in path.enumerated() {
            guard let value = try check.value(of: key, inMapAt: offset, level: level) else { return nil }
            offset = value
        }
        let end = try check.item(at: offset, level: path.count)
        return UnsafeBufferPointer(rebasing: bytes[offset..<end])
    }

    /// Where the value of a text key begins; `nil` if there is no map, or no such key in it.
    private func value(of key: String, inMapAt map: Int, level: Int) throws(Fault) -> Int? {
        var head = try head(at: map)
        while head.type == .tag { head = try self.head(at: head.next) }
        guard head.type == .map else { return nil }
        var (offset, left) = (head.next, head.argument)
        while head.isIndefinite ? try !isBreak(at: offset) : left > 0 {
            left &-= 1
            let (keyHead, keyEnd) = (try self.head(at: offset), try item(at: offset, level: level + 1))
            if keyHead.type == .text, ItemReader(base, count: count).withBytes(keyHead, { ByteSlice($0).isText(key) }) { return keyEnd }
            offset = try item(at: keyEnd, level: level + 1)
        }
        return nil
    }

    // MARK: Items

    /// Returns where the item ends.
    private func item(at start: Int, level: Int) throws(Fault) -> Int {
        var (offset, level) = (start, level)
        while true {
            let head = try head(at: offset)
            switch head.type {
            case .unsigned, .negative:
                try refuseIndefinite(head, at: offset)
                return head.next
            case .bytes, .text:
                return try string(head, at: offset)
            case .array, .map:
                guard level < nestingLimit else {
                    throw Fault(problem: "containers lie deeper in one another than the nesting limit, \(nestingLimit),", offset: offset)
                }
                return try head.type == .array ? array(head, level: level + 1) : map(head, at: offset, level: level + 1)
            case .tag:
                try refuseIndefinite(head, at: offset)
                // A tag in a tag is a level of its own, so that no chain of them is endless.
                if offset > start { level += 1 }
                guard level <= nestingLimit else {
                    throw Fault(problem: "tags lie deeper in one another than the nesting limit, \(nestingLimit),", offset: offset)
                }
                offset = head.next
            case .simple:
                guard head.information != AdditionalInformation.indefinite else {
                    throw Fault(problem: "a break stands where a value belongs", offset: offset)
                }
                guard head.information != AdditionalInformation.oneByte || head.argument >= 32 else {
                    throw Fault(problem: "a simple value is written with a byte too many", offset: offset)
                }
                return head.next
            }
        }
    }

    private func array(_ head: ItemReader.Head, level: Int) throws(Fault) -> Int {
        var offset = head.next
        if head.isIndefinite {
            while try !isBreak(at: offset) { offset = try item(at: offset, level: level) }
            return offset + 1
        }
        // Each has a byte at the least.
        guard head.argument <= UInt64(count - offset) else { throw endsTooEarly }
        for _ in 0..<Int(head.argument) { offset = try item(at: offset, level: level) }
        return offset
    }

    private func map(_ head: ItemReader.Head, at start: Int, level: Int) throws(Fault) -> Int {
        var offset = head.next
        var keys = MapKeys()
        if head.isIndefinite {
            while try !isBreak(at: offset) { offset = try pair(at: offset, level: level, &keys) }
            offset += 1
        } else {
            guard head.argument <= UInt64(count - offset) / 2 else { throw endsTooEarly }
            for _ in 0..<Int(head.argument) { offset = try pair(at: offset, level: level, &keys) }
        }
        if keys.mayRepeat || keys.haveOtherForms { try compareKeys(head, keys) }
        return offset
    }

    /// Looks at a key and its value.
    @inline(__always)
    private func pair(at offset: Int, level: Int, _ keys: inout MapKeys) throws(Fault) -> Int {
        let keyHead = try head(at: offset)
        let keyEnd: Int
        if keyHead.type == .text, !keyHead.isIndefinite {
            keyEnd = try string(keyHead, at: offset)
            let text = ByteSlice(base + keyHead.next, count: keyEnd - keyHead.next)
            if !text.isASCII {
                guard text.isUTF8BeyondASCII else { throw Fault(problem: "a key is not UTF-8", offset: offset) }
                if text.mayHaveOtherForms { keys.haveOtherForms = true }
            }
        } else {
            keyEnd = try item(at: offset, level: level)
        }
        keys.add(base + offset, count: keyEnd - offset, keyHead)
        return try item(at: keyEnd, level: level)
    }

    private func string(_ head: ItemReader.Head, at start: Int) throws(Fault) -> Int {
        guard head.isIndefinite else {
            guard head.argument <= UInt64(count - head.next) else { throw endsTooEarly }
            return head.next + Int(head.argument)
        }
        var offset = head.next
        while try !isBreak(at: offset) {
            let piece = try self.head(at: offset)
            guard piece.type == head.type, !piece.isIndefinite else {
                throw Fault(problem: "a string of indefinite length holds what is no string of its kind", offset: offset)
            }
            let end = try string(piece, at: offset)
            // Not even a character may stand in two pieces (RFC 8949, 3.2.3).
            guard head.type == .bytes || ByteSlice(base + piece.next, count: end - piece.next).isUTF8 else {
                throw Fault(problem: "a piece of a text is not UTF-8", offset: offset)
            }
            offset = end
        }
        return offset + 1
    }

    // MARK: Heads

    @inline(__always)
    private func head(at offset: Int) throws(Fault) -> ItemReader.Head {
        guard offset < count else { throw endsTooEarly }
        let information = base[offset] & 0x1F
        if information >= AdditionalInformation.oneByte {
            switch information {
            case AdditionalInformation.oneByte...AdditionalInformation.eightBytes:
                guard count - offset > 1 << Int(information - AdditionalInformation.oneByte) else { throw endsTooEarly }
            case AdditionalInformation.indefinite: break
            default: throw Fault(problem: "a head is of a kind that is reserved", offset: offset)
            }
        }
        return ItemReader(base, count: count).head(at: offset)
    }

    private func isBreak(at offset: Int) throws(Fault) -> Bool {
        guard offset < count else { throw endsTooEarly }
        return base[offset] == SimpleByte.break
    }

    private func refuseIndefinite(_ head: ItemReader.Head, at offset: Int) throws(Fault) {
        guard !head.isIndefinite else { throw Fault(problem: "a head is of a kind that is reserved", offset: offset) }
    }

    private var endsTooEarly: Fault { Fault(problem: "the bytes end too early", offset: count) }

    // MARK: Keys

    /// The keys of a map, as far as telling them apart takes.
    private struct MapKeys {
        private var mask = KeyMask()
        private(set) var count = 0
        private(set) var mayRepeat = false
        /// Whether some key may be equal to another in other bytes: it is longer than it must be, or a text with more than one form.
        var haveOtherForms = false

        @inline(__always)
        mutating func add(_ key: UnsafePointer<UInt8>, count size: Int, _ head: ItemReader.Head) {
            count += 1
            if head.information >= AdditionalInformation.oneByte { haveOtherForms = haveOtherForms || !head.isShortest }
            if !mask.insert(KeyMask.bit(key, count: size)) { mayRepeat = true }
        }
    }

    /// Compares the keys of a well-formed map.
    private func compareKeys(_ head: ItemReader.Head, _ keys: MapKeys) throws(Fault) {
        let reader = ItemReader(base, count: count)
        var slices = DistinctSlices(count: keys.haveOtherForms ? 0 : keys.count)
        var identities = Set<KeyIdentity>(minimumCapacity: keys.haveOtherForms ? keys.count : 0)
        var offset = head.next
        for _ in 0..<keys.count {
            let end = reader.end(of: offset)
            let key = ByteSlice(base + offset, count: end - offset)
            if keys.haveOtherForms {
                guard identities.insert(KeyIdentity(key)).inserted else {
                    throw Fault(problem: "a map has two keys that are equal", offset: offset)
                }
            } else if !slices.insert(key) {
                throw Fault(problem: "a map has a key twice", offset: offset)
            }
            offset = reader.end(of: end)
        }
    }
}

extension ItemReader.Head {
    /// Whether no shorter head says the same, as far as numbers and strings go.
    fileprivate var isShortest: Bool {
        switch information {
        case AdditionalInformation.oneByte: argument >= UInt64(AdditionalInformation.oneByte)
        case AdditionalInformation.twoBytes: argument > 0xFF
        case AdditionalInformation.fourBytes: argument > 0xFFFF
        case AdditionalInformation.eightBytes: argument > 0xFFFF_FFFF
        case AdditionalInformation.indefinite: false
        default: true
        }
    }
}
