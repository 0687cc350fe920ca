/// The number by which a key that is too long for a name is found: never its identity, since the whole key is compared.
struct KeyDigest: Sendable {
    let hash: @Sendable (UnsafeRawBufferPointer) -> UInt128

    /// FNV-1a with 128 bits (Fowler, Noll, Vo; RFC 9923).
    static let fnv1a = KeyDigest { bytes in
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes {
            hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B
        }
        return hash
    }

    /// Thirty-two hexadecimal digits.
    ///
    /// - Complexity: O(length).
    func digits(of text: String) -> String {
        var text = text
        let digits = String(text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }
}
