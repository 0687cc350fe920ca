/// The hash of keys by which a file finds entries, and processes tell each other which ones changed
/// (decision 13).
///
/// Its seed is a random number of the archive, so that nobody who does not read the file can
/// construct colliding keys. `Format.md` spells it out: it must never change.
@frozen
@usableFromInline package struct SeededHash: Hashable, Sendable {
    @usableFromInline package let seed: Int64

    @inlinable
    package init(seed: Int64) { self.seed = seed }

    /// A hash that no other archive has.
    package static func random() -> SeededHash {
        SeededHash(seed: .random(in: .min ... .max))
    }

    @inlinable
    package func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let seed = UInt64(bitPattern: seed)
        return KeyHash.of(bytes, seed: seed, secret: (seed ^ 0xA409_3822_299F_31D1) | 1)
    }

    @inlinable
    package func of(_ key: EntryKey) -> UInt64 { key.withBytes { of($0) } }
}
