/// The digest that names the file of a key that is too long for a name. Keys may share one: the file holds the whole key.
struct KeyDigest: Sendable {
    let hash: @Sendable (UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64)

    /// FNV-1a with 128 bits (Fowler, Noll, Vo; RFC 9923).
    static let fnv1a = KeyDigest { bytes in
        var (high, low): (UInt64, UInt64) = (0x6C62_272E_07BB_0142, 0x62B8_2175_6295_C58D)
        for byte in bytes {
            low ^= UInt64(byte)
            // Times the prime, which is 2^88 + 0x13B.
            let product = low.multipliedFullWidth(by: 0x13B)
            high = high &* 0x13B &+ product.high &+ low << 24
            low = product.low
        }
        return (high, low)
    }

    /// Thirty-two hexadecimal digits.
    ///
    /// - Complexity: O(length).
    func digits(of text: String) -> String {
        var text = text
        let words = text.withUTF8 { self.hash(UnsafeRawBufferPointer($0)) }
        return String(unsafeUninitializedCapacity: 32) { digits in
            for (index, word) in [words.high, words.low].enumerated() {
                for position in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * position)) & 15
                    digits[16 * index + position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
                }
            }
            return 32
        }
    }
}
