import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// Strings without case and without diacritics are those of Unicode 15.0, whatever tables the
/// system has (decision 77).
@Suite(.ownThreads)
struct CaseFoldingTests {
    /// The digests, and how they were made: `Tests/Fixtures/Unicode/make.py`.
    private static func digests(_ name: String) throws -> [[String]] {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent(
            "../../Fixtures/Unicode"
        ).standardizedFileURL
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(
            separator: "\n"
        ).map { line in
            line.split(separator: " ").map { String($0) }
        }
    }

    private static func both(_ text: String) -> [String] {
        [true, false].map { CaseFolding.folded(text, keepsDiacritics: $0) }
    }

    /// FNV-1a.
    private static func digest(_ text: String) -> String {
        var (state, text): (UInt64, String) = (0xCBF2_9CE4_8422_2325, text)
        text.withUTF8 { bytes in
            for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The two digests of some strings. No character is composed with U+0000, or reordered around
    /// it.
    private static func digests(of texts: [String]) -> [String] {
        let foldings = texts.map(both)
        return [0, 1].map { index in digest(foldings.map { $0[index] + "\0" }.joined()) }
    }

    /// Whether a folding is its own folding, and all of these have the same one, byte by byte.
    private static func isStable(_ text: String, _ equivalents: [String] = []) -> Bool {
        let folded = both(text).map { Array($0.utf8) }
        let again = both(text).enumerated().map { index, folded in Array(both(folded)[index].utf8) }
        return again == folded
            && equivalents.allSatisfy { both($0).map { Array($0.utf8) } == folded }
    }

    /// The blocks, of 4096 characters, of which some are folded, are marks, or are composed: the
    /// tables of Unicode 15.0 (of the syllables of Korean the first and the last).
    private static let special: Set = [
        0, 1, 2, 3, 0xA, 0xD, 0xF, 0x10, 0x11, 0x16, 0x1B, 0x1D, 0x1E, 0x2F,
    ]

    /// Those, and each sixteenth of the others; in `make long` all.
    private static func isTried(_ block: Int) -> Bool {
        special.contains(block)
            || block % LongRun.number(1, usually: 16) == LongRun.number(0, usually: 5)
    }

    @Test func everyCharacterIsFoldedAsUnicodesTablesSay() throws {
        let expected = try Self.digests("FoldedCharacters.txt")
        #expect(expected.count == 272)
        for (block, digests) in expected.enumerated() where Self.isTried(block) {
            let start = UInt32(block) << 12
            var texts = (start..<start + 4096).compactMap { Unicode.Scalar($0).map { String($0) } }
            // No character of the planes from 4 on is folded, so that all of a block are one call.
            if start >= 0x4_0000 { texts = [texts.joined(separator: "\0")] }
            #expect(
                Self.digests(of: texts) == digests,
                "the block at U+\(String(start, radix: 16))"
            )
        }
    }

    @Test func everyCharacterIsItsOwnFoldingOnceItIsFolded() {
        for block in 0..<64 where Self.isTried(block) {
            let start = UInt32(block) << 12
            let text = (start..<start + 4096).lazy.compactMap(Unicode.Scalar.init).map {
                String($0)
            }.joined(separator: "\0")
            #expect(Self.isStable(text), "the block at U+\(String(start, radix: 16))")
        }
    }

    /// 25,000 random strings, in normal form C as well.
    @Test func randomStringsAreFoldedAsUnicodesTablesSayHoweverTheyAreComposed() throws {
        var generator = UnicodeStrings()
        for digests in try Self.digests("FoldedStrings.txt").prefix(LongRun.number(25, usually: 5))
        {
            let texts = (0..<1000).map { _ in generator.next() }
            #expect(Self.digests(of: texts) == digests)
            let text = texts.joined(separator: "\0")
            #expect(Self.isStable(text, [EntryKey(text).normalized]))
        }
    }

    /// Most strings are folded character by character. A vowel of Korean, which may be composed
    /// with what is before it, prevents that.
    @Test func stringsAreFoldedAlikeWhateverFollowsThem() {
        var generator = SeededGenerator(seed: 77)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xC0...0x17F, 0x370...0x3FF, 0x400...0x52F, 0x1E00...0x1FFF,
            0xAC00...0xAD00, 0x300...0x30F,
        ]
        for turn in 0..<LongRun.number(4000, usually: 1000) {
            let letters = ranges.dropLast(turn % 2)
            let scalars = (0..<12).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(
                        in: letters[Int.random(in: letters.indices, using: &generator)],
                        using: &generator
                    )
                )
            }
            let text = String(String.UnicodeScalarView(scalars))
            if Self.both(text + "\0\u{1161}") != Self.both(text).map({ $0 + "\0\u{1161}" }) {
                Issue.record("\(scalars)")
            }
        }
    }

    /// Strings that Swift's `==` finds equal have one folding, also if two of their characters were
    /// exchanged.
    @Test func equalStringsHaveOneFolding() {
        var generator = UnicodeStrings()
        var equals = 0
        for _ in 0..<LongRun.number(4000, usually: 1000) {
            let text = generator.next()
            let other = generator.rearranged(text)
            guard text == other else { continue }
            equals += 1
            if !Self.isStable(text, [other]) { Issue.record("\(Array(text.unicodeScalars))") }
        }
        #expect(equals > LongRun.number(2000, usually: 400))
    }

    struct Example: Sendable, CustomTestStringConvertible {
        var rule, text, ignoringCase, ignoringBoth: String
        var testDescription: String { rule }

        init(_ rule: String, _ text: String, _ ignoringCase: String, _ ignoringBoth: String? = nil)
        {
            (self.rule, self.text, self.ignoringCase, self.ignoringBoth) = (
                rule, text, ignoringCase, ignoringBoth ?? ignoringCase
            )
        }
    }

    @Test(arguments: [
        Example("ASCII", "Hello, WORLD 42 [`{@", "hello, world 42 [`{@"),
        Example("the empty string", "", ""),
        Example("an umlaut", "Zürich", "zürich", "zurich"),
        Example("a decomposed umlaut", "Zu\u{308}rich", "zürich", "zurich"),
        Example("a sharp s is two letters", "STRAßE", "strasse"),
        Example("a capital sharp s is two letters", "STRA\u{1E9E}E", "strasse"),
        Example(
            "a Turkish capital keeps its dot as a diacritic",
            "İstanbul",
            "i\u{307}stanbul",
            "istanbul"
        ),
        Example("a dotless i is a letter of its own", "Diyarbakır", "diyarbakır"),
        Example("a ring", "Ångström", "ångström", "angstrom"),
        Example("the sign for ångström is the letter", "\u{212B}", "å", "a"),
        Example(
            "a final sigma is a sigma",
            "ΟΔΥΣΣΕΥΣ Οδυσσεύς",
            "οδυσσευσ οδυσσεύσ",
            "οδυσσευσ οδυσσευσ"
        ),
        Example("an iota below is a letter, or nothing", "ᾼ", "αι", "α"),
        Example("a ligature is its letters", "ﬁn", "fin"),
        Example(
            "Vietnamese has two marks on one letter",
            "Việt Nam, Đà Nẵng",
            "việt nam, đà nẵng",
            "viet nam, đa nang"
        ),
        Example(
            "a stroke is no diacritic",
            "Łódź, Ørsted, Æther",
            "łódź, ørsted, æther",
            "łodz, ørsted, æther"
        ),
        Example("an overlay is no diacritic", "a ≠ B", "a ≠ b"),
        Example("Cyrillic", "ЙОГУРТ Ёлка Київ", "йогурт ёлка київ", "иогурт елка киів"),
        Example("Hangul", "한국어 서울", "한국어 서울"),
        Example("jamo are composed", "\u{1112}\u{1161}\u{11AB}", "한"),
        Example("Devanagari vowels and the virama stay", "हिन्दी कु", "हिन्दी कु"),
        Example("Devanagari nukta stays", "क\u{93C}", "क\u{93C}"),
        Example("Tamil", "தமிழ்", "தமிழ்"),
        Example("Thai vowels and tones stay", "เชียงใหม่ ที่นี่ กรุง", "เชียงใหม่ ที่นี่ กรุง"),
        Example("kana keep their voice", "がぱ ガ", "がぱ ガ"),
        Example("Hebrew loses its points", "שָׁלוֹם", "שָׁלוֹם", "שלום"),
        Example("Arabic loses its vowels and hamzas", "مُحَمَّد أحمد", "مُحَمَّد أحمد", "محمد احمد"),
        Example("emoji stay", "👩‍👩‍👧 ❤️ 1️⃣ 🇨🇭 👍🏽", "👩‍👩‍👧 ❤️ 1️⃣ 🇨🇭 👍🏽"),
        Example("wide letters stay wide", "ＡＢ", "ａｂ"),
        Example("Cherokee is folded to capitals", "\u{AB70}\u{13F8}", "\u{13A0}\u{13F0}"),
        Example("Georgian capitals", "\u{1C90}", "\u{10D0}"),
        Example("Deseret, beyond the first plane", "\u{10400}", "\u{10428}"),
        Example("a character that Unicode 15.0 does not assign", "\u{A7CB}", "\u{A7CB}"),
        Example("a mark alone", "\u{301}", "\u{301}", ""),
        Example("line ends", "A\r\nB", "a\r\nb"),
    ])
    func theRuleHolds(_ example: Example) {
        let folded = Self.both(example.text).map { Array($0.unicodeScalars) }
        #expect(folded[0] == Array(EntryKey(example.ignoringCase).normalized.unicodeScalars))
        #expect(folded[1] == Array(EntryKey(example.ignoringBoth).normalized.unicodeScalars))
    }

    /// A hostile run of marks takes no time that grows with its square.
    @Test func aLongRunOfMarksIsLeftOut() {
        let marks = (0..<250_000).map { $0 % 2 == 0 ? "\u{301}" as Unicode.Scalar : "\u{323}" }
        #expect(
            CaseFolding.folded(
                String(String.UnicodeScalarView(["A"] + marks)),
                keepsDiacritics: false
            ) == "a"
        )
    }
}
