import CBORCoding
import Foundation
import Testing

@Suite("Keyed decoding", .timeLimit(.minutes(10)))
struct KeyedDecodingTests {
    private struct Missing: Decodable {
        var one: Int?
        var twoWords: Int?
    }

    @Test(arguments: ["a0", "a1 6161 01", "a2 6161 01 6162 02", "a3 6161 01 6162 02 6163 03", "bf 6161 01 6162 02 ff", "bf ff"])
    func aKeyThatIsNotThereIsSearchedOnce(_ hex: String) throws {
        let value = try decoded(Missing.self, Data(hex: hex)) { $0.keyDecodingStrategy = .convertFromSnakeCase }
        #expect(value.one == nil)
        #expect(value.twoWords == nil)
        #expect(try decoded(Missing.self, hex: hex).one == nil)
    }
}
