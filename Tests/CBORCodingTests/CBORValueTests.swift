import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("CBORValue", .ownThreads)
struct CBORValueTests {
    private let person: CBORValue = [
        "name": "Ann", "born": .tagged(1, 362_188_800), "scores": [1.5, 2, .null, true],
        7: .bytes(Data([1, 2])),
    ]

    @Test func aValueRoundTrips() throws {
        #expect(try roundTrip(person) == person)
        #expect(
            try roundTrip(["a": person, "b": .undefined, "c": .simple(255)]) == [
                "a": person, "b": .undefined, "c": .simple(255),
            ]
        )
    }

    @Test func subscriptsReturnEntriesAndElements() {
        #expect(person["name"] == "Ann")
        #expect(person["scores"]?[0] == 1.5)
        #expect(person[7] == nil && person[CBORValue.integer(7)] == .bytes(Data([1, 2])))
        #expect(
            person["scores"]?[4] == nil && person["nobody"] == nil && person["name"]?["x"] == nil
                && person["name"]?[0] == nil
        )
    }

    @Test func anIntegerThatFitsHasAnIntValue() {
        for number in [0, -1, 362_188_800, Int.min, .max] {
            #expect(CBORValue.integer(Int128(number)).intValue == number)
        }
        let others: [CBORValue] = [
            .integer(Int128(Int.max) + 1), .integer(Int128(Int.min) - 1), .integer(.max), 1.0, "1",
            true, .null, .tagged(1, 1), [1], [:],
        ]
        for value in others { #expect(value.intValue == nil) }
    }

    @Test func theDescriptionIsDiagnosticNotation() {
        #expect(
            person.description
                == """
                {\"born\": 1(362188800), \"name\": \"Ann\", \"scores\": [1.5, 2, null, true], 7: \
                h'0102'}
                """
        )
        #expect(CBORValue.text("a\"\\\n\u{1}é").description == "\"a\\\"\\\\\\n\\u0001é\"")
    }

    @Test func aTypeDecodesFromItsCBORValueAndBack() throws {
        struct Person: Codable, Equatable {
            var name = "Ann"
            var age = 30
            var data = Data([255])
        }
        let value = try decoded(CBORValue.self, encoded(Person()))
        #expect(value == ["name": "Ann", "age": 30, "data": .bytes(Data([255]))])
        #expect(try decoded(Person.self, encoded(value)) == Person())
    }

    @Test(arguments: [
        (UInt8(0), true), (19, true), (20, false), (23, false), (24, false), (31, false),
        (32, true), (255, true),
    ])
    func onlyUnassignedSimpleValuesCanBeEncoded(_ number: UInt8, _ isValid: Bool) throws {
        if isValid {
            #expect(try roundTrip(CBORValue.simple(number)) == .simple(number))
        } else {
            #expect(throws: EncodingError.self) { try encoded(CBORValue.simple(number)) }
        }
    }

    @Test func keysAreSortedByTheirBytes() throws {
        let value: CBORValue = ["b": 1, "aa": 2, 10: 3, -1: 4, false: 5, [100]: 6]
        #expect(try encoded(value) == Data(hex: "a6 0a03 2004 616201 62616102 81186406 f405"))
    }

    @Test func theNestingLimitApplies() throws {
        var value = CBORValue.null
        for _ in 0..<512 { value = [value] }
        #expect(try roundTrip(value) == value)
        #expect(throws: EncodingError.self) { try encoded([value] as CBORValue) }
    }

    @Test func otherCodersThrow() {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([person]) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([CBORValue].self, from: Data("[1]".utf8))
        }
    }
}
