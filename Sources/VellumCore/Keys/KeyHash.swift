/// The hash by which dictionaries find keys: a few multiplications, with a new seed in every
/// process.
///
/// Hashing a short key by `Hasher` (SipHash-1-3) costs about twenty nanoseconds, a fifth of a
/// memory hit. This one mixes words by the halves of their 128-bit products with a secret, as the
/// wyhash family does (github.com/wangyi-fudan/wyhash), and costs about five. Equality is always
/// decided by the bytes of the keys.
///
/// ``SeededHash`` is the variant that a file and several processes agree on.
@usableFromInline
enum KeyHash {
    /// A random number, unknown outside this process, so that nobody can construct colliding keys.
    @usableFromInline
    static let secret = UInt64.random(in: .min ... .max) | 1

    @inlinable
    static func of(_ bytes: UnsafeRawBufferPointer, seed: Int) -> Int {
        Int(truncatingIfNeeded: of(bytes, seed: UInt64(bitPattern: Int64(seed)), secret: secret))
    }

    @inlinable
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64, secret: UInt64) -> UInt64 {
        let count = bytes.count
        // Must differ from `secret`; otherwise the two factors below would be equal for a key that
        // is read as the same word twice.
        var hash = mixed(seed ^ 0x9E37_79B9_7F4A_7C15, secret)
        var place = 0
        while count - place > 16 {
            hash = mixed(word(bytes, place) ^ secret, word(bytes, place + 8) ^ hash)
            place += 16
        }
        let (first, last): (UInt64, UInt64)
        if count >= 8 {
            // The last sixteen bytes, which may overlap bytes that were read already.
            first = word(bytes, count >= 16 ? count - 16 : 0)
            last = word(bytes, count - 8)
        } else if count >= 4 {
            first = half(bytes, 0)
            last = half(bytes, count - 4)
        } else if count > 0 {
            first = UInt64(bytes[0]) << 8 | UInt64(bytes[count / 2])
            last = UInt64(bytes[count - 1])
        } else {
            first = 0
            last = 0
        }
        hash = mixed(first ^ secret, last ^ hash)
        return mixed(hash ^ secret, UInt64(count) ^ 0x9E37_79B9_7F4A_7C15)
    }

    @inlinable
    static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inlinable
    static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inlinable
    static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
