import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.timeLimit(.minutes(1)))
struct SafeNameTests {
    private static let long = String(repeating: "k", count: 256)

    @Test(arguments: [
        "a", "Photo.JPG", "Zm9vYg==", "a-b_c", ".hidden", "a b", "é", "👍", "~a", "~", "100%", "a:b", String(repeating: "k", count: 255),
    ])
    func aSafeTextIsTheName(text: String) {
        #expect(SafeName.location(of: text, .sensitive) == .named(text))
    }

    /// S1, P2.
    @Test(arguments: [
        ("", "~sh-p-"), (".", "~sh-p-%2e"), ("..", "~sh-p-.%2e"), ("a.", "~sh-p-a%2e"), ("a ", "~sh-p-a%20"), ("a/b", "~sh-p-a%2fb"),
        ("../x", "~sh-p-..%2fx"), ("a\0b", "~sh-p-a%00b"), ("/%", "~sh-p-%2f%25"), ("~sh-p-a", "~sh-p-~sh-p-a"), ("~SH-t", "~sh-p-~SH-t"),
        ("/\n\u{7F}é", "~sh-p-%2f%0a%7fé"),
    ])
    func anUnsafeTextIsEscaped(text: String, name: String) {
        #expect(SafeName.location(of: text, .sensitive) == .named(name))
    }

    @Test(arguments: [
        ("abc", "abc"), ("Abc", "~sh-c-8-Abc"), ("abC", "~sh-c-2-abC"), ("Photo.JPG", "~sh-c-87-Photo.JPG"), ("aaaaB", "~sh-c-08-aaaaB"),
        ("1-2_A=", "~sh-c-8-1-2_A="), ("é", "~sh-p-%c3%a9"), ("aB/", "~sh-p-a%42%2f"),
    ])
    func withoutCaseANameSaysWhichLettersAreCapital(text: String, name: String) {
        #expect(SafeName.location(of: text, .insensitive) == .named(name))
    }

    /// P1.
    @Test func aTextThatIsLongerThanANameIsHashed() {
        #expect(SafeName.location(of: Self.long, .sensitive) == .hashed(Self.long))
        let grown = String(repeating: "/", count: 100)
        #expect(SafeName.location(of: grown, .sensitive) == .hashed(grown))
        let capitals = String(repeating: "K", count: 210)
        #expect(SafeName.location(of: capitals, .insensitive) == .hashed(capitals))
    }

    @Test(arguments: CaseSensitivity.allCases)
    func everyNameIsOneThatFileSystemsTake(rule: CaseSensitivity) {
        for text in texts(seed: 1) {
            guard case .named(let name) = SafeName.location(of: text, rule) else { continue }
            #expect((1...255).contains(name.utf8.count))
            #expect(!name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0))
            #expect(name.utf8.last != UInt8(ascii: ".") && name.utf8.last != UInt8(ascii: " "))
        }
    }

    @Test(arguments: CaseSensitivity.allCases)
    func theTextCanBeReadFromTheName(rule: CaseSensitivity) {
        for text in texts(seed: 2) {
            for location in [SafeName.location(of: text, rule), SafeName.escapedLocation(of: text, rule)] {
                guard case .named(let name) = location else { continue }
                #expect(SafeName.text(from: name)?.hasSameBytes(as: text) == true)
            }
        }
    }

    @Test(arguments: CaseSensitivity.allCases)
    func differentTextsHaveDifferentNames(rule: CaseSensitivity) {
        var texts: [String: String] = [:]
        for text in self.texts(seed: 3) {
            guard case .named(let name) = SafeName.location(of: text, rule) else { continue }
            // By bytes: what differs in Unicode's normal form alone may differ here, and is one key before it comes here.
            let seen = rule == .insensitive ? name.lowercased() : name
            #expect(texts[seen] == nil || texts[seen] == text)
            texts[seen] = text
        }
    }

    @Test(arguments: ["~sh-p-%", "~sh-p-%2", "~sh-p-%zz", "~sh-p-%+f", "~sh-p-%ff", "~sh-c-8", "~sh-t-0-1-1-1", "~sh-h-0-0", "~sh-x"])
    func aMalformedNameDecodesToNil(name: String) {
        #expect(SafeName.text(from: name) == nil)
    }

    /// Texts in which what is special is frequent.
    private func texts(seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "a", "A", "b", "B", "-", ".", "/", "%", "2", "f", "F", " ", "~sh-", "~SH-", "p-", "c-", "é", "É", "\u{301}", "\0", "\n", "👍",
            "ß", "İ", "ﬁ",
        ]
        return Filename.tricky.map(\.rawValue)
            + (0..<20_000).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in generator.element(of: pieces) }.joined()
            }
    }
}
