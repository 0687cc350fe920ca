import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Deterministic encoding", .ownThreads)
struct DeterministicTests {
    private func deterministic(_ value: some Encodable, integerKeys: Bool = false) throws -> String
    {
        try encoded(value) {
            $0.isDeterministic = true
            if integerKeys { $0.keyEncodingStrategy = .useIntegerKeys }
        }.hex
    }

    /// For comparing two values of one type: what is encoded in the order of a hash table is sorted
    /// by its bytes.
    @Test func equalSetsAndDictionariesAreSorted() throws {
        struct Collections: Codable, Hashable {
            var words: Set<String>
            var nested: [Set<[Int]>: [Int: Set<Double>]]
            var list: [Set<Int>]
        }
        func sorted(_ value: Collections) throws -> Data {
            try encoded(value) {
                $0.isDeterministic = true
                $0.unorderedCollections = .sorted
            }
        }
        let words = (0..<100).map { "\($0)" }
        func make(_ last: Int = 9) -> Collections {
            Collections(
                words: Set(words.shuffled()),
                nested: [Set([[1], [2], [3]].shuffled()): [1: [0.5, 1], 2: []], []: [:]],
                list: [Set((0..<9).shuffled()), [last, 8, 7]]
            )
        }
        for _ in 0..<20 { #expect(try sorted(make()) == sorted(make())) }
        #expect(try sorted(make()) != sorted(make(10)))
        #expect(throws: UnorderedCollectionError.self) {
            _ = try encoded(make()) { $0.unorderedCollections = .rejected }
        }
    }

    /// The key order of RFC 8949, 4.2.1, for integers and texts.
    @Test func keysAreSortedByTheirBytes() throws {
        struct Key: CodingKey, Hashable {
            var stringValue: String
            var intValue: Int?
            init(_ integer: Int) { (stringValue, intValue) = ("i\(integer)", integer) }
            init(_ text: String) { (stringValue, intValue) = (text, nil) }
            init?(stringValue: String) { nil }
            init?(intValue: Int) { nil }
        }
        let keys = [
            Key(10), Key(100), Key(1000), Key(-1), Key(-25), Key(""), Key("z"), Key("aa"),
            Key(String(repeating: "a", count: 24)),
        ]
        let expected = try keys.map {
            try $0.intValue.map { try encoded($0) } ?? encoded($0.stringValue)
        }.map { $0.hex + "f6" }.joined()
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let shuffled = keys.shuffled(using: &random)
            let value = Encoding {
                var map = $0.container(keyedBy: Key.self)
                for key in shuffled { try map.encodeNil(forKey: key) }
            }
            #expect(try deterministic(value, integerKeys: true) == "a9" + expected, "seed \(seed)")
        }
    }

    @Test func shorterTextsComeFirst() throws {
        #expect(
            try deterministic(["aa": 1, "b": 2, "": 3, "é": 4])
                == "a4 60 03 6162 02 626161 01 62c3a9 04".filter { $0 != " " }
        )
    }

    @Test(arguments: [1, 5, 23, 24, 25, 100, 300])
    func equalDictionariesEncodeToEqualBytes(_ count: Int) throws {
        let keys = (0..<count).map { "\($0 * 7919)" }
        var outcomes: Set<String> = []
        for seed in 0..<5 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var dictionary = Dictionary<String, [String: Int]>(minimumCapacity: random.below(1000))
            for key in keys.shuffled(using: &random) { dictionary[key] = ["b": 1, "a": 2, key: 3] }
            outcomes.insert(try deterministic([dictionary]))
        }
        #expect(outcomes.count == 1)
        let dictionary = Dictionary(
            uniqueKeysWithValues: keys.map { ($0, ["b": 1, "a": 2, $0: 3]) }
        )
        #expect(
            try decoded([[String: [String: Int]]].self, hex: #require(outcomes.first)) == [
                dictionary
            ]
        )
    }

    @Test func nestedMapsAreSorted() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try map.encode(
                Encoding {
                    var inner = $0.container(keyedBy: TextKey.self);
                    try inner.encode(1, forKey: "y"); try inner.encode(2, forKey: "x")
                },
                forKey: "b"
            )
            var array = map.nestedUnkeyedContainer(forKey: "a")
            var late = array.nestedContainer(keyedBy: TextKey.self)
            try late.encode(3, forKey: "d")
            try map.encode(URL(string: "a:b"), forKey: "c")
            try late.encode(4, forKey: "c")
        }
        let expected = "a3 6161 81a2 6163 04 6164 03 6162 a2 6178 02 6179 01 6163 d820 63613a62"
            .filter { $0 != " " }
        #expect(try deterministic(value) == expected)
    }

    @Test func aKeyThatIsEncodedTwiceHasItsLastValue() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try map.encode(1, forKey: "b")
            try map.encode([2], forKey: "a")
            try map.encode("last", forKey: "b")
        }
        #expect(try deterministic(value) == "a2 6161 8102 6162 646c617374".filter { $0 != " " })
        #expect(try encoded(value).hex == "a2 6162 646c617374 6161 8102".filter { $0 != " " })
    }

    @Test func equalKeysWithDifferentBytesKeepTheLastValue() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try map.encode(1, forKey: "\u{E9}")
            try map.encode(2, forKey: "e")
            try map.encode(3, forKey: "e\u{301}")
        }
        #expect(try deterministic(value) == "a2 6165 02 62c3a9 03".filter { $0 != " " })
        #expect(try encoded(value).hex == "a2 62c3a9 03 6165 02".filter { $0 != " " })
        #expect(try decoded([String: Int].self, encoded(value)) == ["\u{E9}": 3, "e": 2])
    }
}
