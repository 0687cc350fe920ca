internal import Foundation

/// A reference to bytes that the caller keeps alive. Slices are compared by content.
struct ByteSlice: Hashable {
    let start: UnsafePointer<UInt8>
    let count: Int

    @inline(__always)
    init(_ start: UnsafePointer<UInt8>, count: Int) {
        self.start = start
        self.count = count
    }

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        // The base address of an empty buffer may be nil. An empty slice never reads its start.
        self.init(
            bytes.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped,
            count: bytes.count
        )
    }

    /// Whether the bytes are the UTF-8 of the text.
    @inline(__always)
    func isText(_ text: String) -> Bool {
        if let isSame = text.utf8.withContiguousStorageIfAvailable({ self == ByteSlice($0) }) {
            return isSame
        }
        var native = text
        return native.withUTF8 { self == ByteSlice($0) }
    }

    /// Whether the bytes are UTF-8.
    @inline(__always)
    var isUTF8: Bool { isASCII || isUTF8BeyondASCII }

    /// Whether the bytes are ASCII. This is true for almost all keys.
    @inline(__always)
    var isASCII: Bool {
        let raw = UnsafeRawPointer(start)
        var high: UInt64 = 0
        if count >= 8 {
            // The last eight bytes may overlap the previous ones.
            high = raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            var offset = 0
            while offset < count - 8 {
                high |= raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                offset += 8
            }
        } else if count >= 4 {
            high = UInt64(
                raw.loadUnaligned(as: UInt32.self)
                    | raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            )
        } else if count > 0 {
            high = UInt64(start[0] | start[count / 2] | start[count - 1])
        }
        return high & 0x8080_8080_8080_8080 == 0
    }

    @inline(never)
    var isUTF8BeyondASCII: Bool {
        isText(
            String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        )
    }

    /// Whether a text with these bytes may be equal, by Swift's `==`, to a text with different
    /// bytes.
    ///
    /// False for ASCII, Latin letters up to U+02FF, most of Cyrillic, most Chinese characters and
    /// most Korean syllables: texts that consist only of these are equal only if their bytes are
    /// equal. The test looks at lead bytes only, so it may return true for other texts without
    /// equivalents.
    @inline(never)
    var mayHaveEquivalents: Bool {
        UnsafeBufferPointer(start: start, count: count).contains { byte in
            byte >= 0xCC && Self.leadBytesWithoutEquivalents & (1 << UInt64(byte & 0x3F)) == 0
        }
    }

    /// Whether a key with these bytes, including its head, may be equal to a key with different
    /// bytes. May return true because of the head.
    @inline(__always)
    var keyMayHaveEquivalents: Bool { !isASCII && mayHaveEquivalents }

    /// A bit set of the lead bytes 0xD0, 0xD1, 0xD3, 0xE4 to 0xE9, 0xEB and 0xEC, where bit 0 is
    /// 0xC0. Their characters (U+0400 to U+047F, U+04C0 to U+04FF, U+4000 to U+9FFF and U+B000 to
    /// U+CFFF) are in normal form (NFC) after any preceding character.
    private static var leadBytesWithoutEquivalents: UInt64 { 0x1BF0_000B_0000 }

    /// Whether this is an integer in a form that `description` does not have: "+1", "01", "-0".
    var mayBeAnotherNumeral: Bool {
        count > 1
            && (start[0] == UInt8(ascii: "+")
                || start[start[0] == UInt8(ascii: "-") ? 1 : 0] == UInt8(ascii: "0"))
    }

    /// A number that two texts in ASCII share if they have the same camel case.
    var snakeCaseHash: UInt64 {
        UnsafeBufferPointer(start: start, count: count).reduce(0) { hash, byte in
            byte == UInt8(ascii: "_") ? hash : (hash ^ UInt64(byte | 0x20)) &* 0x9E37_79B9_7F4A_7C15
        }
    }

    /// The bit of a key with these bytes in a `KeyMask`.
    @inline(__always)
    var keyBit: UInt64 { KeyMask.bit(start, count: count) }

    @inline(__always)
    static func == (left: ByteSlice, right: ByteSlice) -> Bool {
        left.count == right.count
            && memcmp(left.start, right.start, left.count) == 0
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// A set of slices that detects duplicates.
struct DistinctSlices {
    /// The largest number of slices that are kept in a list and compared pairwise.
    private static let listLimit = 24

    private var list: [ByteSlice] = []
    private var set: Set<ByteSlice>?

    init(count: Int) {
        if count > Self.listLimit {
            set = Set(minimumCapacity: count)
        } else {
            list.reserveCapacity(count)
        }
    }

    /// Inserts the slice and returns whether it was new.
    mutating func insert(_ slice: ByteSlice) -> Bool {
        if set != nil { return set?.insert(slice).inserted ?? true }
        guard !list.contains(slice) else { return false }
        list.append(slice)
        return true
    }
}
