import CBORCoding
import Foundation
import TestThreads
import Testing

/// A map never loses an entry: two keys that become one key of the type are an error, and so is a
/// key that a dictionary cannot have.
@Suite("Equal keys", .ownThreads)
struct EqualKeysTests {
    private enum Day: String, Codable, CodingKeyRepresentable { case one = "1", two = "2" }
    private enum Level: Int, Codable, CodingKeyRepresentable { case low = 1, high = 2 }

    /// A key that ignores case.
    private struct Name: Codable, Hashable, CodingKeyRepresentable {
        var text: String
        var codingKey: any CodingKey { TextKey(stringValue: text) }
        init?<Key: CodingKey>(codingKey: Key) { text = codingKey.stringValue.lowercased() }
    }

    private struct Wrapped<Value: Decodable>: Decodable {
        var value: Value
        init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
    }

    /// The pairs of a map, and whether it is a `[String: Int]`, an `[Int: Int]`, a `[Day: Int]`, a
    /// `[Level: Int]` and a `[Name: Int]`.
    private static let maps: [(pairs: [String], kinds: String)] = [
        (["01 01", "02 02"], "SIDLN"), (["6131 01", "02 02"], "SIDLN"),
        (["6131 01", "6132 02"], "SIDLN"), (["20 01", "00 02"], "SIN"),
        (["01 01", "6131 02"], ""), (["6131 01", "01 02", "02 03"], ""),
        (["20 01", "622d31 02"], ""),
        (["6131 01", "623031 02"], "SN"), (["01 01", "623031 02"], "SN"),
        (["6131 01", "622b31 02"], "SN"),
        (["6130 01", "622d30 02"], "SN"),
        (["02 01", "63303032 02"], "SN"), (["623031 01", "6132 02"], "SILN"),
        (["6141 01", "6161 02"], "S"),
        (["6141 01", "6162 02"], "SN"),
        // Keys in other forms: tagged, of indefinite length, longer than necessary.
        (["c1 01 01", "02 02"], "SIDLN"), (["c1 01 01", "01 02"], ""),
        (["c6 6131 01", "6131 02"], ""), (["c6 6131 01", "01 02"], ""),
        (["7f 6131 ff 01", "01 02"], ""), (["7f 6131 ff 01", "6132 02"], "SIDLN"),
        (["1801 01", "6131 02"], ""),
        (["c6 6131 01", "d864 6131 02"], ""),
        // Keys that are no text and no integer of 64 bits.
        (["f93c00 01"], ""), (["f93c00 01", "6131 02"], ""), (["4131 01"], ""),
        (["4131 01", "6131 02"], ""),
        (["c2 4101 01", "6131 02"], ""),
        (["c2 49 010000000000000000 01"], ""), (["1b8000000000000000 01"], ""),
        (["3b8000000000000000 01", "6132 02"], ""),
        (["80 01"], ""), (["a0 01"], ""), (["f5 01"], ""), (["f6 01", "6131 02"], ""),
        (["c1 4131 01"], ""),
    ]

    @Test(arguments: maps)
    func aDictionaryHasEveryEntryOrThrows(_ pairs: [String], _ kinds: String) throws {
        func check<Key: Hashable & Decodable>(_ key: Key.Type, _ kind: Character) throws {
            for order in [pairs, pairs.reversed()] {
                let hex = "a\(order.count)" + order.joined()
                for map in [hex, "bf" + order.joined() + "ff"] {
                    let isValid = kinds.contains(kind)
                    let forms: [() throws -> [Key: Int]?] = [
                        { try decoded([Key: Int].self, hex: map) },
                        { try decoded([[Key: Int]].self, hex: "81" + map).first },
                        { try decoded([String: [Key: Int]].self, hex: "a1 6161" + map)["a"] },
                        {
                            try decoded([String: [Key: Int]?].self, hex: "a1 6161 d864" + map)["a"]
                                ?? nil
                        },
                    ]
                    for form in forms {
                        if isValid {
                            #expect(try form()?.count == pairs.count, "\(Key.self), \(map)")
                        } else {
                            #expect(decodingError(form) != nil, "\(Key.self), \(map)")
                        }
                    }
                }
            }
        }
        try check(String.self, "S")
        try check(Int.self, "I")
        try check(Day.self, "D")
        try check(Level.self, "L")
        try check(Name.self, "N")
    }

    @Test func anErrorHasThePathOfTheMap() {
        let error = decodingError {
            try decoded(
                [String: [String: [Int: Int]]].self,
                hex: "a1 6161 a1 6162 a2 01 01 6131 02"
            )
        }
        #expect(error?.path == "a/b" && error?.kind == "dataCorrupted")
        #expect(
            error?.context?.debugDescription
                == "Two keys of the map are the same key of the type. Decode a CBORValue instead."
        )
        let other = decodingError { try decoded([[String: Int]].self, hex: "81 a1 f93c00 01") }
        #expect(
            other?.path == "Index 0"
                && other?.context?.debugDescription.contains("must be a text or an integer") == true
        )
    }

    @Test func aTypeThatDecodesADictionaryItselfGetsEveryEntryOrThrows() throws {
        #expect(
            try decoded(Wrapped<[String: Int]>.self, hex: "a2 6131 01 623031 02").value == [
                "1": 1, "01": 2,
            ]
        )
        for hex in ["a2 01 01 6131 02", "a1 f93c00 01", "a2 c6 6131 01 6131 02"] {
            #expect(
                decodingError { try decoded(Wrapped<[String: Int]>.self, hex: hex).value } != nil,
                "\(hex)"
            )
            #expect(
                decodingError { try decoded(Wrapped<[Int: Int]>.self, hex: hex).value } != nil,
                "\(hex)"
            )
        }
    }

    @Test func aStructHasNoTwoEntriesOfOneName() throws {
        struct Point: Codable, Equatable {
            enum CodingKeys: Int, CodingKey { case first = 1, secondPart = 2 }
            var first: Int
            var secondPart: Int?
        }
        let first = "656669727374"
        #expect(try decoded(Point.self, hex: "a1 \(first) 07") == Point(first: 7))
        #expect(try decoded(Point.self, hex: "a2 01 07 02 08") == Point(first: 7, secondPart: 8))
        // Unknown keys may be of any kind.
        #expect(
            try decoded(Point.self, hex: "a6 01 07 f4 00 80 00 6131 00 05 00 6135 00")
                == Point(first: 7)
        )
        for hex in [
            "a2 01 07 \(first) 08", "a2 \(first) 07 01 08", "a2 \(first) 07 c6 \(first) 08",
            "a2 c1 01 07 01 08",
        ] {
            #expect(
                decodingError { try decoded(Point.self, hex: hex) }?.kind == "dataCorrupted",
                "\(hex)"
            )
        }
        for names in [
            ["second_part", "secondPart"], ["second_part", "second__part"],
            ["second_part", "Second_Part"],
        ] {
            let map = Dictionary(uniqueKeysWithValues: (names + ["first"]).map { ($0, 1) })
            let error = decodingError {
                try decoded(Point.self, encoded(map)) {
                    $0.keyDecodingStrategy = .convertFromSnakeCase
                }
            }
            #expect(error?.kind == "dataCorrupted", "\(names)")
            #expect(
                try decoded([String: Int].self, encoded(map)) {
                    $0.keyDecodingStrategy = .convertFromSnakeCase
                } == map
            )
            let custom = decodingError {
                try decoded(Point.self, encoded(map)) {
                    $0.keyDecodingStrategy = .custom { _ in TextKey(stringValue: "first") }
                }
            }
            #expect(custom?.kind == "dataCorrupted")
        }
        // Names that share their letters, but not their form in camel case.
        let other = try encoded(["_first": 1, "first": 2, "second_part": 3, "éé": 4])
        #expect(
            try decoded(Point.self, other) { $0.keyDecodingStrategy = .convertFromSnakeCase }
                == Point(first: 2, secondPart: 3)
        )
    }

    @Test func aDictionaryOfEveryKindOfKeyRoundTrips() throws {
        for strategy in [CBOREncoder.KeyEncodingStrategy.useDefaultKeys, .useIntegerKeys] {
            func check<Key: Codable & Hashable>(_ map: [Key: Int]) throws {
                #expect(
                    try decoded([Key: Int].self, encoded(map) { $0.keyEncodingStrategy = strategy })
                        == map
                )
                #expect(
                    try decoded(
                        [[Key: Int]?].self,
                        encoded([map, nil]) { $0.keyEncodingStrategy = strategy }
                    ) == [map, nil]
                )
            }
            try check(["1": 1, "01": 2, "-0": 3, "+1": 4, "": 5, "a": 6, "1.0": 7])
            try check(
                Dictionary(
                    uniqueKeysWithValues: [0, 1, -1, 23, 24, 1000, Int.max, .min].map { ($0, $0) }
                )
            )
            try check([Day.one: 1, .two: 2])
            try check([Level.low: 1, .high: 2])
        }
    }

    /// A type may encode one key twice, and the last value counts. Two keys that a strategy
    /// converts to one would lose a value.
    @Test func encodingThrowsIfTwoKeysAreConvertedToOne() throws {
        let names: [(String, String)] = [
            ("userName", "user_name"), ("\u{E9}A", "e\u{301}_a"), ("user_name", "userName"),
        ]
        for (first, second) in names {
            let writings: [(KeyedEncodingContainer<TextKey>, TextKey) throws -> Void] = [
                { (map, key) throws in
                    var map = map
                    try map.encode(1, forKey: key)
                },
                { (map, key) throws in
                    var map = map
                    try map.encode(["a": 1], forKey: key)
                },
                { (map, key) throws in
                    var map = map
                    var nested = map.nestedContainer(keyedBy: TextKey.self, forKey: key)
                    try nested.encode(
                        1,
                        forKey: TextKey(stringValue: key.stringValue.filter { $0 != "_" })
                    )
                },
            ]
            for write in writings {
                func value(_ keys: [String]) -> [Encoding] {
                    [
                        Encoding { encoder in
                            for key in keys {
                                try write(
                                    encoder.container(keyedBy: TextKey.self),
                                    TextKey(stringValue: key)
                                )
                            }
                        }
                    ]
                }
                for isDeterministic in [false, true] {
                    let change: (inout CBOREncoder) -> Void = {
                        ($0.keyEncodingStrategy, $0.isDeterministic) = (
                            .convertToSnakeCase, isDeterministic
                        )
                    }
                    #expect(throws: EncodingError.self) {
                        try encoded(value([first, "a", second]), change)
                    }
                    #expect(try !encoded(value([first, "a", first]), change).isEmpty)
                    #expect(try !encoded(value([first, second])).isEmpty)
                }
            }
        }
        // The keys of a dictionary are not converted.
        #expect(
            try !encoded(["userName": 1, "user_name": 2]) {
                $0.keyEncodingStrategy = .convertToSnakeCase
            }.isEmpty
        )
    }
}
