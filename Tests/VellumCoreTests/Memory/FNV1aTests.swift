import Foundation
import TestThreads
import Testing

@testable import VellumCore

@Suite(.ownThreads)
struct FNV1aTests {
    /// Test vectors of RFC 9923. Ages and cache versions in files depend on them.
    @Test(
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C),
            ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)]
    )
    func hashesAreThoseOfTheRFC(_ text: String, _ hash: UInt64) {
        var fnv = FNV1a()
        Data(text.utf8).withUnsafeBytes { fnv.combine($0) }
        #expect(fnv.hash == hash)
    }

    @Test func bytesMayBeAddedInParts() {
        var (whole, parts) = (FNV1a(seed: 7), FNV1a(seed: 7))
        Data("foobar".utf8).withUnsafeBytes { whole.combine($0) }
        for part in ["foo", "bar"] { Data(part.utf8).withUnsafeBytes { parts.combine($0) } }
        #expect(whole.hash == parts.hash)
        #expect(whole.hash != FNV1a(seed: 7).hash)
    }

    /// Every process computes this age, in every version.
    @Test func aJitteredAgeIsTheSameInEveryVersion() {
        let expiration = Expiration(age: 1_000_000, jitter: 0.5)
        #expect(
            expiration.age(of: "key", written: WallInstant(rawValue: 1_700_000_000_000)) == 648_826
        )
    }
}
