import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Keyed decoding", .ownThreads)
struct KeyedDecodingTests {
    private struct Missing: Decodable {
        var one: Int?
        var twoWords: Int?
    }

    @Test(arguments: [
        "a0", "a1 6161 01", "a2 6161 01 6162 02", "a3 6161 01 6162 02 6163 03",
        "bf 6161 01 6162 02 ff", "bf ff",
    ])
    func aMissingKeyIsNotFound(_ hex: String) throws {
        let value = try decoded(Missing.self, Data(hex: hex)) {
            $0.keyDecodingStrategy = .convertFromSnakeCase
        }
        #expect(value.one == nil)
        #expect(value.twoWords == nil)
        #expect(try decoded(Missing.self, hex: hex).one == nil)
    }

    @Test(arguments: 0..<20)
    func keysCanBeReadRepeatedlyInAnyOrder(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let count = 1 + random.below(40)
        let map = Dictionary(
            uniqueKeysWithValues: (0..<count).map {
                ("key \($0)", Tree.array([.integer($0), .text("\($0)")]))
            }
        )
        var data = try encoded(map)
        // The same map with indefinite length.
        if random.oneIn(2) { data = Data([0xBF]) + data.dropFirst(count < 24 ? 1 : 2) + [0xFF] }
        let script = random
        try withDecoder(data) { (decoder) throws in
            var random = script
            let container = try decoder.container(keyedBy: TextKey.self)
            #expect(Set(container.allKeys.map(\.stringValue)) == Set(map.keys))
            for _ in 0..<LongRun.number(200, usually: 60) {
                let number = random.below(count + 5)
                let key = TextKey(stringValue: "key \(number)")
                let isThere = number < count
                switch random.below(6) {
                case 0: #expect(container.contains(key) == isThere, "seed \(seed)")
                case 1:
                    #expect(
                        try container.decodeIfPresent(Tree.self, forKey: key)
                            == map[key.stringValue],
                        "seed \(seed)"
                    )
                case 2 where isThere:
                    #expect(
                        try container.decode(Tree.self, forKey: key) == map[key.stringValue],
                        "seed \(seed)"
                    )
                case 3 where isThere:
                    var array = try container.nestedUnkeyedContainer(forKey: key)
                    #expect(try array.decode(Int.self) == number, "seed \(seed)")
                case 4 where isThere:
                    #expect(throws: DecodingError.self) {
                        try container.decode(Int.self, forKey: key)
                    }
                    #expect(try container.decodeNil(forKey: key) == false)
                case 5 where isThere:
                    #expect(
                        try Tree(from: container.superDecoder(forKey: key)) == map[key.stringValue],
                        "seed \(seed)"
                    )
                default:
                    guard !isThere else { continue }
                    #expect(
                        decodingError { try container.decode(Int.self, forKey: key) }?.kind
                            == "keyNotFound",
                        "seed \(seed)"
                    )
                    #expect(
                        decodingError { try container.decodeNil(forKey: key) }?.kind
                            == "keyNotFound",
                        "seed \(seed)"
                    )
                }
            }
        }
    }

    @Test func twoContainersOfOneMapCanBeReadAlternately() throws {
        let data = try encoded(
            Tree.map(["a": .map(["x": 1, "y": 2]), "b": .map(["x": 3, "y": 4]), "c": 5])
        )
        try withDecoder(data) { (decoder) throws in
            let (first, second) = (
                try decoder.container(keyedBy: TextKey.self),
                try decoder.container(keyedBy: TextKey.self)
            )
            let a = try first.nestedContainer(keyedBy: TextKey.self, forKey: "a")
            let b = try second.nestedContainer(keyedBy: TextKey.self, forKey: "b")
            #expect(try a.decode(Int.self, forKey: "y") == 2)
            #expect(try b.decode(Int.self, forKey: "y") == 4)
            #expect(try first.decode(Int.self, forKey: "c") == 5)
            #expect(try a.decode(Int.self, forKey: "x") == 1)
            #expect(try b.decode(Int.self, forKey: "x") == 3)
            #expect(try second.decode(Int.self, forKey: "c") == 5)
            #expect(
                a.codingPath.map(\.stringValue) == ["a"] && b.codingPath.map(\.stringValue) == ["b"]
            )
        }
    }

    @Test func unusedKeysAreSkipped() throws {
        struct Point: Decodable, Equatable { var x: Int; var y: Int? }
        #expect(
            try decoded(Point.self, hex: "a5 6130 f0 6178 01 4101 82 f8ff 01 8101 a0 6179 02")
                == Point(x: 1, y: 2)
        )
        #expect(try decoded(Point.self, hex: "a2 c6 6178 01 6179 f7") == Point(x: 1, y: nil))
        #expect(try decoded(Point.self, hex: "bf 7f 6178 ff 01 ff") == Point(x: 1, y: nil))
        let error = decodingError { try decoded(Point.self, hex: "a1 6179 02") }
        guard case .keyNotFound(let key, _) = error else {
            return #expect(error?.kind == "keyNotFound")
        }
        #expect(key.stringValue == "x")
    }

    private struct Snake: Codable, Equatable {
        var oneTwoThree = 1
        var myURLProperty = "u"
        var _private = true
        var plain = [1]
    }

    @Test func keysAreConvertedToAndFromSnakeCase() throws {
        let data = try encoded(Snake()) { $0.keyEncodingStrategy = .convertToSnakeCase }
        guard case .map(let map) = try decoded(Tree.self, data) else {
            return #expect(Bool(false), "no map")
        }
        #expect(Set(map.keys) == ["one_two_three", "my_url_property", "_private", "plain"])
        struct Read: Decodable {
            var oneTwoThree: Int; var myUrlProperty: String; var _private: Bool; var plain: [Int]
        }
        let read = try decoded(Read.self, data) { $0.keyDecodingStrategy = .convertFromSnakeCase }
        #expect(
            (read.oneTwoThree, read.myUrlProperty, read._private, read.plain) == (1, "u", true, [1])
        )
    }

    @Test(arguments: [
        "a", "oneTwo", "myURL", "a1B2", "_a", "a_", "__aB__", "aB_", "éÉ", "", "_", "a_b",
        "isHTTP2Ok",
    ])
    func snakeCaseMatchesJSONEncoder(_ name: String) throws {
        struct Key: Encodable {
            var name: String
            func encode(to encoder: any Encoder) throws {
                var map = encoder.container(keyedBy: TextKey.self)
                try map.encode(1, forKey: TextKey(stringValue: name))
            }
        }
        let json = JSONEncoder()
        json.keyEncodingStrategy = .convertToSnakeCase
        let expected = try JSONDecoder().decode(
            [String: Int].self,
            from: json.encode(Key(name: name))
        )
        #expect(
            try decoded(
                [String: Int].self,
                encoded(Key(name: name)) { $0.keyEncodingStrategy = .convertToSnakeCase }
            )
                == expected
        )
    }

    @Test func dictionaryKeysAreNotConverted() throws {
        let dictionary = ["oneTwo": 1, "one_two": 2, "URL": 3]
        let data = try encoded(dictionary) { $0.keyEncodingStrategy = .convertToSnakeCase }
        #expect(
            try decoded([String: Int].self, data) { $0.keyDecodingStrategy = .convertFromSnakeCase }
                == dictionary
        )
    }

    @Test func customKeyStrategiesReceiveTheCodingPath() throws {
        struct Inner: Codable, Equatable { var a = 1 }
        struct Outer: Codable, Equatable { var inner = [Inner(), Inner()]; var b = 2 }
        let data = try encoded(Outer()) {
            $0.keyEncodingStrategy = .custom {
                TextKey(stringValue: "\($0.count):\($0.last?.stringValue ?? "")")
            }
        }
        #expect(
            try decoded(Tree.self, data)
                == .map(["1:inner": [.map(["3:a": 1]), .map(["3:a": 1])], "1:b": 2])
        )
        let read = try decoded(Outer.self, data) {
            $0.keyDecodingStrategy = .custom {
                TextKey(
                    stringValue: String(($0.last?.stringValue ?? "").drop { $0 != ":" }.dropFirst())
                )
            }
        }
        #expect(read == Outer())
    }

    /// Each scalar type has its own decoding function.
    @Test func anOptionalScalarIsPresentOrNilOrMissingOrOfAnotherType() throws {
        // 1, nil, "a" and true
        try withDecoder(Data(hex: "a4 616e 01 617a f6 6174 6161 6162 f5")) {
            let map = try $0.container(keyedBy: TextKey.self)
            func check<Value: Equatable>(
                _ decode: (TextKey) throws -> Value?,
                _ key: TextKey,
                _ value: Value
            ) throws {
                for name in ["n", "t", "b"] where TextKey(stringValue: name) != key {
                    #expect(throws: DecodingError.self) { try decode(TextKey(stringValue: name)) }
                }
                #expect(try decode("z") == nil)
                #expect(try decode("absent") == nil)
                #expect(try decode(key) == value)
            }
            try check({ try map.decodeIfPresent(Bool.self, forKey: $0) }, "b", true)
            try check({ try map.decodeIfPresent(String.self, forKey: $0) }, "t", "a")
            try check({ try map.decodeIfPresent(Double.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Float.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int8.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int16.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int32.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int64.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(Int128.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt8.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt16.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt32.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt64.self, forKey: $0) }, "n", 1)
            try check({ try map.decodeIfPresent(UInt128.self, forKey: $0) }, "n", 1)
        }
    }
}
