import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// Normal forms are those of Unicode 15.0, whatever tables the system has (findings FK1).
@Suite(.ownThreads)
struct NormalFormTests {
    /// The data, and how it was made: `Tests/Fixtures/Unicode/make.py`.
    private static func lines(_ name: String) throws -> [Substring] {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent(
            "../../Fixtures/Unicode"
        ).standardizedFileURL
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(
            separator: "\n"
        )
    }

    private static func normal(_ text: String) -> [Unicode.Scalar] {
        Array(EntryKey(text).normalized.unicodeScalars)
    }

    /// Unicode's NormalizationTest: c2 = NFC(c1) = NFC(c2) = NFC(c3), and c4 = NFC(c4) = NFC(c5).
    @Test func everyLineOfUnicodesTestHolds() throws {
        let lines = try Self.lines("NormalizationTest.txt")
        #expect(lines.count > 18_000)
        for line in LongRun.cases(lines, usually: 5000) {
            let columns = line.split(separator: ";").map { column in
                String(
                    String.UnicodeScalarView(
                        column.split(separator: " ").compactMap {
                            UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
                        }
                    )
                )
            }
            let wrong = columns.indices.filter {
                Self.normal(columns[$0]) != Array(columns[$0 < 3 ? 1 : 3].unicodeScalars)
            }
            #expect(wrong.isEmpty, "\(line)")
        }
    }

    /// Every character that the test's file does not name in its first part is its own normal form,
    /// also one that Unicode 15.0 does not assign.
    ///
    /// In every run: those that are beside one that is named, in blocks of 256, and each
    /// thirty-first of the others.
    @Test func allOtherCharactersStayAsTheyAre() throws {
        // What is more than one character is no number.
        let named = Set(
            try Self.lines("NormalizationTest.txt").compactMap { line in
                UInt32(line.prefix { $0 != ";" }, radix: 16)
            }
        )
        #expect(named.count > 15_000)
        let blocks = Set(named.map { $0 >> 8 })
        let part = UInt32(LongRun.number(1, usually: 31))
        for block in UInt32(0)..<0x1100 {
            let (start, step) = (block << 8, blocks.contains(block) ? 1 : part)
            for value in stride(from: start + block % step, to: start + 256, by: Int(step))
            where !named.contains(value) {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let normal = Self.normal(String(scalar))
                if normal != [scalar] {
                    Issue.record("U+\(String(value, radix: 16)) becomes \(normal)")
                }
            }
        }
    }

    /// 100,000 random strings of assigned characters: the normal form is that of Python's tables of
    /// the same version, and two of these are one key exactly when Swift's `==` says so.
    @Test func randomStringsAgreeWithPythonAndSwift() throws {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        var generator = UnicodeStrings()
        var before = ""
        for expected in try Self.lines("RandomStrings.txt").prefix(LongRun.number(100, usually: 12))
        {
            for _ in 0..<1000 {
                let text = generator.next()
                let key = EntryKey(text)
                for byte in key.withBytes({ Array($0) }) + [0] {
                    digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3
                }
                let variant = generator.rearranged(text)
                if (text == variant) != (key == EntryKey(variant))
                    || (text == before) != (key == EntryKey(before))
                {
                    Issue.record("\(Array(text.unicodeScalars)), \(Array(variant.unicodeScalars))")
                }
                before = text
            }
            #expect(String(digest, radix: 16) == String(expected.drop { $0 == "0" }))
        }
    }

    /// Each syllable of Korean and its parts are one key, however they are composed.
    @Test func everyKoreanSyllableIsOneKeyHoweverItIsWritten() {
        for syllable in UInt32(0xAC00)..<0xD7A4 {
            let (lead, rest) = (syllable - 0xAC00).quotientAndRemainder(dividingBy: 21 * 28)
            let (vowel, final) = rest.quotientAndRemainder(dividingBy: 28)
            let last = final == 0 ? [] : [0x11A7 + final]
            let spellings = [
                [syllable], [0x1100 + lead, 0x1161 + vowel] + last, [syllable - final] + last,
            ].map {
                String(String.UnicodeScalarView($0.compactMap(Unicode.Scalar.init)))
            }
            if Set(spellings.map { EntryKey($0) }).count != 1 {
                Issue.record("U+\(String(syllable, radix: 16))")
            }
        }
    }

    /// Where neighbours are no syllable: two final consonants, a final before a vowel, old jamo, a
    /// mark between.
    @Test(arguments: [
        "\u{AC01}\u{11A8}", "\u{AC00}\u{11A7}", "\u{AC00}\u{11C3}", "\u{1100}\u{11A8}",
        "\u{1113}\u{1161}", "\u{1100}\u{1176}",
        "\u{AC00}\u{301}\u{11A8}", "\u{1100}\u{300}\u{1161}", "\u{11A8}", "\u{1161}\u{11A8}",
        "\u{A960}\u{1161}", "\u{AC00}\u{D7CB}",
    ])
    func otherJamoStayAsTheyAre(_ text: String) {
        #expect(Self.normal(text) == Array(text.unicodeScalars))
    }

    /// A hostile run of marks is sorted, in time that does not grow with its square: a megabyte of
    /// them is one call.
    @Test func aLongRunOfMarksIsSorted() {
        let count = LongRun.number(250_000, usually: 60_000)
        let marks = (0..<count).map { $0 % 2 == 0 ? "\u{301}" as Unicode.Scalar : "\u{323}" }
        let normal = Self.normal(String(String.UnicodeScalarView(["a"] + marks)))
        let below = [Unicode.Scalar](repeating: "\u{323}", count: marks.count / 2 - 1)
        #expect(normal == ["\u{1EA1}"] + below + marks.filter { $0 == "\u{301}" })
    }
}
