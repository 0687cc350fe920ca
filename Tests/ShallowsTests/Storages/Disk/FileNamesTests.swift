import Testing

@testable import Shallows

@Suite(.timeLimit(.minutes(1)))
struct FileNamesTests {
    private func names(_ encoder: Filename.Encoder, _ rule: CaseSensitivity = .sensitive) -> FileNames {
        FileNames(encoder: encoder, caseSensitivity: rule)
    }

    private func location(_ key: Filename, _ names: FileNames) -> FileLocation { names.location(of: names.spelling(of: key)) }

    private func earlier(_ key: Filename, _ names: FileNames) -> [FileLocation] { names.earlierLocations(of: names.spelling(of: key)) }

    @Test(arguments: ["settings", "user/1", "", "cities and towns"])
    func aUsualKeyHasTheNameOfEarlierVersionsAlone(key: String) {
        let key = Filename(rawValue: key)
        let isEmpty = key.rawValue.isEmpty
        #expect(location(key, names(.base64)) == .named(isEmpty ? "~sh-p-" : key.base64Encoded()))
        #expect(earlier(key, names(.base64)).isEmpty)
        #expect(earlier(key, names(.base64URL)).isEmpty)
    }

    @Test func aBase64WithASlashIsWrittenInTheOtherAlphabet() {
        #expect(location("b???", names(.base64)) == .named("Yj8_Pw=="))
        #expect(earlier("b???", names(.base64)) == [.named("Yj8/Pw==")])
        #expect(location("b???", names(.base64URL)) == .named("Yj8_Pw=="))
        #expect(earlier("b???", names(.base64URL)) == [.named("Yj8/Pw==")])
    }

    @Test func aBase64WithAPlusKeepsItsName() {
        #expect(location("o?>", names(.base64)) == .named("bz8+"))
        #expect(earlier("o?>", names(.base64)) == [.named("bz8-")])
        #expect(location("o?>", names(.base64URL)) == .named("bz8-"))
        #expect(earlier("o?>", names(.base64URL)) == [.named("bz8+")])
    }

    @Test func theSlashAtTheEndOfABase64WasLost() {
        #expect(earlier("???", names(.base64)) == [.named("Pz8")])
    }

    @Test func anUnsafeKeyWasAPath() {
        #expect(location("a/b", names(.noEncoding)) == .named("~sh-p-a%2fb"))
        #expect(earlier("a/b", names(.noEncoding)) == [.named("a/b")])
        #expect(earlier("a.", names(.noEncoding)) == [.named("a.")])
    }

    /// P2: such a path led to the file of another key, or outside.
    @Test(arguments: [
        "", ".", "..", "/", "/a", "a/", "a//b", "abc/", "../x", "a/../b", "a/./b", "a/..", "a\0b", "~sh-p-a", "~sh-t-0-1-1-1",
    ])
    func aPathThatMayBelongToAnotherKeyIsNotRead(key: String) {
        #expect(earlier(Filename(rawValue: key), names(.noEncoding)).isEmpty)
        #expect(earlier(Filename(rawValue: key), names(.custom { $0.rawValue })).isEmpty)
    }

    /// P4.
    @Test(arguments: TestEncoder.allCases)
    func bothSpellingsHaveOneLocationAndTheEarlierOnesAreKnown(encoder: TestEncoder) {
        let names = names(encoder.encoder)
        #expect(location("caf\u{E9}", names) == location("cafe\u{301}", names))
        let old = encoder.encoder.encodedString(representing: "cafe\u{301}")
        #expect(self.earlier("caf\u{E9}", names).contains(.named(old)))
        #expect(self.earlier("cafe\u{301}", names).contains(.named(old)))
    }

    @Test func theResultOfACustomEncoderIsNormalizedToo() {
        let names = names(.custom { _ in "e\u{301}" })
        #expect(location("key", names) == .named("\u{E9}"))
        #expect(earlier("key", names) == [.named("e\u{301}")])
    }

    @Test func bothBase64HashTheSameText() {
        let key = Filename(rawValue: String(repeating: "o?>", count: 100))
        #expect(location(key, names(.base64)) == location(key, names(.base64URL)))
    }

    @Test func onAnInsensitiveVolumeTheNameOfEarlierVersionsIsAnEarlierLocation() {
        #expect(location("foo", names(.base64, .insensitive)) == .named("~sh-c-8-Zm9v"))
        #expect(earlier("foo", names(.base64, .insensitive)) == [.named("Zm9v")])
        #expect(names(.base64, .insensitive).needsExactName("Zm9v"))
        #expect(!names(.base64, .insensitive).needsExactName("~sh-c-8-Zm9v"))
        #expect(!names(.base64, .insensitive).needsExactName("1234"))
        #expect(!names(.base64, .sensitive).needsExactName("Zm9v"))
    }

    @Test(arguments: TestEncoder.allCases, CaseSensitivity.allCases)
    func noEarlierLocationIsTheNewOneAndNoneIsListedTwice(encoder: TestEncoder, rule: CaseSensitivity) {
        let names = names(encoder.encoder, rule)
        for key in Filename.tricky {
            let earlier = earlier(key, names)
            #expect(!earlier.contains(location(key, names)))
            for index in earlier.indices { #expect(!earlier[..<index].contains(earlier[index])) }
        }
    }
}
