/// A 64-bit Bloom filter of the keys of a map, with one bit for each key. If a key's bit is not
/// set, the map does not contain the key.
struct KeyMask: BitwiseCopyable {
    private(set) var bits: UInt64 = 0

    /// Returns the bit of a key, computed from its bytes.
    @inline(__always)
    static func bit(_ bytes: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        // Hashes both ends, because keys of a type usually differ there: `firstName`, `firstPart`,
        // `lastName`.
        let raw = UnsafeRawPointer(bytes)
        var word = UInt64(truncatingIfNeeded: count)
        if count >= 8 {
            word = word &* 31 ^ raw.loadUnaligned(as: UInt64.self)
            word =
                word.byteSwapped &* 0x9E37_79B9_7F4A_7C15
                ^ raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            let first = raw.loadUnaligned(as: UInt32.self)
            let last = raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            word = word << 59 ^ UInt64(first) << 24 ^ UInt64(last)
        } else if count > 0 {
            word =
                word << 59 ^ UInt64(bytes[0]) << 16 ^ UInt64(
                    bytes[count / 2]
                ) << 8
                ^ UInt64(bytes[count - 1])
        }
        return 1 << ((word &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    @inline(__always)
    func contains(_ bit: UInt64) -> Bool { bits & bit != 0 }

    /// Inserts the bit and returns whether it was not set before.
    @inline(__always)
    mutating func insert(_ bit: UInt64) -> Bool {
        defer { bits |= bit }
        return bits & bit == 0
    }
}
