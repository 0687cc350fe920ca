/// Which keys a map may have: one of 64 bits for each. A bit that is not set says that a key is not there; one that is says little.
struct KeyMask: BitwiseCopyable {
    private(set) var bits: UInt64 = 0

    /// The bit of a key, from its bytes.
    @inline(__always)
    static func bit(_ bytes: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        // Both ends of it, where keys of one type differ: `firstName`, `firstPart`, `lastName`.
        let raw = UnsafeRawPointer(bytes)
        var word = UInt64(truncatingIfNeeded: count)
        if count >= 8 {
            word = word &* 31 ^ raw.loadUnaligned(as: UInt64.self)
            word = word.byteSwapped &* 0x9E37_79B9_7F4A_7C15 ^ raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            let (first, last) = (raw.loadUnaligned(as: UInt32.self), raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            word = word << 59 ^ UInt64(first) << 24 ^ UInt64(last)
        } else if count > 0 {
            word = word << 59 ^ UInt64(bytes[0]) << 16 ^ UInt64(bytes[count / 2]) << 8 ^ UInt64(bytes[count - 1])
        }
        return 1 << ((word &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    @inline(__always)
    func contains(_ bit: UInt64) -> Bool { bits & bit != 0 }

    /// Returns whether the bit was not set.
    @inline(__always)
    mutating func insert(_ bit: UInt64) -> Bool {
        defer { bits |= bit }
        return bits & bit == 0
    }
}
