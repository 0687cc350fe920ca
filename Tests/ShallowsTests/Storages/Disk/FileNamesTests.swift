import TestThreads
import Testing

@testable import Shallows

@Suite(.ownThreads)
struct FileNamesTests {
    private func names(
        _ encoder: Filename.Encoder,
        _ rule: CaseSensitivity = .sensitive
    ) -> FileNames {
        FileNames(encoder: encoder, caseSensitivity: rule)
    }

    private func name(_ key: Filename, _ names: FileNames) -> String { names.file(of: key).name }

    private func original(_ key: Filename, _ names: FileNames) -> [String] {
        names.originalPaths(of: key, names.file(of: key))
    }

    @Test(arguments: ["settings", "user/1", "cities and towns"])
    func aUsualKeyHasTheNameThatTheOriginalGaveIt(key: String) {
        let key = Filename(rawValue: key)
        #expect(name(key, names(.base64)) == key.base64Encoded())
        #expect(original(key, names(.base64)).isEmpty)
        #expect(original(key, names(.base64URL)).isEmpty)
    }

    @Test func anEmptyKeyHadNoFile() {
        #expect(name("", names(.base64)) == "~sh-p-")
        #expect(original("", names(.base64)).isEmpty)
    }

    @Test func aBase64WithASlashWasAPath() {
        #expect(name("b???", names(.base64)) == "~sh-p-Yj8%2fPw==")
        #expect(original("b???", names(.base64)) == ["Yj8/Pw=="])
        #expect(name("b???", names(.base64URL)) == "Yj8_Pw==")
        #expect(original("b???", names(.base64URL)).isEmpty)
    }

    @Test func theSlashAtTheEndOfABase64WasLost() {
        #expect(original("???", names(.base64)) == ["Pz8"])
    }

    @Test func anUnsafeKeyWasAPath() {
        #expect(name("a/b", names(.noEncoding)) == "~sh-p-a%2fb")
        #expect(original("a/b", names(.noEncoding)) == ["a/b"])
        #expect(original("a.", names(.noEncoding)) == ["a."])
    }

    /// C6.
    @Test(arguments: [
        ("https://example.com/a?b=c", "https:/example.com/a?b=c"), ("HTTP://x", "HTTP:/x"),
        ("file:///a", "file:/a"),
        ("a+b.c-1://x", "a+b.c-1:/x"),
    ])
    func aURLWasAPathWithOneSlash(url: String, path: String) {
        #expect(original(Filename(rawValue: url), names(.noEncoding)) == [path])
        #expect(URLText.url(withPath: path) == url)
    }

    @Test(arguments: ["a", ":", "://x", "1a://x", "a b://x", "https:x", "file://x"])
    func otherTextsAreNoURLs(text: String) {
        #expect(URLText.path(of: text) == nil)
    }

    /// P2: such a path led to the file of another key, or outside.
    @Test(arguments: [
        "", ".", "..", "/", "/a", "a/", "a//b", "abc/", "../x", "a/../b", "a/./b", "a/..", "a\0b",
        "~sh-p-a", "~sh-t-0-1",
    ])
    func aPathThatMayBelongToAnotherKeyIsNotRead(key: String) {
        #expect(original(Filename(rawValue: key), names(.noEncoding)).isEmpty)
        #expect(original(Filename(rawValue: key), names(.custom { $0.rawValue })).isEmpty)
    }

    /// P4.
    @Test(arguments: TestEncoder.allCases)
    func bothSpellingsHaveOneNameAndThoseOfTheOriginalAreKnown(encoder: TestEncoder) {
        let names = names(encoder.encoder)
        #expect(name("caf\u{E9}", names).hasSameBytes(as: name("cafe\u{301}", names)))
        let old = encoder.encoder.encodedString(representing: "cafe\u{301}")
        #expect(original("caf\u{E9}", names).contains { $0.hasSameBytes(as: old) })
        #expect(original("cafe\u{301}", names).contains { $0.hasSameBytes(as: old) })
    }

    @Test func withoutCaseTheNameOfTheOriginalIsAnotherOne() {
        #expect(name("foo", names(.base64, .insensitive)) == "~sh-p-%5am9v")
        #expect(original("foo", names(.base64, .insensitive)) == ["Zm9v"])
        #expect(names(.base64, .insensitive).needsExactName("Zm9v"))
        #expect(!names(.base64, .insensitive).needsExactName("~sh-p-%5am9v"))
        #expect(!names(.base64, .insensitive).needsExactName("1234"))
        #expect(!names(.base64, .sensitive).needsExactName("Zm9v"))
    }

    @Test(arguments: TestEncoder.allCases, CaseSensitivity.allCases)
    func noPathOfTheOriginalIsTheNameAndNoneIsListedTwice(
        encoder: TestEncoder,
        rule: CaseSensitivity
    ) {
        let names = names(encoder.encoder, rule)
        for key in Filename.tricky {
            let paths = ([name(key, names)] + original(key, names)).map { Array($0.utf8) }
            #expect(Set(paths).count == paths.count)
        }
    }
}
