/// Validates bytes before they are decoded: they must be one well-formed item (RFC 8949, appendix
/// C) without duplicate keys in a map, nested no deeper than the limit. Texts are compared by
/// canonical equivalence, like Swift's `==`.
///
/// Lengths are compared with the number of remaining bytes before they are used. The only
/// allocations are for comparing the keys of maps, in proportion to the number of keys.
struct WellFormedness {
    /// A problem and its offset.
    struct Fault: Error {
        var problem: String
        var offset: Int
    }

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let shared: UnsafeMutablePointer<Shared>

    /// What all items share. A reference, because a fourth word would take longer to pass on.
    struct Shared {
        var nestingLimit: Int
        /// Whether a map has a key that is not a text, or is a text of indefinite length.
        var hasOtherKeys = false
    }

    private init(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ shared: UnsafeMutablePointer<Shared>
    ) throws(Fault) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            throw Fault(problem: "the data is empty", offset: 0)
        }
        self.base = base
        count = bytes.count
        self.shared = shared
    }

    /// Validates the bytes and returns a reader for them. The reader needs no further checks.
    static func check(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ shared: UnsafeMutablePointer<Shared>
    ) throws(Fault) -> ItemReader {
        let check = try WellFormedness(bytes, shared)
        let end = try check.item(at: 0, level: 0)
        guard end == bytes.count else {
            throw Fault(problem: "more bytes follow the value", offset: end)
        }
        return ItemReader(base: check.base, count: check.count)
    }

    // MARK: Items

    /// Validates the item and returns its end.
    private func item(at start: Int, level: Int) throws(Fault) -> Int {
        var offset = start
        var level = level
        while true {
            let head = try head(at: offset)
            switch head.type {
            case .unsigned, .negative:
                try rejectIndefinite(head, at: offset)
                return head.next
            case .bytes, .text:
                return try string(head, at: offset)
            case .array, .map:
                guard level < shared.pointee.nestingLimit else {
                    throw Fault(
                        problem:
                            """
                            containers are nested deeper than 'nestingLimit', \
                            \(shared.pointee.nestingLimit)
                            """,
                        offset: offset
                    )
                }
                return try head.type == .array
                    ? array(head, level: level + 1)
                    : map(head, at: offset, level: level + 1)
            case .tag:
                try rejectIndefinite(head, at: offset)
                // Each tag inside a tag counts as a level, which bounds chains of tags.
                if offset > start { level += 1 }
                guard level <= shared.pointee.nestingLimit else {
                    throw Fault(
                        problem:
                            """
                            tags are nested deeper than 'nestingLimit', \
                            \(shared.pointee.nestingLimit)
                            """,
                        offset: offset
                    )
                }
                offset = head.next
            case .simple:
                guard head.information != AdditionalInformation.indefinite else {
                    throw Fault(problem: "there is a break instead of a value", offset: offset)
                }
                guard head.information != AdditionalInformation.oneByte || head.argument >= 32
                else {
                    throw Fault(problem: "a simple value is one byte too long", offset: offset)
                }
                return head.next
            }
        }
    }

    private func array(_ head: ItemReader.Head, level: Int) throws(Fault) -> Int {
        var offset = head.next
        if head.isIndefinite {
            while try !isBreak(at: offset) {
                offset = try item(at: offset, level: level)
            }
            return offset + 1
        }
        // Each element has at least one byte.
        guard head.argument <= UInt64(count - offset) else { throw unexpectedEnd }
        for _ in 0..<Int(head.argument) {
            offset = try item(at: offset, level: level)
        }
        return offset
    }

    private func map(
        _ head: ItemReader.Head,
        at start: Int,
        level: Int
    ) throws(Fault) -> Int {
        var offset = head.next
        var keys = MapKeys()
        if head.isIndefinite {
            while try !isBreak(at: offset) {
                offset = try pair(at: offset, level: level, &keys)
            }
            offset += 1
        } else {
            guard head.argument <= UInt64(count - offset) / 2 else { throw unexpectedEnd }
            for _ in 0..<Int(head.argument) {
                offset = try pair(at: offset, level: level, &keys)
            }
        }
        if !keys.findings.isEmpty { try compareKeys(head, keys) }
        return offset
    }

    /// Validates a key and its value and returns the end of the value.
    @inline(__always)
    private func pair(
        at offset: Int,
        level: Int,
        _ keys: inout MapKeys
    ) throws(Fault) -> Int {
        let keyHead = try head(at: offset)
        let keyEnd: Int
        if keyHead.type == .text, !keyHead.isIndefinite {
            keyEnd = try string(keyHead, at: offset)
            let text = ByteSlice(base + keyHead.next, count: keyEnd - keyHead.next)
            if !text.isASCII {
                guard text.isUTF8BeyondASCII else {
                    throw Fault(problem: "a key is not valid UTF-8", offset: offset)
                }
                if text.mayHaveEquivalents { keys.findings.insert(.equivalents) }
            }
        } else {
            keyEnd = try item(at: offset, level: level)
            keys.findings.insert(.others)
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
                throw Fault(
                    problem: "a string of indefinite length contains a chunk of another type",
                    offset: offset
                )
            }
            let end = try string(chunk, at: offset)
            // A character must not be split between chunks (RFC 8949, 3.2.3).
            guard
                head.type == .bytes
                    || ByteSlice(base + chunk.next, count: end - chunk.next).isUTF8
            else {
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
                guard count - offset > 1 << Int(information - AdditionalInformation.oneByte) else {
                    throw unexpectedEnd
                }
            case AdditionalInformation.indefinite: break
            default: throw Fault(problem: "a head uses a reserved value", offset: offset)
            }
        }
        return ItemReader(base: base, count: count).head(at: offset)
    }

    private func isBreak(at offset: Int) throws(Fault) -> Bool {
        guard offset < count else { throw unexpectedEnd }
        return base[offset] == SimpleByte.break
    }

    private func rejectIndefinite(_ head: ItemReader.Head, at offset: Int) throws(Fault) {
        guard !head.isIndefinite else {
            throw Fault(problem: "a head uses a reserved value", offset: offset)
        }
    }

    private var unexpectedEnd: Fault { Fault(problem: "the data ends too early", offset: count) }

    // MARK: Keys

    /// What is recorded about the keys of a map in order to detect duplicates.
    private struct MapKeys {
        struct Findings: OptionSet {
            let rawValue: UInt8
            static let duplicates = Findings(rawValue: 1)
            /// A key may be equal to a key with different bytes, because its head is not the
            /// shortest or its text has equivalents.
            static let equivalents = Findings(rawValue: 2)
            /// A key is not a text, or is a text of indefinite length.
            static let others = Findings(rawValue: 4)
        }

        private var mask = KeyMask()
        private(set) var count = 0
        var findings: Findings = []

        @inline(__always)
        mutating func add(
            _ key: UnsafePointer<UInt8>,
            count size: Int,
            _ head: ItemReader.Head
        ) {
            count += 1
            if head.information >= AdditionalInformation.oneByte {
                if !head.isShortest { findings.insert(.equivalents) }
            }
            if !mask.insert(KeyMask.bit(key, count: size)) {
                findings.insert(.duplicates)
            }
        }
    }

    /// Throws if a well-formed map has duplicate keys.
    @inline(never)
    private func compareKeys(_ head: ItemReader.Head, _ keys: MapKeys) throws(Fault) {
        if keys.findings.contains(.others) { shared.pointee.hasOtherKeys = true }
        guard keys.findings != .others else { return }
        let mayHaveEquivalents = keys.findings.contains(.equivalents)
        let reader = ItemReader(base: base, count: count)
        var slices = DistinctSlices(count: mayHaveEquivalents ? 0 : keys.count)
        var identities = Set<KeyIdentity>(minimumCapacity: mayHaveEquivalents ? keys.count : 0)
        var offset = head.next
        for _ in 0..<keys.count {
            let end = reader.end(of: offset)
            let key = ByteSlice(base + offset, count: end - offset)
            if mayHaveEquivalents {
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
