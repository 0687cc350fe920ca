import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Types", .ownThreads)
struct TypesTests {
    private func check<Value: Codable & Equatable>(
        _ value: Value,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try roundTrip(value) == value, sourceLocation: sourceLocation)
        #expect(try roundTrip([value]) == [value], sourceLocation: sourceLocation)
        #expect(try roundTrip(["key": value]) == ["key": value], sourceLocation: sourceLocation)
        let deterministic = try encoded(value) { $0.isDeterministic = true }
        #expect(try decoded(Value.self, deterministic) == value, sourceLocation: sourceLocation)
        let described = try encoded(value) { $0.isSelfDescribed = true }
        #expect(described.starts(with: [0xD9, 0xD9, 0xF7]), sourceLocation: sourceLocation)
        #expect(try decoded(Value.self, described) == value, sourceLocation: sourceLocation)
        let integers = try encoded(value) { $0.keyEncodingStrategy = .useIntegerKeys }
        #expect(try decoded(Value.self, integers) == value, sourceLocation: sourceLocation)
    }

    // MARK: Texts

    @Test(arguments: [
        "", "a", "\u{0}", "a\u{0}b", "é", "e\u{301}", "\u{212B}", "🏳️‍🌈", "\u{FFFD}", "\u{10FFFF}",
        "\r\n",
        String(repeating: "ü", count: 70000),
    ])
    func aTextKeepsItsBytes(_ text: String) throws {
        #expect(try Array(roundTrip(text).utf8) == Array(text.utf8))
        #expect(try Array(roundTrip([text])[0].utf8) == Array(text.utf8))
        #expect(try roundTrip([text: 1]).keys.map { Array($0.utf8) } == [Array(text.utf8)])
    }

    @Test func aBridgedTextIsEncodedAsItsBytes() throws {
        let text = NSString(string: "aé水") as String
        #expect(try encoded(text) == encoded("aé水"))
        #expect(
            try encoded(Substring("xaé水x").dropFirst().dropLast().description) == encoded("aé水")
        )
    }

    @Test(arguments: ["61ff", "62c328", "63eda080", "64f4908080", "61c3", "62c080", "7f61ffff"])
    func invalidUTF8ThrowsWhereItIsDecoded(_ hex: String) throws {
        #expect(decodingError { try decoded(String.self, hex: hex) }?.kind == "dataCorrupted")
        // Chunks are validated before decoding, so their error has no coding path.
        #expect(
            decodingError { try decoded([String].self, hex: "81" + hex) }?.path
                == (hex.hasPrefix("7f") ? "" : "Index 0")
        )
        #expect(
            decodingError { try decoded([String: Int].self, hex: "a1 \(hex) 01") }?.kind
                == "dataCorrupted"
        )
    }

    @Test func aCharacterMustNotBeSplitBetweenChunks() throws {
        #expect(
            decodingError { try decoded(String.self, hex: "7f 61c3 61bc ff") }?.kind
                == "dataCorrupted"
        )
    }

    // MARK: Optionals

    @Test func optionalsAreNullOrTheirValue() throws {
        try check(Int?.none)
        try check(Int?.some(1))
        try check([1, nil, 3] as [Int?])
        try check(["a": nil, "b": 2] as [String: Int?])
        try check([nil, ["a", nil]] as [[String?]?])
        #expect(try encoded(Int??.some(.none)).hex == "f6")
        #expect(try encoded(Int???.some(.some(.some(5)))).hex == "05")
        #expect(try roundTrip(Int???.some(.some(.some(5)))) == 5)
        #expect(try decoded([Int?].self, hex: "83f6f701") == [nil, nil, 1])
    }

    private struct Optionals: Codable, Equatable {
        var a: Int?
        var b: [Int?]?
        var c: Int??
        var d: Shape?
        var e: Data?
        var f: Bool?
    }

    @Test func nilPropertiesAreOmitted() throws {
        try check(Optionals())
        try check(Optionals(a: 1, b: [nil], c: 2, d: .point, e: Data(), f: true))
        #expect(try encoded(Optionals()).hex == "a0")
        #expect(
            try decoded(Optionals.self, hex: "a5 6161f6 6162f7 6163f6 6164f6 6165f7") == Optionals()
        )
    }

    // MARK: Dictionaries and sets

    private enum Color: String, Codable, CodingKeyRepresentable { case red, one = "1" }
    private enum Plain: Codable, Hashable { case a, b(Int) }
    private struct Place: Codable, Hashable { var x: Int; var y: [Int] }

    @Test func dictionariesWithKeysOfAnyTypeRoundTrip() throws {
        try check([1: "a", -2: "b", .max: "c", .min: "d"])
        try check(["1": 1, "01": 2, "": 3, "+1": 4, "-1": 5, "-01": 6, "9223372036854775808": 7])
        try check([Color.red: 1, .one: 2])
        try check([Plain.a: [Plain.b(1): 1], .b(2): [:]])
        try check([Place(x: 1, y: []): 1, Place(x: 2, y: [3]): 2])
        try check([1.5: 2.5, -.infinity: .infinity])
        try check([true: false])
        try check([[1, 2]: [3: 4]])
        try check([UInt8(1): UInt64.max])
        #expect(try encoded([1: 2]).hex == "a1613102")
        #expect(try encoded([1: 2]) { $0.keyEncodingStrategy = .useIntegerKeys }.hex == "a10102")
        #expect(try encoded(["1": 2]) { $0.keyEncodingStrategy = .useIntegerKeys }.hex == "a10102")
        #expect(
            try encoded(["01": 2]) { $0.keyEncodingStrategy = .useIntegerKeys }.hex == "a162303102"
        )
    }

    @Test func collectionsKeepTheirElements() throws {
        try check(Set([1, 2, 3]))
        try check([[Int]]())
        try check([[], [[]], [[1], [2, 3]]])
        try check([[Float(1.5)], []])
        try check([1: [2: [3: 4]], 5: [:]])
        try check(Array(0..<1000))
        try check(Dictionary(uniqueKeysWithValues: (0..<500).map { ("key \($0)", $0) }))
        try check([Bool](repeating: true, count: 300))
        try check(Array(UInt8.min...UInt8.max))
        try check(1..<5)
        try check(CollectionOfOne(1).map { $0 })
        try check(IndexSet([1, 2, 3, 700]))
    }

    // MARK: Enums, raw values, classes

    private enum Level: Int, Codable { case low = 1, high = 1000 }
    private struct Wrapper: RawRepresentable, Codable, Equatable { var rawValue: String }
    private struct Flags: OptionSet, Codable { var rawValue: UInt16 }
    private struct Numbered: Codable, Equatable {
        var a = 1
        var b = "b"
        var nested: [Int: Int] = [1: 2]
        enum CodingKeys: Int, CodingKey { case a = 1, b = -1, nested = 300 }
    }

    @Test func enumsRawValuesAndIntegerKeysRoundTrip() throws {
        try check(Shape.point)
        try check(
            Shape.group(
                [.circle(radius: .infinity), .rectangle(0, -0.0), .group([], name: "n")],
                name: nil
            )
        )
        try check([Level.low, .high])
        try check(Wrapper(rawValue: "w"))
        try check(Flags(rawValue: 0xFFFF))
        try check(Numbered())
        try check(Sample.full)
        #expect(
            try encoded(Numbered()) { $0.keyEncodingStrategy = .useIntegerKeys }.hex
                == "a3 01 01 20 6162 19012c a1 01 02".filter { $0 != " " }
        )
        #expect(
            try encoded(Numbered()).hex
                == "a3 6161 01 6162 6162 666e6573746564 a1 6131 02".filter { $0 != " " }
        )
    }

    @Test func anUnknownCaseOrRawValueThrows() throws {
        #expect(decodingError { try decoded(Level.self, hex: "02") }?.kind == "dataCorrupted")
        #expect(decodingError { try decoded(Shape.self, hex: "a1 6161 a0") } != nil)
        #expect(decodingError { try decoded(Shape.self, hex: "a0") } != nil)
    }

    @Test func classesCanEncodeTheirSuperclassInEveryWay() throws {
        let puppy = try roundTrip(Puppy(name: "Rex", tricks: ["sit", "roll"], weeks: 9))
        #expect((puppy.name, puppy.tricks.count, puppy.weeks) == ("Rex", 2, 9))
        let cat = try roundTrip(Cat(name: "Tom", lives: 7))
        #expect((cat.name, cat.lives) == ("Tom", 7))
        let bird = try roundTrip([Bird(name: "Kea", wings: 2)])[0]
        #expect((bird.name, bird.wings) == ("Kea", 2))
        let expected = Tree.map([
            "weeks": 9, "dog": .map(["tricks": ["sit"], "super": .map(["name": "Rex"])]),
        ])
        #expect(
            try decoded(Tree.self, encoded(Puppy(name: "Rex", tricks: ["sit"], weeks: 9)))
                == expected
        )
        #expect(
            try decoded(Tree.self, encoded(Cat(name: "Tom", lives: 7)))
                == .map(["name": "Tom", "lives": 7])
        )
        #expect(
            try decoded(Tree.self, encoded(Bird(name: "Kea", wings: 2))) == [
                2, .map(["name": "Kea"]),
            ]
        )
    }

    @Test func userInfoAndConfigurationsArePassedToTypes() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "factor"))
        let value = Encoding {
            var single = $0.singleValueContainer()
            try single.encode(($0.userInfo[key] as? Int ?? 0) * 2)
        }
        #expect(try encoded([value]) { $0.userInfo[key] = 21 }.hex == "81182a")
        struct Factor: Decodable {
            var factor: Int?
            init(from decoder: any Decoder) throws {
                factor = decoder.userInfo[CodingUserInfoKey(rawValue: "factor")!] as? Int
            }
        }
        #expect(
            try decoded([Factor].self, Data(hex: "8100")) { $0.userInfo[key] = 3 }[0].factor == 3
        )
        struct Scaled: CodableWithConfiguration, Equatable {
            var number: Int
            init(number: Int) { self.number = number }
            init(from decoder: any Decoder, configuration: Int) throws {
                number = try decoder.singleValueContainer().decode(Int.self) / configuration
            }
            func encode(to encoder: any Encoder, configuration: Int) throws {
                var single = encoder.singleValueContainer()
                try single.encode(number * configuration)
            }
        }
        let data = try CBOREncoder().encode(Scaled(number: 7), configuration: 3)
        #expect(data.hex == "15")
        #expect(
            try CBORDecoder().decode(Scaled.self, from: data, configuration: 3) == Scaled(number: 7)
        )
    }
}
