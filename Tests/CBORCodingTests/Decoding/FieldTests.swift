import CBORCoding
import Foundation
import Testing

@Suite("Decoding one value at a path", .timeLimit(.minutes(1)))
struct FieldTests {
    private struct Person: Codable {
        var name = "Ann"
        var nick: String?
        var home = Home()
        var tags = ["a", "b"]

        struct Home: Codable {
            var city = "Ulm"
            var zip: Int128 = 1 << 100
        }
    }

    private func field<Value: Decodable>(_ type: Value.Type, _ path: String..., in data: Data) throws -> Value? {
        try CBORDecoder().decodeIfPresent(type, at: path, from: data)
    }

    @Test(arguments: [false, true])
    func aFieldIsFoundAtItsPath(_ isSelfDescribed: Bool) throws {
        let data = try encoded(Person()) { $0.isSelfDescribed = isSelfDescribed }
        #expect(try field(String.self, "name", in: data) == "Ann")
        #expect(try field(String.self, "home", "city", in: data) == "Ulm")
        #expect(try field(Int128.self, "home", "zip", in: data) == 1 << 100)
        #expect(try field(Person.Home.self, "home", in: data)?.city == "Ulm")
        #expect(try field([String].self, "tags", in: data) == ["a", "b"])
        #expect(try field(Person.self, in: data)?.name == "Ann")
    }

    @Test func aMissingPathIsNil() throws {
        let data = try encoded(Person())
        #expect(try field(String.self, "nick", in: data) == nil)
        #expect(try field(String.self, "name", "city", in: data) == nil)
        #expect(try field(String.self, "tags", "a", in: data) == nil)
        #expect(try field(Int.self, "a", in: Data(hex: "01")) == nil)
        #expect(try field(Int.self, "a", in: Data(hex: "bf ff")) == nil)
    }

    @Test func nullDecodesAsNilOnlyForOptionalTypes() throws {
        let data = try encoded(["a": nil] as [String: Int?])
        #expect(try field(Int?.self, "a", in: data) == .some(nil))
        #expect(decodingError { try field(Int.self, "a", in: data) }?.kind == "valueNotFound")
        #expect(try field(Int?.self, "b", in: data) == nil)
    }

    @Test(arguments: ["a2 01 02 6161 03", "bf 01 02 6161 03 ff", "a2 01 02 7f 6161 ff 03", "a2 c1 6161 02 6161 03", "a2 780161 03 01 02"])
    func mapsAndKeysOfAnyFormAreSearched(_ hex: String) throws {
        #expect(try field(Int.self, "a", in: Data(hex: hex)) == 3)
    }

    @Test func bytesAfterTheFieldAreNotValidated() throws {
        let whole = try encoded(Person())
        let end = try #require(whole.firstRange(of: Data("Ann".utf8))).upperBound
        #expect(try field(String.self, "name", in: whole.prefix(end)) == "Ann")
        for length in 0..<end {
            #expect(decodingError { try field(String.self, "name", in: whole.prefix(length)) }?.kind == "dataCorrupted")
        }
    }

    @Test func anEarlierItemBeyondTheNestingLimitThrows() throws {
        let bomb = Data([0xA2, 0x61, 0x62]) + Data(repeating: 0x81, count: 100_000) + [0x61, 0x61, 0x01]
        #expect(decodingError { try field(Int.self, "a", in: bomb) }?.kind == "dataCorrupted")
    }
}
