import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@Suite(.ownThreads)
struct EntryKeyTests {
    /// P4, P54: canonically equivalent strings are one key.
    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}"),
        ("한글", "한글".decomposedStringWithCanonicalMapping),
    ])
    func canonicallyEquivalentStringsAreOneKey(_ left: String, _ right: String) {
        #expect(EntryKey(left) == EntryKey(right))
        #expect(EntryKey(left).hashValue == EntryKey(right).hashValue)
    }

    @Test(arguments: [
        ("a", "A"), ("", "\0"), ("a", "a\0"), ("ﬁ", "fi"), ("é", "e"), ("/", "//"),
        ("12345678", "123456789"),
    ])
    func differentStringsAreDifferentKeys(_ left: String, _ right: String) {
        #expect(EntryKey(left) != EntryKey(right))
    }

    /// P54: the fast path only accepts strings in normal form.
    @Test func theFastPathAgreesWithTheNormalForm() {
        for scalar in (0..<0x3000).compactMap(Unicode.Scalar.init) {
            for text in [
                "\(Character(scalar))", "e\(Character(scalar))", "\(Character(scalar))\u{301}",
                "12345678\(Character(scalar))",
            ] {
                #expect(
                    Array(EntryKey(text).normalized.utf8)
                        == Array(text.precomposedStringWithCanonicalMapping.utf8)
                )
            }
        }
    }

    /// P1, P2: any string is accepted, whatever its length or characters.
    @Test func anyStringKeepsItsBytes() {
        for text in [
            "", "\0", "..", "a/b", "😀", String(repeating: "k", count: 65_536), "trailing dot.",
            "trailing space ",
        ] {
            #expect(EntryKey(text).withBytes { Array($0) } == Array(text.utf8))
        }
    }

    /// P3: keys with equal hashes are different keys.
    @Test func equalityDoesNotTrustTheHash() {
        let keys = (0..<5000).map { EntryKey("\($0)") }
        var dictionary: [EntryKey: Int] = [:]
        for (number, key) in keys.enumerated() { dictionary[key] = number }
        #expect(dictionary.count == 5000)
        #expect(keys.enumerated().allSatisfy { dictionary[$1] == $0 })
    }

    @Test func equalKeysHaveEqualHashesWhateverTheirStorage() {
        for count in 0..<70 {
            let text =
                String(repeating: "é", count: count % 7) + String(repeating: "k", count: count)
            var grown = String(repeating: "x", count: 100)
            grown.replaceSubrange(
                grown.startIndex...,
                with: text.decomposedStringWithCanonicalMapping
            )
            #expect(EntryKey(text) == EntryKey(grown))
            #expect(EntryKey(text)._rawHashValue(seed: 7) == EntryKey(grown)._rawHashValue(seed: 7))
        }
    }

    /// Keys that differ at one position, at any position and length, spread evenly over the buckets
    /// of a table.
    @Test func hashesOfSimilarKeysAreSpread() {
        var buckets = [Int](repeating: 0, count: 256)
        var whole: Set<Int> = []
        var count = 0
        for length in 1...40 {
            for place in 0..<length {
                for digit in 0..<10 {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    text[place] = UInt8(ascii: "0") + UInt8(digit)
                    let hash = EntryKey(String(decoding: text, as: UTF8.self))._rawHashValue(
                        seed: 1
                    )
                    buckets[hash & 255] += 1
                    whole.insert(hash)
                    count += 1
                }
            }
        }
        #expect(whole.count == count)
        #expect(buckets.allSatisfy { $0 < 3 * count / 256 })
    }

    @Test func theDescriptionDoesNotContainTheKey() {
        #expect("\(EntryKey("secret"))" == "key of 6 bytes")
        #expect(String(reflecting: EntryKey("secret")).contains("secret"))
    }

    /// The closure's own error is thrown unchanged.
    @Test func theErrorOfTheClosureIsRethrown() {
        struct Oops: Error {}
        #expect(throws: Oops.self) {
            try EntryKey("a").withBytes { _ throws(Oops) in throw Oops() }
        }
    }

    /// Foundation's normal form would make these equal.
    @Test func longRunsOfMarksAreDifferentKeysIfTheirLengthsDiffer() {
        #expect(
            EntryKey(String(repeating: "\u{344}", count: 40))
                != EntryKey(String(repeating: "\u{344}", count: 100))
        )
    }

    /// Marks of two marks are reordered as UAX 15 says. Swift's `==` (6.3) finds the strings
    /// different, so that an index does not decide.
    @Test(arguments: [
        ("a\u{F73}\u{F73}", "a\u{F71}\u{F72}\u{F71}\u{F72}"),
        ("a\u{F75}\u{F72}", "a\u{F71}\u{F72}\u{F74}"),
        ("a\u{F81}\u{F71}", "a\u{F71}\u{F71}\u{F80}"),
        ("a\u{344}\u{323}", "a\u{323}\u{308}\u{301}"),
    ])
    func marksOfTwoMarksAreReordered(one: String, other: String) {
        #expect(EntryKey(one) == EntryKey(other))
        #expect(one.indexValue == nil)
    }
}
