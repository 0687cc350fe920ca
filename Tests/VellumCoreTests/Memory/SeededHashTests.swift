import Foundation
import TestThreads
import Testing
import VellumCore

/// The hash that files contain. It must never change: `Format.md` spells it out.
@Suite(.ownThreads)
struct SeededHashTests {
    @Test(arguments: [
        ("", -393877354), ("a", -459279038), ("swift", -1196992777),
        ("a key of more than sixteen bytes", 1039705854),
    ])
    func theHashIsAsTheFormatSays(_ key: String, _ expected: Int32) {
        #expect(Int32(truncatingIfNeeded: SeededHash(seed: 1).of(EntryKey(key))) == expected)
    }

    /// Keys that collide under one seed do not under another.
    @Test func keysThatCollideInOneArchiveDoNotInAnother() throws {
        let (chosen, other) = (SeededHash(seed: 7), SeededHash(seed: 8))
        var keys: [UInt32: [String]] = [:]
        // Half of the bits, so that some collide.
        for number in 0..<20_000 {
            keys[UInt32(truncatingIfNeeded: chosen.of(EntryKey("\(number)")) & 0xFF), default: []]
                .append("\(number)")
        }
        let colliding = try #require(keys[0])
        #expect(colliding.count > 40)
        let values = Set(
            colliding.map { UInt32(truncatingIfNeeded: other.of(EntryKey($0))) & 0xFF }
        )
        #expect(values.count > colliding.count / 3)
    }
}
