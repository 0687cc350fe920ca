import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Appendix A of RFC 8949", .ownThreads)
struct AppendixATests {
    /// A row of the table: bytes and a check.
    struct Row: Sendable, CustomTestStringConvertible {
        var hex: String
        /// Whether the encoder writes the same bytes for the value.
        var isPreferred: Bool
        var check: @Sendable (Row) throws -> Void

        var testDescription: String { hex }
    }

    private static func row<Value: Codable & Equatable & Sendable>(
        _ hex: String,
        _ value: Value,
        isPreferred: Bool = true
    ) -> Row {
        Row(hex: hex, isPreferred: isPreferred) { (row) throws in
            let data = Data(hex: row.hex)
            #expect(try CBORDecoder().decode(Value.self, from: data) == value)
            if row.isPreferred { #expect(try CBOREncoder().encode(value).hex == data.hex) }
        }
    }

    private static let integers = [
        row("00", 0), row("01", 1), row("0a", 10), row("17", 23), row("1818", 24), row("1819", 25),
        row("1864", 100), row("1903e8", 1000),
        row("1a000f4240", 1_000_000), row("1b000000e8d4a51000", 1_000_000_000_000),
        row("1bffffffffffffffff", UInt64.max),
        row("c249010000000000000000", UInt128(1) << 64),
        row("c249010000000000000000", Int128(1) << 64),
        row("3bffffffffffffffff", -(Int128(1) << 64)),
        row("c349010000000000000000", -(Int128(1) << 64) - 1), row("20", -1),
        row("29", -10), row("3863", -100), row("3903e7", -1000),
    ]

    private static let floats = [
        row("f90000", 0.0), row("f98000", -0.0), row("f93c00", 1.0), row("fb3ff199999999999a", 1.1),
        row("f93e00", 1.5),
        row("f97bff", 65504.0), row("fa47c35000", 100000.0),
        row("fa7f7fffff", 3.4028234663852886e+38), row("fb7e37e43c8800759c", 1.0e+300),
        row("f90001", 5.960464477539063e-8), row("f90400", 0.00006103515625), row("f9c400", -4.0),
        row("fbc010666666666666", -4.1),
        row("f97c00", Double.infinity), row("f9fc00", -Double.infinity),
        row("fa7f800000", Double.infinity, isPreferred: false),
        row("faff800000", -Double.infinity, isPreferred: false),
        row("fb7ff0000000000000", Double.infinity, isPreferred: false),
        row("fbfff0000000000000", -Double.infinity, isPreferred: false),
        row("f97c00", Float.infinity), row("f93e00", Float(1.5)),
        row("fa47c35000", Float(100000)), row("f90001", Float(5.960464477539063e-8)),
    ]

    private static let simpleValues = [
        row("f4", false), row("f5", true), row("f6", Int?.none),
        row("f7", Int?.none, isPreferred: false),
    ]

    private static let tags = [
        row("c11a514b67b0", Date(timeIntervalSince1970: 1_363_896_240), isPreferred: false),
        row(
            "c1fb41d452d9ec200000",
            Date(timeIntervalSince1970: 1_363_896_240.5),
            isPreferred: false
        ),
        row(
            "c074323031332d30332d32315432303a30343a30305a",
            Date(timeIntervalSince1970: 1_363_896_240),
            isPreferred: false
        ),
        row("d74401020304", Data([1, 2, 3, 4]), isPreferred: false),
        row("d818456449455446", Data([0x64, 0x49, 0x45, 0x54, 0x46]), isPreferred: false),
        row(
            "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
            URL(string: "http://www.example.com") ?? URL(filePath: "/")
        ),
    ]

    private static let strings = [
        row("40", Data()), row("4401020304", Data([1, 2, 3, 4])), row("60", ""), row("6161", "a"),
        row("6449455446", "IETF"),
        row("62225c", "\"\\"), row("62c3bc", "\u{FC}"), row("63e6b0b4", "\u{6C34}"),
        row("64f0908591", "\u{10151}"),
    ]

    private static let containers = [
        row("80", [Int]()), row("83010203", [1, 2, 3]),
        row("98190102030405060708090a0b0c0d0e0f101112131415161718181819", Array(1...25)),
        row("a0", [String: Int]()),
        row("8301820203820405", [Tree.integer(1), [2, 3], [4, 5]]),
        row("a201020304", [1: 2, 3: 4], isPreferred: false),
        row("a26161016162820203", Tree.map(["a": 1, "b": [2, 3]])),
        row("826161a161626163", ["a", .map(["b": "c"])] as Tree),
        row(
            "a56161614161626142616361436164614461656145",
            Tree.map(["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"])
        ),
    ]

    private static let indefiniteLengths = [
        row("5f42010243030405ff", Data([1, 2, 3, 4, 5]), isPreferred: false),
        row("7f657374726561646d696e67ff", "streaming", isPreferred: false),
        row("9fff", [Int](), isPreferred: false),
        row("9f018202039f0405ffff", [1, [2, 3], [4, 5]] as Tree, isPreferred: false),
        row("9f01820203820405ff", [1, [2, 3], [4, 5]] as Tree, isPreferred: false),
        row("83018202039f0405ff", [1, [2, 3], [4, 5]] as Tree, isPreferred: false),
        row("83019f0203ff820405", [1, [2, 3], [4, 5]] as Tree, isPreferred: false),
        row(
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
            Array(1...25),
            isPreferred: false
        ),
        row("bf61610161629f0203ffff", Tree.map(["a": 1, "b": [2, 3]]), isPreferred: false),
        row("826161bf61626163ff", ["a", .map(["b": "c"])] as Tree, isPreferred: false),
        row(
            "bf6346756ef563416d7421ff",
            Tree.map(["Fun": .bool(true), "Amt": -2]),
            isPreferred: false
        ),
    ]

    @Test(
        arguments: integers + floats + simpleValues + tags + strings + containers
            + indefiniteLengths
    )
    func everyRowDecodesAndEncodesToItsPreferredForm(_ row: Row) throws {
        try row.check(row)
    }

    @Test(arguments: ["f97e00", "fa7fc00000", "fb7ff8000000000000"])
    func aNaNOfAnyWidthDecodesAsTheSameNaN(_ hex: String) throws {
        #expect(try decoded(Double.self, hex: hex).bitPattern == Double.nan.bitPattern)
        #expect(try decoded(Float.self, hex: hex).bitPattern == Float.nan.bitPattern)
        #expect(try encoded(Double.nan).hex == "f97e00")
        #expect(try encoded(Float.nan).hex == "f97e00")
    }

    @Test(arguments: ["f0", "f8ff"])
    func anUnassignedSimpleValueThrowsOnlyIfItIsDecoded(_ hex: String) throws {
        #expect(decodingError { try decoded(Bool.self, hex: hex) }?.kind == "typeMismatch")
        #expect(decodingError { try decoded(Int.self, hex: hex) }?.kind == "typeMismatch")
        #expect(decodingError { try decoded(String.self, hex: hex) }?.kind == "typeMismatch")
        #expect(decodingError { try decoded(Double.self, hex: hex) }?.kind == "typeMismatch")
        #expect(try decoded([String: Int?].self, hex: "a1 6161 f7") == ["a": nil])
        struct Known: Decodable { var known: Int }
        #expect(try decoded(Known.self, hex: "a2 6161 \(hex) 656b6e6f776e 05").known == 5)
    }

    @Test func dateStrategiesEncodeTheRowsOfTheTable() throws {
        let date = Date(timeIntervalSince1970: 1_363_896_240)
        #expect(
            try encoded(date) { $0.dateEncodingStrategy = .secondsSince1970 }.hex == "c11a514b67b0"
        )
        #expect(
            try encoded(date + 0.5) { $0.dateEncodingStrategy = .secondsSince1970 }.hex
                == "c1fb41d452d9ec200000"
        )
        #expect(
            try encoded(date) { $0.dateEncodingStrategy = .iso8601 }.hex
                == "c074323031332d30332d32315432303a30343a30305a"
        )
    }

    @Test func integerKeysEncodeTheRowOfTheTable() throws {
        let data = try encoded([3: 4, 1: 2]) {
            $0.keyEncodingStrategy = .useIntegerKeys
            $0.isDeterministic = true
        }
        #expect(data.hex == "a201020304")
    }
}
