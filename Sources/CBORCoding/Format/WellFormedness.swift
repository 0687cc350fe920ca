/// Validates bytes before they are decoded: they must be one well-formed item (RFC 8949, appendix C) without duplicate keys in a map,
/// nested no deeper than the limit. Texts are compared by canonical equivalence, like Swift's `==`.
///
/// Lengths are compared with the number of remaining bytes before they are used. The only allocations are for comparing the keys of
/// maps, in proportion to the number of keys.
struct WellFormedness {
    /// A problem and its offset.
    struct Fault: Error {
        var problem: String
        var offset: Int
    }

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let nestingLimit: Int

    private init(_ bytes: UnsafeBufferPointer<UInt8>, nestingLimit: Int) throws(Fault) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { throw Fault(problem: "the data is empty", offset: 0) }
        self.base = base
        count = bytes.count
        self.nestingLimit = nestingLimit
    }

    /// Validates the bytes and returns a reader for them. The reader needs no further checks.
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, nestingLimit: Int) throws(Fault) -> ItemReader {
        let check = try WellFormedness(bytes, nestingLimit: nestingLimit)
        let end = try check.item(at: 0, level: 0)
        guard end == bytes.count else { throw Fault(problem: "more bytes follow the value", offset: end) }
        return ItemReader(check.base, count: check.count)
    }

    // MARK: Items

    /// Validates the item and returns its end.
    private func item(at start: Int, level: Int) throws(Fault) -> Int {
        var (offset, level) = (start, level)
        while true {
            let head = try head(at: offset)
            switch head.type {
            case .unsigned, .negative:
                try rejectIndefinite(head, at: offset)
                return head.next
            case .bytes, .text:
                return try string(head, at: offset)
            case .array, .map:
                guard level < nestingLimit else {
                    throw Fault(problem: "containers are nested deeper than the limit of \(nestingLimit)", offset: offset)
                }
                return try head.type == .array ? array(head, level: level + 1) : map(head, at: offset, level: level + 1)
            case .tag:
                try rejectIndefinite(head, at: offset)
                // Each tag inside a tag counts as a level, which bounds chains of tags.
                if offset > start { level += 1 }
                guard level <= nestingLimit else {
                    throw Fault(problem: "tags are nested deeper than the limit of \(nestingLimit)", offset: offset)
                }
                offset = head.next
            case .simple:
                guard head.information != AdditionalInformation.indefinite else {
                    throw Fault(problem: "there is a break instead of a value", offset: offset)
                }
                guard head.information != AdditionalInformation.oneByte || head.argument >= 32 else {
                    throw Fault(problem: "a simple value is one byte too long", offset: offset)
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
        // Each element has at least one byte.
        guard head.argument <= UInt64(count - offset) else { throw unexpectedEnd }
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
            guard head.argument <= UInt64(count - offset) / 2 else { throw unexpectedEnd }
            for _ in 0..<Int(head.argument) { offset = try pair(at: offset, level: level, &keys) }
        }
        if keys.mayHaveDuplicates || keys.mayHaveEquivalents { try compareKeys(head, keys) }
        return offset
    }

    /// Validates a key and its value and returns the end of the value.
    @inline(__always)
    private func pair(at offset: Int, level: Int, _ keys: inout MapKeys) throws(Fault) -> Int {
        let keyHead = try head(at: offset)
        let keyEnd: Int
        if keyHead.type == .text, !keyHead.isIndefinite {
            keyEnd = try string(keyHead, at: offset)
            let text = ByteSlice(base + keyHead.next, count: keyEnd - keyHead.next)
            if !text.isASCII {
                guard text.isUTF8BeyondASCII else { throw Fault(problem: "a key is not valid UTF-8", offset: offset) }
                if text.mayHaveEquivalents { keys.mayHaveEquivalents = true }
            }
        } else {
            keyEnd = try item(at: offset, level: level)
        }
        keys.add(base + offset, count: keyEnd - offset, keyHead)
        return try item(at: keyEnd, level: level)
    }

    private func string(_ head: ItemReader.Head, at start: Int) throws(Fault) -> Int {
        guard head.isIndefinite else {
            guard head.argument <= UInt64(count - head.next) else { throw unexpectedEnd }
            return head.next + Int(head.argument)
        }
        var offset = head.next
        while try !isBreak(at: offset) {
            let chunk = try self.head(at: offset)
            guard chunk.type == head.type, !chunk.isIndefinite else {
                throw Fault(problem: "a string of indefinite length contains a chunk of another type", offset: offset)
            }
            let end = try string(chunk, at: offset)
            // A character must not be split between chunks (RFC 8949, 3.2.3).
            guard head.type == .bytes || ByteSlice(base + chunk.next, count: end - chunk.next).isUTF8 else {
                throw Fault(problem: "a chunk of a text is not valid UTF-8", offset: offset)
            }
            offset = end
        }
        return offset + 1
    }

    // MARK: Heads

    @inline(__always)
    private func head(at offset: Int) throws(Fault) -> ItemReader.Head {
        guard offset < count else { throw unexpectedEnd }
        let information = base[offset] & 0x1F
        if information >= AdditionalInformation.oneByte {
            switch information {
            case AdditionalInformation.oneByte...AdditionalInformation.eightBytes:
                guard count - offset > 1 << Int(information - AdditionalInformation.oneByte) else { throw unexpectedEnd }
            case AdditionalInformation.indefinite: break
            default: throw Fault(problem: "a head uses a reserved value", offset: offset)
            }
        }
        return ItemReader(base, count: count).head(at: offset)
    }

    private func isBreak(at offset: Int) throws(Fault) -> Bool {
        guard offset < count else { throw unexpectedEnd }
        return base[offset] == SimpleByte.break
    }

    private func rejectIndefinite(_ head: ItemReader.Head, at offset: Int) throws(Fault) {
        guard !head.isIndefinite else { throw Fault(problem: "a head uses a reserved value", offset: offset) }
    }

    private var unexpectedEnd: Fault { Fault(problem: "the data ends too early", offset: count) }

    // MARK: Keys

    /// What is recorded about the keys of a map in order to detect duplicates.
    private struct MapKeys {
        private var mask = KeyMask()
        private(set) var count = 0
        private(set) var mayHaveDuplicates = false
        /// Whether a key may be equal to a key with different bytes, because its head is not the shortest or its text has equivalents.
        var mayHaveEquivalents = false

        @inline(__always)
        mutating func add(_ key: UnsafePointer<UInt8>, count size: Int, _ head: ItemReader.Head) {
            count += 1
            if head.information >= AdditionalInformation.oneByte { mayHaveEquivalents = mayHaveEquivalents || !head.isShortest }
            if !mask.insert(KeyMask.bit(key, count: size)) { mayHaveDuplicates = true }
        }
    }

    /// Throws if a well-formed map has duplicate keys.
    private func compareKeys(_ head: ItemReader.Head, _ keys: MapKeys) throws(Fault) {
        let reader = ItemReader(base, count: count)
        var slices = DistinctSlices(count: keys.mayHaveEquivalents ? 0 : keys.count)
        var identities = Set<KeyIdentity>(minimumCapacity: keys.mayHaveEquivalents ? keys.count : 0)
        var offset = head.next
        for _ in 0..<keys.count {
            let end = reader.end(of: offset)
            let key = ByteSlice(base + offset, count: end - offset)
            if keys.mayHaveEquivalents {
                guard identities.insert(KeyIdentity(key)).inserted else {
                    throw Fault(problem: "a map has two keys that are equal", offset: offset)
                }
            } else if !slices.insert(key) {
                throw Fault(problem: "a map has a duplicate key", offset: offset)
            }
            offset = reader.end(of: end)
        }
    }
}

extension ItemReader.Head {
    /// Whether this is the shortest head for its argument. Applies to numbers and strings.
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
