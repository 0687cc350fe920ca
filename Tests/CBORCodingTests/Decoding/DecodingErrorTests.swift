import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Decoding errors", .ownThreads)
struct DecodingErrorTests {
    private struct Inner: Codable { var secret: Int }
    private struct Outer: Codable { var list: [Inner]; var map: [String: [Inner]] }

    private static let errors: [(String, String, String)] = [
        (
            "a2 646c697374 82 a1 66736563726574 01 a1 66736563726574 6568756e7479 636d6170 a0",
            "typeMismatch", "list/Index 1/secret"
        ),
        (
            "a2 646c697374 81 a1 66736563726574 f6 636d6170 a0", "valueNotFound",
            "list/Index 0/secret"
        ),
        ("a2 646c697374 82 a1 66736563726574 01 a0 636d6170 a0", "keyNotFound", "list/Index 1"),
        (
            "a2 646c697374 80 636d6170 a1 616b 81 a1 66736563726574 f93e00", "dataCorrupted",
            "map/k/Index 0/secret"
        ),
        ("a2 646c697374 a0 636d6170 a0", "typeMismatch", "list"), ("a0", "keyNotFound", ""),
        ("80", "typeMismatch", ""),
        ("f6", "valueNotFound", ""),
        (
            "bf 646c697374 9f bf 66736563726574 c6 6568756e7479 ff ff 636d6170 a0 ff",
            "typeMismatch", "list/Index 0/secret"
        ),
    ]

    @Test(arguments: errors)
    func anErrorHasItsKindAndCodingPath(_ hex: String, _ kind: String, _ path: String) throws {
        let error = decodingError { try decoded(Outer.self, hex: hex) }
        #expect(error?.kind == kind)
        #expect(error?.path == path)
        #expect(error?.context?.debugDescription.contains("hunty") == false)
        #expect(error?.context?.debugDescription.isEmpty == false)
    }

    @Test func errorsDoNotContainValues() throws {
        for decode in anyTypes {
            guard let error = decodingError({ try decode(encoded("a very secret text")) }) else {
                continue
            }
            #expect(!"\(error)".contains("secret"))
        }
        for decode in anyTypes {
            guard let error = decodingError({ try decode(encoded(123_456_789.125)) }) else {
                continue
            }
            #expect(!"\(error)".contains("123"))
        }
    }

    private final class Kept {
        var decoder: (any Decoder)?
        var map: KeyedDecodingContainer<TextKey>?
        var array: (any UnkeyedDecodingContainer)?
        var single: (any SingleValueDecodingContainer)?
    }

    @Test func aDecoderThatOutlivesItsDecodingThrows() throws {
        let kept = Kept()
        try withDecoder(try encoded(["a": [1, 2]])) {
            kept.decoder = $0
            kept.map = try $0.container(keyedBy: TextKey.self)
            kept.array = try kept.map?.nestedUnkeyedContainer(forKey: "a")
            kept.single = try $0.singleValueContainer()
        }
        let (decoder, map, single) = (
            try #require(kept.decoder), try #require(kept.map), try #require(kept.single)
        )
        #expect(throws: DecodingError.self) { try decoder.container(keyedBy: TextKey.self) }
        #expect(throws: DecodingError.self) { try decoder.unkeyedContainer() }
        #expect(throws: DecodingError.self) { try Tree(from: decoder) }
        #expect(throws: DecodingError.self) { try map.decode([Int].self, forKey: "a") }
        #expect(throws: DecodingError.self) { try map.decode(Date.self, forKey: "a") }
        #expect(throws: DecodingError.self) { try map.decodeNil(forKey: "a") }
        #expect(throws: DecodingError.self) { try map.superDecoder(forKey: "a") }
        #expect(throws: DecodingError.self) { try map.decodeIfPresent([Int].self, forKey: "a") }
        #expect(throws: DecodingError.self) { try kept.array?.decode(Int.self) }
        #expect(throws: DecodingError.self) { try kept.array?.decodeNil() }
        #expect(throws: DecodingError.self) { try kept.array?.nestedUnkeyedContainer() }
        #expect(throws: DecodingError.self) { try single.decode(String.self) }
        #expect(throws: DecodingError.self) { try single.decode(UUID.self) }
        #expect(single.decodeNil() == false && map.allKeys.isEmpty && map.contains("a") == false)
        #expect((decoder.codingPath + map.codingPath + single.codingPath).isEmpty)
    }
}
