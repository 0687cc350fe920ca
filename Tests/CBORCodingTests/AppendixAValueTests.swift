import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Appendix A as CBORValue", .ownThreads)
struct AppendixAValueTests {
    /// The bytes, their diagnostic notation, and the preferred form if it differs.
    private static let rows: [(String, String, String?)] = [
        ("00", "0", nil), ("17", "23", nil), ("1818", "24", nil), ("1903e8", "1000", nil),
        ("1b000000e8d4a51000", "1000000000000", nil),
        ("1bffffffffffffffff", "18446744073709551615", nil),
        ("c249010000000000000000", "18446744073709551616", nil),
        ("3bffffffffffffffff", "-18446744073709551616", nil),
        ("c349010000000000000000", "-18446744073709551617", nil),
        ("20", "-1", nil), ("3903e7", "-1000", nil), ("f90000", "0.0", nil),
        ("f98000", "-0.0", nil), ("f93c00", "1.0", nil),
        ("fb3ff199999999999a", "1.1", nil), ("f97bff", "65504.0", nil),
        ("fa47c35000", "100000.0", nil),
        ("fa7f7fffff", "3.4028234663852886e+38", nil), ("fb7e37e43c8800759c", "1e+300", nil),
        ("f90001", "5.960464477539063e-08", nil),
        ("f90400", "6.103515625e-05", nil), ("fbc010666666666666", "-4.1", nil),
        ("f97c00", "Infinity", nil), ("f97e00", "NaN", nil),
        ("f9fc00", "-Infinity", nil), ("fa7f800000", "Infinity", "f97c00"),
        ("fa7fc00000", "NaN", "f97e00"),
        ("faff800000", "-Infinity", "f9fc00"), ("fb7ff0000000000000", "Infinity", "f97c00"),
        ("fb7ff8000000000000", "NaN", "f97e00"),
        ("fbfff0000000000000", "-Infinity", "f9fc00"), ("f4", "false", nil), ("f5", "true", nil),
        ("f6", "null", nil),
        ("f7", "undefined", nil), ("f0", "simple(16)", nil), ("f8ff", "simple(255)", nil),
        ("c074323031332d30332d32315432303a30343a30305a", "0(\"2013-03-21T20:04:00Z\")", nil),
        ("c11a514b67b0", "1(1363896240)", nil),
        ("c1fb41d452d9ec200000", "1(1363896240.5)", nil), ("d74401020304", "23(h'01020304')", nil),
        ("d818456449455446", "24(h'6449455446')", nil),
        (
            "d82076687474703a2f2f7777772e6578616d706c652e636f6d", "32(\"http://www.example.com\")",
            nil
        ), ("40", "h''", nil),
        ("4401020304", "h'01020304'", nil), ("60", "\"\"", nil), ("6161", "\"a\"", nil),
        ("62225c", "\"\\\"\\\\\"", nil),
        ("62c3bc", "\"\u{FC}\"", nil), ("64f0908591", "\"\u{10151}\"", nil), ("80", "[]", nil),
        ("83010203", "[1, 2, 3]", nil),
        ("8301820203820405", "[1, [2, 3], [4, 5]]", nil), ("a0", "{}", nil),
        ("a201020304", "{1: 2, 3: 4}", nil),
        ("a26161016162820203", "{\"a\": 1, \"b\": [2, 3]}", nil),
        ("826161a161626163", "[\"a\", {\"b\": \"c\"}]", nil),
        ("5f42010243030405ff", "h'0102030405'", "450102030405"),
        ("7f657374726561646d696e67ff", "\"streaming\"", "6973747265616d696e67"),
        ("9fff", "[]", "80"), ("9f018202039f0405ffff", "[1, [2, 3], [4, 5]]", "8301820203820405"),
        ("83018202039f0405ff", "[1, [2, 3], [4, 5]]", "8301820203820405"),
        ("83019f0203ff820405", "[1, [2, 3], [4, 5]]", "8301820203820405"),
        ("bf61610161629f0203ffff", "{\"a\": 1, \"b\": [2, 3]}", "a26161016162820203"),
        ("826161bf61626163ff", "[\"a\", {\"b\": \"c\"}]", "826161a161626163"),
        ("bf6346756ef563416d7421ff", "{\"Amt\": -2, \"Fun\": true}", "a263416d74216346756ef5"),
    ]

    @Test(arguments: rows)
    func everyRowHasItsDiagnosticNotation(
        _ hex: String,
        _ notation: String,
        _ preferred: String?
    ) throws {
        let value = try decoded(CBORValue.self, hex: hex)
        #expect(value.description == notation)
        let data = try encoded(value) { $0.isDeterministic = true }
        #expect(data.hex == preferred ?? hex)
        #expect(try encoded(decoded(CBORValue.self, data)) { $0.isDeterministic = true } == data)
    }

    @Test(arguments: 0..<8)
    func randomItemsRoundTrip(_ seed: UInt64) throws {
        var items = RandomItems(random: SplitMix64(seed: seed))
        var count = 0
        for _ in 0..<400 {
            let data = Data(items.item(depth: 0))
            guard let value = try? decoded(CBORValue.self, data) else { continue }
            count += 1
            let again = try encoded(value) { $0.isDeterministic = true }
            let read = try decoded(CBORValue.self, again)
            #expect(read.description == value.description, "seed \(seed): \(data.hex)")
            #expect(
                try encoded(read) { $0.isDeterministic = true } == again,
                "seed \(seed): \(data.hex)"
            )
        }
        #expect(count > 50)
    }
}
