import Testing

@testable import Shallows

@Suite(.timeLimit(.minutes(60)))
struct FileNamesTests {
    private func names(_ encoder: Filename.Encoder, _ rule: CaseRule = .sensitive) -> FileNames {
        FileNames(encoder: encoder, rule: rule)
    }

    private func place(_ key: Filename, _ names: FileNames) -> FilePlace { names.place(of: names.spelling(of: key)) }

    private func old(_ key: Filename, _ names: FileNames) -> [FilePlace] { names.oldPlaces(of: names.spelling(of: key)) }

    @Test(arguments: ["settings", "user/1", "", "cities and towns"])
    func aUsualKeyHasTheNameOfEarlierVersionsAndNoOther(key: String) {
        let key = Filename(rawValue: key)
        let isEmpty = key.rawValue.isEmpty
        #expect(place(key, names(.base64)) == .named(isEmpty ? "~sh-p-" : key.base64Encoded()))
        #expect(old(key, names(.base64)).isEmpty)
        #expect(old(key, names(.base64URL)).isEmpty)
    }

    @Test func aBase64WithASlashIsWrittenInTheOtherAlphabet() {
        #expect(place("b???", names(.base64)) == .named("Yj8_Pw=="))
        #expect(old("b???", names(.base64)) == [.named("Yj8/Pw==")])
        #expect(place("b???", names(.base64URL)) == .named("Yj8_Pw=="))
        #expect(old("b???", names(.base64URL)) == [.named("Yj8/Pw==")])
    }

    @Test func aBase64WithAPlusKeepsItsName() {
        #expect(place("o?>", names(.base64)) == .named("bz8+"))
        #expect(old("o?>", names(.base64)) == [.named("bz8-")])
        #expect(place("o?>", names(.base64URL)) == .named("bz8-"))
        #expect(old("o?>", names(.base64URL)) == [.named("bz8+")])
    }

    @Test func theSlashAtTheEndOfABase64WasLost() {
        #expect(old("???", names(.base64)) == [.named("Pz8")])
    }

    @Test func anUnsafeKeyWasAPath() {
        #expect(place("a/b", names(.noEncoding)) == .named("~sh-p-a%2fb"))
        #expect(old("a/b", names(.noEncoding)) == [.named("a/b")])
        #expect(old("a.", names(.noEncoding)) == [.named("a.")])
    }

    /// P2: such a path led to the file of another key, or outside.
    @Test(arguments: [
        "", ".", "..", "/", "/a", "a/", "a//b", "abc/", "../x", "a/../b", "a/./b", "a/..", "a\0b", "~sh-p-a", "~sh-t-0-1-1-1",
    ])
    func aPathThatIsNotTheKeysAloneIsNotLookedAt(key: String) {
        #expect(old(Filename(rawValue: key), names(.noEncoding)).isEmpty)
        #expect(old(Filename(rawValue: key), names(.custom { $0.rawValue })).isEmpty)
    }

    /// P4.
    @Test(arguments: TestEncoder.allCases)
    func bothSpellingsHaveOnePlaceAndTheOldOnesAreKnown(encoder: TestEncoder) {
        let names = names(encoder.encoder)
        #expect(place("caf\u{E9}", names) == place("cafe\u{301}", names))
        let old = encoder.encoder.encodedString(representing: "cafe\u{301}")
        #expect(self.old("caf\u{E9}", names).contains(.named(old)))
        #expect(self.old("cafe\u{301}", names).contains(.named(old)))
    }

    @Test func whatACustomEncoderMakesIsInNormalFormToo() {
        let names = names(.custom { _ in "e\u{301}" })
        #expect(place("key", names) == .named("\u{E9}"))
        #expect(old("key", names) == [.named("e\u{301}")])
    }

    @Test func bothBase64HashTheSameText() {
        let key = Filename(rawValue: String(repeating: "o?>", count: 100))
        #expect(place(key, names(.base64)) == place(key, names(.base64URL)))
    }

    @Test func withoutCaseTheNameOfEarlierVersionsIsAnOldOne() {
        #expect(place("foo", names(.base64, .insensitive)) == .named("~sh-c-8-Zm9v"))
        #expect(old("foo", names(.base64, .insensitive)) == [.named("Zm9v")])
        #expect(names(.base64, .insensitive).needsExactName("Zm9v"))
        #expect(!names(.base64, .insensitive).needsExactName("~sh-c-8-Zm9v"))
        #expect(!names(.base64, .insensitive).needsExactName("1234"))
        #expect(!names(.base64, .sensitive).needsExactName("Zm9v"))
    }

    @Test(arguments: TestEncoder.allCases, CaseRule.allCases)
    func noOldPlaceIsTheNewOneAndNoneIsNamedTwice(encoder: TestEncoder, rule: CaseRule) {
        let names = names(encoder.encoder, rule)
        for key in Filename.tricky {
            let old = old(key, names)
            #expect(!old.contains(place(key, names)))
            for index in old.indices { #expect(!old[..<index].contains(old[index])) }
        }
    }
}
