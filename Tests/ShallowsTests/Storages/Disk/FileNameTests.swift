import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.ownThreads)
struct FileNameTests {
    @Test(arguments: [
        "a", "Photo.JPG", "Zm9vYg==", "a-b_c", ".hidden", "a b", "é", "👍", "~a", "~", "100%", "a:b",
        String(repeating: "k", count: 255),
    ])
    func aSafeTextIsTheName(text: String) {
        #expect(FileName(of: text, .sensitive).name == text)
    }

    /// S1, P2.
    @Test(arguments: [
        ("", "~sh-p-"), (".", "~sh-p-%2e"), ("..", "~sh-p-.%2e"), ("a.", "~sh-p-a%2e"),
        ("a ", "~sh-p-a%20"), ("a/b", "~sh-p-a%2fb"),
        ("../x", "~sh-p-..%2fx"), ("a\0b", "~sh-p-a%00b"), ("/%", "~sh-p-%2f%25"),
        ("~sh-p-a", "~sh-p-~sh-p-a"), ("~SH-t", "~sh-p-~SH-t"),
        ("/\n\u{7F}é", "~sh-p-%2f%0a%7fé"),
    ])
    func anUnsafeTextIsEscaped(text: String, name: String) {
        #expect(FileName(of: text, .sensitive).name == name)
    }

    @Test(arguments: [
        ("abc", "abc"), ("settings.json", "settings.json"), ("Abc", "~sh-p-%41bc"),
        ("Photo.JPG", "~sh-p-%50hoto.%4a%50%47"),
        ("é", "~sh-p-%c3%a9"), ("aB/", "~sh-p-a%42%2f"),
    ])
    func withoutCaseCapitalsAreEscaped(text: String, name: String) {
        #expect(FileName(of: text, .insensitive).name == name)
    }

    /// P1.
    @Test(arguments: [
        (
            String(repeating: "k", count: 256), CaseSensitivity.sensitive,
            "~sh-p-" + String(repeating: "k", count: 183)
        ),
        (
            String(repeating: "/", count: 100), .sensitive,
            "~sh-p-" + String(repeating: "%2f", count: 61)
        ),
        (
            String(repeating: "K", count: 210), .insensitive,
            "~sh-p-" + String(repeating: "%4b", count: 61)
        ),
        (
            String(repeating: "👍", count: 70), .sensitive,
            "~sh-p-" + String(repeating: "👍", count: 45)
        ),
    ])
    func aTextThatIsTooLongIsShortened(text: String, rule: CaseSensitivity, beginning: String) {
        let file = FileName(of: text, rule)
        #expect(file.isShortened && file.name == beginning + "%-" + SHA256.digits(of: text))
        #expect(FileName.isShortened(file.name) && FileName.text(from: file.name) == nil)
    }

    @Test(arguments: CaseSensitivity.allCases)
    func everyNameIsOneThatFileSystemsTake(rule: CaseSensitivity) {
        for text in texts(seed: 1) {
            let name = FileName(of: text, rule).name
            #expect((1...255).contains(name.utf8.count))
            #expect(!name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0))
            #expect(name.utf8.last != UInt8(ascii: ".") && name.utf8.last != UInt8(ascii: " "))
        }
    }

    @Test(arguments: CaseSensitivity.allCases)
    func theTextCanBeReadFromTheName(rule: CaseSensitivity) {
        for text in texts(seed: 2) {
            for file in [FileName(of: text, rule), FileName(escaping: text, rule)]
            where !file.isPlain && !file.isShortened {
                #expect(FileName.text(from: file.name)?.hasSameBytes(as: text) == true)
                #expect(!FileName.isShortened(file.name))
            }
        }
    }

    @Test(arguments: CaseSensitivity.allCases)
    func differentTextsHaveDifferentNames(rule: CaseSensitivity) {
        var texts: [String: String] = [:]
        for text in self.texts(seed: 3) {
            let name = FileName(of: text, rule).name
            // By bytes: what differs in Unicode's normal form alone may differ here, and is one key
            // before it comes here.
            let seen = rule == .insensitive ? name.lowercased() : name
            #expect(texts[seen] == nil || texts[seen] == text)
            texts[seen] = text
        }
    }

    @Test(arguments: [
        "~sh-p-%", "~sh-p-%2", "~sh-p-%zz", "~sh-p-%+f", "~sh-p-%ff", "~sh-p-%-", "~sh-t-0-1",
        "~sh-x",
    ])
    func aMalformedNameDecodesToNil(name: String) {
        #expect(FileName.text(from: name) == nil)
    }

    /// The vectors of FIPS 180-4, and texts of every length around a block's.
    @Test func theDigestIsThatOfTheStandard() {
        #expect(
            SHA256.digits(of: "")
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            SHA256.digits(of: "abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        let vector = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        #expect(
            SHA256.digits(of: vector)
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
        let digests = (0..<200).map { SHA256.digits(of: String(repeating: "k", count: $0)) }
        #expect(
            Set(digests).count == 200 && digests.allSatisfy { $0.utf8.count == SHA256.digitCount }
        )
    }

    /// Texts in which what is special is frequent.
    private func texts(seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "a", "A", "b", "B", "-", ".", "/", "%", "2", "f", "F", " ", "~sh-", "~SH-", "p-", "%-",
            "é", "É", "\u{301}", "\0", "\n", "👍",
            "ß", "İ", "ﬁ",
        ]
        return Filename.tricky.map(\.rawValue)
            + (0..<LongRun.number(20_000, usually: 4_000)).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    generator.element(of: pieces)
                }.joined()
            }
    }
}
