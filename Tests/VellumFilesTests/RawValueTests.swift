import CBORCoding
import Foundation
import TestThreads
import Testing
import VellumFiles

/// Values as a person reads them.
@Suite(.ownThreads)
struct RawValueTests {
    private struct Everything: Encodable {
        enum State: Encodable { case open, at(Int), between(Int, high: Int) }
        var createdAt = Date(timeIntervalSinceReferenceDate: 794_217_600.25)
        var decimal = Decimal(string: "-12.3400")
        var huge = Decimal(string: "123e3")
        var small = Decimal(string: "0.005")
        var data = Data([0, 255, 16])
        var link = URL(string: "https://example.org/a?b")
        var id = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
        var states = [State.open, .at(5), .between(1, high: 2)]
        var optional: Int?
        var list: [String: Int] = ["b": 1, "a": 2]
        var number = Double.nan
        var population = 794_217_600.0
        var text = "a\"\\\n\u{1B}[31m\u{202E}\u{7F}é"
    }

    @Test func everyKindOfValuePrintsAsAPersonReadsIt() throws {
        let value = try CBORDecoder().decode(
            CBORValue.self,
            from: try CBOREncoder().encode(Everything())
        )
        #expect(
            value.json() == #"""
                {"createdAt":794217600.25,"data":"AP8Q","decimal":-12.34,\#
                "huge":123000,"id":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8",\#
                "link":"https://example.org/a?b","list":{"a":2,"b":1},"number":"NaN",\#
                "population":794217600.0,"small":0.005,\#
                "states":[{"open":{}},{"at":{"_0":5}},{"between":{"_0":1,"high":2}}],\#
                "text":"a\"\\\n\u001b[31m\u202e\u007fé"}
                """#
        )
        #expect(
            value.json(dateFields: ["createdAt"]).contains(
                #""createdAt":"2026-03-03T08:00:00.250Z""#
            )
        )
    }

    @Test(
        arguments: [
            (.map([:]), "{}"), (.array([]), "[]"), (.null, "null"), (.undefined, "null"),
            (.simple(7), "7"),
            (.integer(.max), "\(Int128.max)"),
            (.float(-.infinity), "\"-Infinity\""), (.float(0.1), "0.1"),
            (.map([1: "a", .bytes(Data([1])): "b"]), #"{"1":"a","AQ==":"b"}"#),
            (.tagged(99, 5), "5"), (.tagged(1, 0), "\"1970-01-01T00:00:00Z\""),
            (.tagged(1, .float(1e300)), "1e+300"), (.tagged(1, .float(.nan)), "\"NaN\""),
            (.map(["items": [:]]), #"{"items":{}}"#),
            (.map(["createdAt": 1_767_225_600]), #"{"createdAt":1767225600}"#),
            (.integer(Int128(UInt64.max)), "18446744073709551615"),
            (.tagged(1, -62_135_596_800), "\"0001-01-01T00:00:00Z\""),
            (.tagged(1, -12_219_292_801), "\"1582-10-14T23:59:59Z\""),
            (.tagged(1, .float(-14_831_769_599.5)), "\"1500-01-01T00:00:00.500Z\""),
            (.tagged(4, [-400, 1]), "0.\(String(repeating: "0", count: 399))1"),
            (.tagged(4, [.integer(1 << 40), 1]), "[1099511627776,1]"),
        ] as [(CBORValue, String)]
    )
    func oddValuesAreJSON(_ value: CBORValue, _ text: String) { #expect(value.json() == text) }

    /// The quotes of a name in a name in a name would double its length with each level.
    @Test func mapsAsKeysOfMapsAreNotShownForEver() throws {
        var value: CBORValue = "x"
        for _ in 0..<200 { value = .map([value: 0]) }
        #expect(value.json().utf8.count < 1000)
        #expect(
            try JSONDecoder().decode([String: Int].self, from: Data(value.json().utf8)).count == 1
        )
        #expect(CBORValue.map([.map(["a": 1]): 2]).json() == #"{"{\"a\":1}":2}"#)
    }

    @Test func aPrettyValueHasALineForEachField() {
        let value: CBORValue = ["a": [1, ["b": true]], "c": [:]]
        #expect(
            value.json(isPretty: true)
                == "{\n  \"a\": [\n    1,\n    {\n      \"b\": true\n    }\n  ],\n  \"c\": {}\n}"
        )
    }

    /// What a stranger writes is JSON that a strict reader takes, and has no character that a
    /// terminal obeys.
    @Test func everyScalarIsEscapedAsJSONDemands() throws {
        // All of the first two planes and the tags; of what is alike beyond them, a part.
        let far = Array(stride(from: UInt32(0x20000), through: 0x10FFFF, by: 0x400))
        let starts =
            Array(stride(from: UInt32(0), to: 0x20000, by: 0x400)) + [0xE0000]
            + LongRun.cases(far, usually: 60)
        for start in starts {
            let text = String(
                String.UnicodeScalarView((start..<start + 0x400).compactMap(Unicode.Scalar.init))
            )
            let json = CBORValue.text(text).json()
            #expect(try JSONDecoder().decode(String.self, from: Data(json.utf8)) == text)
            #expect(
                !json.unicodeScalars.contains {
                    $0.properties.generalCategory == .control || $0.properties.isBidiControl
                }
            )
        }
    }
}
