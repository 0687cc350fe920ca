/// The hash FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923). Equal in every process, so that it
/// may be stored.
package struct FNV1a: Sendable {
    /// The hash of all bytes so far.
    package private(set) var hash: UInt64

    /// - Parameter seed: Combined with the offset basis; zero for the hash of the RFC.
    package init(seed: UInt64 = 0) { hash = 0xCBF2_9CE4_8422_2325 ^ seed }

    /// Adds bytes.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
