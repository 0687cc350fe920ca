import TestThreads
import Testing
import VellumCore

@Suite(.ownThreads)
struct PercentEncodingTests {
    @Test(arguments: [
        ("a/b", "a%2Fb"), ("a%2Fb", "a%252Fb"), ("a\0", "a%00"), ("/\u{301}", "%2F\u{301}"),
        ("\u{e9}:", "\u{e9}:"), ("", ""),
    ])
    func onlyThePercentSignAndTheGivenCharactersAreEncoded(_ text: String, _ encoded: String) {
        #expect(text.percentEncoding("/\0").unicodeScalars.elementsEqual(encoded.unicodeScalars))
    }
}
