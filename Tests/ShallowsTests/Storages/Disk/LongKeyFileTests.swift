import Foundation
import Testing
import VellumTestSupport

@testable import Shallows

@Suite(.timeLimit(.minutes(1)))
struct LongKeyFileTests {
    @Test(arguments: ["", "value"], ["", "key", "\0é👍"])
    func theValueAndTheKeyAreReadBack(value: String, key: String) throws {
        let parts = try #require(LongKeyFile.parts(of: Data(value.utf8) + LongKeyFile.end(for: key)))
        #expect(parts.value == Data(value.utf8))
        #expect(parts.key == Data(key.utf8))
    }

    /// P36.
    @Test(arguments: [0, 4, UInt64(Int.max), .max])
    func aLengthBeyondTheFileIsDamage(length: UInt64) {
        var file = Data("value".utf8) + LongKeyFile.end(for: "key")
        withUnsafeBytes(of: (length == 0 ? 9 : length + (length < 5 ? 5 : 0)).littleEndian) {
            file.replaceSubrange(file.count - 16..<file.count - 8, with: $0)
        }
        #expect(LongKeyFile.parts(of: file) == nil)
    }

    @Test func everyCutOfAFileIsDamage() {
        let file = Data("value".utf8) + LongKeyFile.end(for: "key")
        for count in 0..<file.count { #expect(LongKeyFile.parts(of: file.prefix(count)) == nil) }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            var file = Data((0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            file += Data("shallows".utf8)
            _ = LongKeyFile.parts(of: file)
        }
    }

    /// The vectors of the hash's authors (RFC 9923, appendix C).
    @Test(arguments: [
        ("", "6c62272e07bb014262b821756295c58d"), ("a", "d228cb696f1a8caf78912b704e4a8964"), ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
    ])
    func theDigestIsThatOfTheStandard(text: String, digits: String) {
        #expect(KeyDigest.fnv1a.digits(of: text) == digits)
    }

    @Test func aDigestHasThirtyTwoDigits() {
        #expect(KeyDigest { _ in (0, 10) }.digits(of: "") == "0000000000000000000000000000000a")
    }
}
