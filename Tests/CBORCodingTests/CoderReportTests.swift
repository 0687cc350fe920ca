import CBORCoding
import Foundation
import TestThreads
import Testing

/// Public bug reports of coders.
@Suite(.ownThreads)
struct CoderReportTests {
    /// A value in arrays in arrays. Neither direction recurses.
    struct Onion<Core: Codable & Equatable>: Codable {
        // swift-format-ignore: NeverForceUnwrap
        static var key: CodingUserInfoKey { CodingUserInfoKey(rawValue: "depth")! }
        var core: Core

        init(_ core: Core) { self.core = core }

        func encode(to encoder: any Encoder) throws {
            var layer = encoder.unkeyedContainer()
            for _ in 1..<(encoder.userInfo[Self.key] as? Int ?? 1) {
                layer = layer.nestedUnkeyedContainer()
            }
            try layer.encode(core)
        }

        init(from decoder: any Decoder) throws {
            var layer = try decoder.unkeyedContainer()
            for _ in 1..<(decoder.userInfo[Self.key] as? Int ?? 1) {
                layer = try layer.nestedUnkeyedContainer()
            }
            core = try layer.decode(Core.self)
        }
    }

    /// fxamacker/cbor#354, blinklabs-io/gouroboros PR #2203: what encodes does not decode, because
    /// the two count levels differently.
    @Test(arguments: [false, true])
    func whatEncodesDecodes(isSelfDescribed: Bool) throws {
        func check<Core: Codable & Equatable>(_ core: Core) throws {
            for depth in 1...10 {
                var (encoder, decoder) = (CBOREncoder(), CBORDecoder())
                encoder.isSelfDescribed = isSelfDescribed
                (encoder.nestingLimit, decoder.nestingLimit) = (8, 8)
                encoder.userInfo[Onion<Core>.key] = depth
                decoder.userInfo[Onion<Core>.key] = depth
                let data: Data
                do {
                    data = try encoder.encode(Onion(core))
                } catch is EncodingError {
                    #expect(depth > 4, "\(Core.self) at \(depth)")
                    continue
                }
                let decoded = try decoder.decode(Onion<Core>.self, from: data)
                #expect(decoded.core == core, "\(Core.self) at \(depth)")
            }
        }
        try check(1)
        try check("a")
        try check([1, 2])
        try check([UInt8]([1, 2]))
        try check([0.5])
        try check([Float(0.5)])
        try check(["a"])
        try check([[1]])
        try check(["a": 1])
        try check(Decimal(string: "1.5")!)
        try check([Decimal(1)])
        try check(UUID())
        try check(URL(string: "https://a.example")!)
        try check(URL(string: "b", relativeTo: URL(string: "https://a.example"))!)
        try check(Int128.max)
        try check(Date.distantPast)
        try check(Data([1]))
        try check(CBORValue.tagged(1000, .tagged(1001, .tagged(1002, .integer(1)))))
        try check(CBORValue.tagged(1000, .array([.tagged(1001, .array([]))])))
    }

    // MARK: Keys that become equal

    struct Account: Codable, Equatable {
        var userName = "anna"
        var user_name = "otto"
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// WICG/webpackage PR #480: two properties are encoded under one key, and one of them is lost.
    @Test func noPropertyIsLostWhenKeysAreConverted() throws {
        var encoder = CBOREncoder()
        var decoder = CBORDecoder()
        #expect(try decoder.decode(Account.self, from: encoder.encode(Account())) == Account())
        (encoder.keyEncodingStrategy, decoder.keyDecodingStrategy) = (
            .convertToSnakeCase, .convertFromSnakeCase
        )
        #expect(throws: EncodingError.self) { try encoder.encode(Account()) }
        encoder.keyEncodingStrategy = .custom {
            Name(stringValue: String($0.last?.stringValue.lowercased().filter(\.isLetter) ?? ""))
        }
        decoder.keyDecodingStrategy = .custom {
            Name(stringValue: $0.last?.stringValue == "username" ? "userName" : "")
        }
        #expect(throws: EncodingError.self) { try encoder.encode(Account()) }
    }

    /// outfoxx/PotentCodables#84: data that are a part of other data are read from the wrong place.
    @Test func dataMayBeASlice() throws {
        let whole = try Data([1, 2, 3]) + CBOREncoder().encode(["a": [1, 2]]) + Data([4])
        let slice = whole[3..<whole.count - 1]
        #expect(slice.startIndex == 3)
        #expect(try CBORDecoder().decode([String: [Int]].self, from: slice) == ["a": [1, 2]])
        #expect(
            try CBORDecoder().decode(CBORValue.self, from: slice)
                == .map([.text("a"): .array([.integer(1), .integer(2)])])
        )
        let nested = try CBOREncoder().encode(slice)
        let inner = try CBORDecoder().decode(Data.self, from: nested)
        #expect(inner == slice)
        #expect(try CBORDecoder().decode([String: [Int]].self, from: inner) == ["a": [1, 2]])
    }
}
