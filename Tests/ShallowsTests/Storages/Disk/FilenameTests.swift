import TestThreads
import Testing

@testable import Shallows

@Suite(.ownThreads)
struct FilenameTests {
    /// P4.
    @Test func canonicallyEquivalentStringsAreOneKey() {
        #expect(Filename(rawValue: "\u{E9}") == Filename(rawValue: "e\u{301}"))
        #expect(Set<Filename>(["\u{E9}", "e\u{301}"]).count == 1)
    }

    @Test func aKeyKeepsItsSpelling() {
        #expect(Array(Filename(rawValue: "e\u{301}").rawValue.utf8) == Array("e\u{301}".utf8))
    }

    @Test func aLiteralIsAKey() {
        let key: Filename = "settings"
        #expect(key.rawValue == "settings")
    }

    // The vectors of RFC 4648, 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func base64IsThatOfTheStandard(text: String, encoded: String) {
        #expect(Filename(rawValue: text).base64Encoded() == encoded)
        #expect(Filename(rawValue: text).base64URLEncoded() == encoded)
    }

    @Test(arguments: [
        ("ooo?", "b29vPw==", "b29vPw=="), ("???", "Pz8/", "Pz8_"), ("o?>", "bz8+", "bz8-"),
        ("oé", "b8Op", "b8Op"),
    ])
    func theAlphabetForURLsHasNoSlashAndNoPlus(text: String, standard: String, url: String) {
        #expect(Filename(rawValue: text).base64Encoded() == standard)
        #expect(Filename(rawValue: text).base64URLEncoded() == url)
    }

    @Test func base64EncodesTheBytesAsTheyAre() {
        #expect(
            Filename(rawValue: "\u{E9}").base64Encoded()
                != Filename(rawValue: "e\u{301}").base64Encoded()
        )
    }

    @Test(arguments: Filename.tricky.indices)
    func base64IsDecodedInBothAlphabets(index: Int) {
        let key = Filename.tricky[index]
        for encoder in [Filename.Encoder.base64, .base64URL] {
            #expect(
                encoder.key(from: encoder.encodedString(representing: key))?.rawValue.hasSameBytes(
                    as: key.rawValue
                ) == true
            )
        }
    }

    @Test(arguments: ["Zg", "Z", "a.b.", "////", "gICA"])
    func invalidBase64IsNotDecoded(text: String) {
        #expect(Base64.decoded(text) == nil)
    }

    @Test func anEncoderReturnsTheEncodedKey() {
        #expect(Filename.Encoder.base64.encodedString(representing: "???") == "Pz8/")
        #expect(Filename.Encoder.base64URL.encodedString(representing: "???") == "Pz8_")
        #expect(Filename.Encoder.noEncoding.encodedString(representing: "a/b") == "a/b")
        #expect(
            Filename.Encoder.custom { $0.rawValue + ".json" }.encodedString(representing: "a")
                == "a.json"
        )
    }
}
