internal import Foundation

/// Bytes that someone else keeps, compared by what they are.
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
        // An empty buffer may lie nowhere, and nobody looks where an empty slice does.
        self.init(bytes.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped, count: bytes.count)
    }

    /// Whether these are the bytes of the text.
    @inline(__always)
    func isText(_ text: String) -> Bool {
        if let isSame = text.utf8.withContiguousStorageIfAvailable({ self == ByteSlice($0) }) { return isSame }
        var native = text
        return native.withUTF8 { self == ByteSlice($0) }
    }

    /// Whether the bytes are UTF-8.
    @inline(__always)
    var isUTF8: Bool { isASCII || isUTF8BeyondASCII }

    /// Whether the bytes are ASCII, as those of almost all keys are.
    @inline(__always)
    var isASCII: Bool {
        let raw = UnsafeRawPointer(start)
        var high: UInt64 = 0
        if count >= 8 {
            // The last eight bytes overlap those before them.
            high = raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            var place = 0
            while place < count - 8 {
                high |= raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                place += 8
            }
        } else if count >= 4 {
            high = UInt64(raw.loadUnaligned(as: UInt32.self) | raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        } else if count > 0 {
            high = UInt64(start[0] | start[count / 2] | start[count - 1])
        }
        return high & 0x8080_8080_8080_8080 == 0
    }

    @inline(never)
    var isUTF8BeyondASCII: Bool {
        isText(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    }

    /// Whether a text with these bytes may be equal, by Swift's `==`, to a text with other bytes.
    ///
    /// False for ASCII, the Latin letters up to U+02FF, most of Cyrillic, most Chinese characters and most Korean syllables: two texts of
    /// these alone are equal only if their bytes are. The lead bytes of all others count as different, whatever they begin.
    @inline(never)
    var mayHaveOtherForms: Bool {
        UnsafeBufferPointer(start: start, count: count).contains { byte in
            byte >= 0xCC && Self.leadBytesOfOneForm & (1 << UInt64(byte & 0x3F)) == 0
        }
    }

    /// Whether a key with these bytes, its head included, may be equal to one with other bytes. A head may be taken for a part of the text.
    @inline(__always)
    var keyMayHaveOtherForms: Bool { !isASCII && mayHaveOtherForms }

    /// The lead bytes 0xD0, 0xD1, 0xD3, 0xE4 to 0xE9, 0xEB and 0xEC, bit 0 being 0xC0. What they begin (U+0400 to U+047F, U+04C0 to U+04FF,
    /// U+4000 to U+9FFF and U+B000 to U+CFFF) is in normal form (NFC), and stays so whatever stands before it.
    private static var leadBytesOfOneForm: UInt64 { 0x1BF0_000B_0000 }

    /// The bit of a key with these bytes.
    @inline(__always)
    var keyBit: UInt64 { KeyMask.bit(start, count: count) }

    @inline(__always)
    static func == (left: ByteSlice, right: ByteSlice) -> Bool {
        left.count == right.count && memcmp(left.start, right.start, left.count) == 0
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// Finds out whether slices are all different.
struct DistinctSlices {
    /// Up to so many are compared one with the other.
    private static let few = 24

    private var list: [ByteSlice] = []
    private var set: Set<ByteSlice>?

    init(count: Int) {
        if count > Self.few { set = Set(minimumCapacity: count) } else { list.reserveCapacity(count) }
    }

    /// Returns whether the slice is a new one.
    mutating func insert(_ slice: ByteSlice) -> Bool {
        if set != nil { return set?.insert(slice).inserted ?? true }
        guard !list.contains(slice) else { return false }
        list.append(slice)
        return true
    }
}
