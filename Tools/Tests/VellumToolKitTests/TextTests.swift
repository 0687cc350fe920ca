import Foundation
import Testing

@testable import VellumToolKit

/// What a stranger's file may contain, and what a terminal, a page and a document of JSON get of
/// it.
struct Hostile: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    var terminal: String
    var html: String
    var json: String

    var testDescription: String { name }

    init(_ name: String, _ text: String, terminal: String, html: String? = nil, json: String) {
        (self.name, self.text, self.terminal, self.html, self.json) = (
            name, text, terminal, html ?? terminal, json
        )
    }

    static let all: [Hostile] = [
        Hostile("plain", "LSZH", terminal: "LSZH", json: "LSZH"),
        Hostile("accents", "Zürich", terminal: "Zürich", json: "Zürich"),
        Hostile("escape", "\u{1B}[31mred", terminal: "\\u{1B}[31mred", json: "\\u001b[31mred"),
        Hostile(
            "title of a window",
            "\u{1B}]0;x\u{07}",
            terminal: "\\u{1B}]0;x\\u{7}",
            json: "\\u001b]0;x\\u0007"
        ),
        Hostile("CSI of one byte", "\u{9B}2J", terminal: "\\u{9B}2J", json: "\\u009b2J"),
        Hostile("NUL and DEL", "\0\u{7F}", terminal: "\\u{0}\\u{7F}", json: "\\u0000\\u007f"),
        Hostile("new line", "a\nb\r\tc", terminal: "a\\u{A}b\\u{D}\\u{9}c", json: "a\\nb\\r\\tc"),
        Hostile(
            "override",
            "\u{202E}gpj.exe",
            terminal: "\\u{202E}gpj.exe",
            json: "\\u202egpj.exe"
        ),
        Hostile(
            "isolates",
            "\u{2066}a\u{2069}",
            terminal: "\\u{2066}a\\u{2069}",
            json: "\\u2066a\\u2069"
        ),
        Hostile(
            "directions",
            "\u{200E}\u{200F}\u{61C}",
            terminal: "\\u{200E}\\u{200F}\\u{61C}",
            json: "\\u200e\\u200f\\u061c"
        ),
        Hostile(
            "separators",
            "\u{2028}\u{2029}\u{85}",
            terminal: "\\u{2028}\\u{2029}\\u{85}",
            json: "\\u2028\\u2029\\u0085"
        ),
        Hostile(
            "nothing to see",
            "a\u{200B}\u{FEFF}\u{AD}b",
            terminal: "a\\u{200B}\\u{FEFF}\\u{AD}b",
            json: "a\\u200b\\ufeff\\u00adb"
        ),
        Hostile(
            "fillers",
            "\u{3164}\u{115F}",
            terminal: "\\u{3164}\\u{115F}",
            json: "\\u3164\\u115f"
        ),
        Hostile(
            "private and unassigned",
            "\u{E000}\u{378}",
            terminal: "\\u{E000}\\u{378}",
            json: "\\ue000\\u0378"
        ),
        Hostile("tags", "a\u{E0041}", terminal: "a\\u{E0041}", json: "a\\udb40\\udc41"),
        Hostile("mark without a letter", "\u{301}a", terminal: "\\u{301}a", json: "\\u0301a"),
        Hostile(
            "joiner in a word",
            "pay\u{200D}pal",
            terminal: "pay\\u{200D}pal",
            json: "pay\\u200dpal"
        ),
        Hostile("emoji", "👩‍🚀 ❤️", terminal: "👩‍🚀 ❤️", json: "👩‍🚀 ❤️"),
        Hostile("its own escape", "\\u{1B}", terminal: "\\u{5C}u{1B}", json: "\\\\u{1B}"),
        Hostile("a path", "a\\b", terminal: "a\\b", json: "a\\\\b"),
        Hostile(
            "markup",
            "<script>alert(1)</script>",
            terminal: "<script>alert(1)</script>",
            html: "&lt;script&gt;alert(1)&lt;/script&gt;",
            json: "<script>alert(1)</script>"
        ),
        Hostile(
            "attribute",
            "\" onload='x' `&amp;",
            terminal: "\" onload='x' `&amp;",
            html: "&quot; onload=&#39;x&#39; &#96;&amp;amp;",
            json: "\\\" onload='x' `&amp;"
        ),
    ]
}

@Suite(.timeLimit(.minutes(10)))
struct EscapeTests {
    @Test(arguments: Hostile.all)
    func aTerminalGetsNothingToActOn(_ hostile: Hostile) {
        #expect(TerminalText.escaped(hostile.text) == hostile.terminal)
        #expect(TerminalText.shown(hostile.text, width: 100) == hostile.terminal)
    }

    @Test(arguments: Hostile.all)
    func whatIsPrintedCanBeReadBack(_ hostile: Hostile) {
        let back = TerminalText.unescaped(TerminalText.escaped(hostile.text))
        #expect(Array(back.unicodeScalars) == Array(hostile.text.unicodeScalars))
    }

    @Test(arguments: Hostile.all)
    func aPageGetsNoMarkup(_ hostile: Hostile) {
        #expect(HTMLText.escaped(hostile.text) == hostile.html)
        #expect(HTMLText.shown(hostile.text, width: 100) == hostile.html)
    }

    @Test(arguments: Hostile.all)
    func aDocumentOfJSONKeepsTheText(_ hostile: Hostile) throws {
        let json = JSON.text(hostile.text).line
        #expect(json == "\"\(hostile.json)\"")
        let read =
            try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
            as? String
        #expect(read.map { Array($0.unicodeScalars) } == Array(hostile.text.unicodeScalars))
    }

    @Test func everyScalarIsSafeOnATerminal() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = TerminalText.escaped("x" + String(scalar))
            let isControl = scalar.properties.generalCategory == .control
            if isControl || 0x202A...0x202E ~= value || 0x2066...0x2069 ~= value
                || 0x200E...0x200F ~= value || 0x2028...0x2029 ~= value
            {
                #expect(!shown.unicodeScalars.contains(scalar), "\(value)")
            }
        }
    }

    @Test func manyMarksDoNotCoverOtherLines() {
        let shown = TerminalText.escaped("a" + String(repeating: "\u{301}", count: 100))
        #expect(shown.unicodeScalars.filter { $0.value == 0x301 }.count == SafeScalars.marks)
    }

    @Test func aLongNameIsShortened() {
        let shown = TerminalText.shown(String(repeating: "\u{1B}", count: 1_000_000), width: 30)
        #expect(DisplayWidth.of(shown) <= 30)
        #expect(shown.contains("…"))
        #expect(
            HTMLText.shown(String(repeating: "<", count: 1_000_000), width: 30).utf8.count < 300
        )
    }

    @Test func aDocumentIsMadeSafeAsAWhole() {
        #expect(
            JSONText.safe("{\n  \"a\": \"\u{9B}\u{202E}é\"\n}")
                == "{\n  \"a\": \"\\u009b\\u202eé\"\n}"
        )
    }
}

@Suite(.timeLimit(.minutes(10)))
struct WidthTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("👩‍🚀", 2), ("🇨🇭", 2), ("❤️", 2),
        ("ＡＢ", 4), ("ﾊﾝ", 2), ("a…b", 3), ("עברית", 5),
    ])
    func columnsAreThoseOfATerminal(_ text: String, _ width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test(arguments: [
        ("abcdefghij", 10, "abcdefghij"), ("abcdefghij", 7, "abc…hij"), ("abcdefghij", 6, "abc…ij"),
        ("abcdefghij", 1, "…"),
        ("abcdefghij", 0, ""), ("日本語日本語", 7, "日…本語"), ("日本", 2, "…"),
    ])
    func aLongTextIsShortenedInTheMiddle(_ text: String, _ width: Int, _ short: String) {
        let result = DisplayWidth.shortened(text, to: width)
        #expect(DisplayWidth.of(result) <= width)
        if !text.hasPrefix("日") { #expect(result == short) }
    }

    @Test func padsByColumns() {
        #expect(DisplayWidth.padded("日本", to: 6) == "日本  ")
        #expect(DisplayWidth.padded("7", to: 3, isRight: true) == "  7")
        #expect(DisplayWidth.padded("1234", to: 3) == "1234")
    }
}

@Suite(.timeLimit(.minutes(10)))
struct NumberTests {
    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 kB"),
        (1_258_291, "1.2 MB"), (1_048_575, "1.0 MB"),
        (Int.max, "unlimited"),
        (Int.max - 1, "8.0 EB"), (-2048, "-2.0 kB"), (Int.min, "-8.0 EB"),
    ])
    func sizes(_ bytes: Int, _ text: String) { #expect(Numbers.size(bytes) == text) }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (28_298, "28,298"), (-1_234_567, "-1,234,567"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func counts(_ number: Int, _ text: String) { #expect(Numbers.count(number) == text) }

    @Test(arguments: [
        (0, 100, 0), (50, 100, 50), (999, 1000, 99), (1000, 1000, 100), (5, 0, 0), (-5, 10, 0),
        (Int.max, 1, 999),
    ])
    func percents(_ part: Int, _ whole: Int, _ percent: Int) {
        #expect(Numbers.percent(part, of: whole) == percent)
    }

    @Test(arguments: [
        (0.0, "0.0 s"), (0.44, "0.4 s"), (59.6, "60 s"), (600, "10 min"), (90_000, "25 h"),
        (1e9, "11574 days"),
        (Double.infinity, "for ever"), (.nan, "for ever"),
    ])
    func seconds(_ seconds: Double, _ text: String) { #expect(Numbers.seconds(seconds) == text) }
}

@Suite(.timeLimit(.minutes(10)))
struct DateTests {
    static let utc = TimeZone(secondsFromGMT: 0) ?? .current
    static let later = TimeZone(secondsFromGMT: 2 * 3600) ?? .current

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (1_772_373_909.25, "2026-03-01T14:05:09.250Z"),
        (-1.0, "1969-12-31T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"), (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
        (253_402_214_399, "9999-12-30T23:59:59.000Z"),
    ])
    func programsGetUTC(_ seconds: Double, _ text: String) {
        #expect(Dates.utc(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func peopleGetTheirOwnClock() {
        let date = Date(timeIntervalSince1970: 1_772_373_909)
        #expect(Dates.local(date, zone: Self.utc) == "2026-03-01 14:05")
        #expect(Dates.local(date, zone: Self.later) == "2026-03-01 16:05")
        #expect(Dates.day(date, zone: Self.utc) == "2026-03-01")
        #expect(Dates.clock(date, zone: Self.later) == "16:05:09")
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e15])
    func aDateOfADamagedFileHasNoText(_ seconds: Double) {
        #expect(Dates.utc(Date(timeIntervalSince1970: seconds)) == nil)
        #expect(Dates.local(Date(timeIntervalSince1970: seconds), zone: Self.utc) == nil)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct RedactionTests {
    @Test func equalKeysHaveEqualNamesInOneRunOnly() {
        let redaction = Redaction()
        #expect(redaction.name("ann") == redaction.name("ann"))
        #expect(redaction.name("ann") != redaction.name("bob"))
        #expect(redaction.name("ann") != Redaction().name("ann"))
        #expect(redaction.name("ann").count == 13)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SyntaxMarkTests {
    @Test func theMarkStandsUnderThePlace() {
        #expect(
            SyntaxMark.lines("country = 1", offset: 8, width: 80) == [
                "  country = 1", "          ^",
            ]
        )
        #expect(SyntaxMark.lines("日 = 1", offset: 2, width: 80) == ["  日 = 1", "     ^"])
        #expect(SyntaxMark.lines("a", offset: 99, width: 80) == ["  a", "   ^"])
        #expect(SyntaxMark.lines("a", offset: -1, width: 80) == ["  a", "  ^"])
    }

    @Test func aLongQueryIsCutAroundThePlace() {
        let text = String(repeating: "a", count: 200) + "!" + String(repeating: "b", count: 200)
        let lines = SyntaxMark.lines(text, offset: 200, width: 40)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 40 })
        let place = lines[1].count - 1
        #expect(Array(lines[0])[place] == "!")
    }
}
