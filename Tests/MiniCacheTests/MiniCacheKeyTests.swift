import Foundation
import MiniCache
import TestThreads
import Testing

/// Which keys are equal, which are invalid, and how they are listed.
@Suite(.ownThreads)
struct MiniCacheKeyTests {
    let temporary = TemporaryCaches()

    func cache<Key: Codable>(_ key: Key.Type) -> MiniCache<Key, Int> {
        temporary.manager.cache(cacheName: "Keys", cacheVersion: .custom("1"), maxAge: .days(1))
    }

    struct Place: Codable, Equatable {
        var name: String
        var height: Double
        var tags: [String: [Int]] = [:]
    }

    enum Suit: String, Codable { case hearts, spades }
    enum Rank: Int, Codable { case ace = 1 }

    /// M5, P44
    @Test func keysOfAnyTypeAreComparedByTheirContents() throws {
        let cache = cache(Place.self)
        cache[Place(name: "é", height: -0.0, tags: ["b": [1], "é": [2], "a": []])] = 1
        #expect(
            cache[Place(name: "e\u{301}", height: 0, tags: ["e\u{301}": [2], "a": [], "b": [1]])]
                == 1
        )
        #expect(cache[Place(name: "é", height: 1, tags: [:])] == nil)
        #expect(
            try cache.keys() == [Place(name: "é", height: 0, tags: ["b": [1], "é": [2], "a": []])]
        )
    }

    /// The iteration order of a dictionary does not matter.
    @Test func namesAreSorted() throws {
        let cache = cache([String: Int].self)
        let names = (0..<50).map { "name \($0)" }
        cache[Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })] = 1
        var backwards: [String: Int] = [:]
        backwards.reserveCapacity(1000)
        for name in names.reversed() { backwards[name] = 1 }
        #expect(cache[backwards] == 1)
    }

    @Test func aDictionaryWithIntegerKeysIsAKey() throws {
        let cache = cache([Int: String].self)
        cache[[1: "a", 10: "b", 2: "c"]] = 1
        #expect(cache[[10: "b", 2: "c", 1: "a"]] == 1)
        #expect(try cache.keys() == [[1: "a", 2: "c", 10: "b"]])
    }

    struct Measure<Number: Codable & Sendable>: Codable {
        var name = "measure"
        var bytes = Data([1, 2, 3])
        var isExact = true
        var missing: [Int?] = [nil]
        var number: Number
    }

    /// The first is compared by its bytes, and the others are decoded and normalized.
    @Test func aKeyThatNeedsNoNormalizationIsEqualToOnesThatDo() throws {
        cache(Measure<Int>.self)[Measure(number: -300)] = 1
        #expect(cache(Measure<Double>.self)[Measure(number: -300)] == 1)
        #expect(cache(Measure<Decimal>.self)[Measure(number: -300)] == 1)
        #expect(cache(Measure<Double>.self)[Measure(number: -300.5)] == nil)
        cache([String].self)[["e"]] = 2
        #expect(cache([String].self)[["é"]] == nil)
    }

    @Test func anIntegerIsNotAString() throws {
        cache(Int.self)[1] = 1
        #expect(cache(String.self)["1"] == nil)
        #expect(cache(String.self)["\u{1}1"] == nil)
        cache(String.self)["1"] = 2
        cache(String.self)["\u{1}1"] = 3
        cache(String.self)["\u{1}\u{1}1"] = 4
        #expect(cache(Int.self)[1] == 1)
        #expect(cache(String.self)["1"] == 2)
        #expect(cache(String.self)["\u{1}1"] == 3)
        #expect(cache(String.self)["\u{1}\u{1}1"] == 4)
    }

    @Test func equalNumbersOfDifferentTypesAreOneKey() throws {
        cache(Int.self)[-12] = 1
        #expect(cache(Int64.self)[-12] == 1)
        #expect(cache(Int8.self)[-12] == 1)
        #expect(cache(Double.self)[-12] == 1)
        #expect(cache(Decimal.self)[-12] == 1)
        cache(UInt64.self)[.max] = 2
        #expect(cache(UInt64.self)[.max] == 2)
        #expect(cache(Int.self)[-1] == nil)
        cache(Int.self)[.min] = 3
        #expect(cache(Int64.self)[.min] == 3)
        cache(Float.self)[0.25] = 4
        #expect(cache(Double.self)[0.25] == 4)
        cache([Double].self)[[1, -0.0, 0x1p100]] = 7
        #expect(cache([Int128].self)[[1, 0, 1 << 100]] == 7)
        cache(Double.self)[-0.0] = 5
        #expect(cache(Int.self)[0] == 5)
        cache(Rank.self)[.ace] = 6
        #expect(cache(Int.self)[1] == 6)
    }

    /// `Double(Float(0.1))` is not equal to 0.1.
    @Test func differentNumbersAreDifferentKeys() {
        cache(Float.self)[0.1] = 1
        #expect(cache(Double.self)[0.1] == nil)
        #expect(cache(Double.self)[Double(Float(0.1))] == 1)
        cache(Double.self)[0.1] = 2
        #expect(cache(Double.self)[0.1.nextUp] == nil)
        #expect(cache(Float.self)[0.1] == 1)
    }

    @Test func decimalsAreComparedByValue() throws {
        let exponents = (
            Decimal(sign: .plus, exponent: -1, significand: 15),
            Decimal(sign: .plus, exponent: -3, significand: 1500)
        )
        cache(Decimal.self)[exponents.0] = 1
        #expect(cache(Decimal.self)[exponents.1] == 1)
        let large = (
            Decimal(sign: .minus, exponent: 20, significand: 3),
            Decimal(sign: .minus, exponent: 0, significand: 3)
        )
        cache(Decimal.self)[large.0] = 2
        #expect(cache(Decimal.self)[large.1] == nil)
        cache(Decimal.self)[Decimal(sign: .plus, exponent: 100, significand: 7)] = 3
        cache(Decimal.self)[0] = 4
        #expect(cache(Int.self)[0] == 4)
        let keys = try cache(Decimal.self).keys()
        #expect(
            keys == [0, Decimal(sign: .plus, exponent: 100, significand: 7), large.0, exponents.0]
        )
    }

    @Test func anEnumIsItsRawValue() throws {
        cache(Suit.self)[.spades] = 1
        #expect(cache(String.self)["spades"] == 1)
        #expect(try cache(Suit.self).keys() == [.spades])
    }

    @Test func keysAreListedAsTheyWereSet() throws {
        let texts = ["", "foo", "\u{1}", "\u{1}1", "\u{1}\u{301}", "\"\\\n", "1", "👍"]
        for text in texts { cache(String.self)[text] = 1 }
        #expect(
            try cache(String.self).keys().map { Array($0.utf8) }
                == texts.reversed().map { Array($0.utf8) }
        )
        try cache(String.self).removeAll()

        for number in [0, -1, Int.max, Int.min, 42] { cache(Int.self)[number] = 1 }
        #expect(try cache(Int.self).keys() == [42, Int.min, Int.max, -1, 0])
        try cache(Int.self).removeAll()

        let date = Date(timeIntervalSinceReferenceDate: 1234.5678)
        cache(Date.self)[date] = 1
        #expect(try cache(Date.self).keys() == [date])
        try cache(Date.self).removeAll()

        let url = try #require(URL(string: "https://example.com/a?b=c#d"))
        cache(URL.self)[url] = 1
        #expect(try cache(URL.self).keys() == [url])
        try cache(URL.self).removeAll()

        let data = Data([0, 1, 255])
        cache(Data.self)[data] = 1
        #expect(try cache(Data.self).keys() == [data])
    }

    @Test func keysOfEveryKindAreListedAsTheyWereSet() throws {
        func expectListed<Key: Codable & Equatable>(_ key: Key) throws {
            let cache = cache(Key.self)
            cache[key] = 1
            #expect(cache[key] == 1)
            #expect(try cache.keys() == [key])
            try cache.removeAll()
        }
        try expectListed(true)
        try expectListed(Int?.none)
        try expectListed(Int?.some(-7))
        try expectListed(UUID())
        try expectListed([URL(fileURLWithPath: "/tmp/ü")])
        try expectListed(Place(name: "\u{1}?:", height: 1e300, tags: ["": [.min, .max]]))
        try expectListed([String?]([nil, "a", ""]))
        try expectListed(UInt128.max)
        try expectListed(Int128.min)
        try expectListed(Float.leastNonzeroMagnitude)
        try expectListed(-Double.greatestFiniteMagnitude)
        try expectListed("\u{1}:oQ==")
        try expectListed("\u{1}?e30=")
        try expectListed([Decimal(string: "-0.1"), 12, nil])
        try expectListed(Date(timeIntervalSinceReferenceDate: 0.1))
        try expectListed([Date.distantPast, .distantFuture])
        try expectListed(DateInterval(start: .distantPast, duration: 1.5))
        try expectListed(Duration.nanoseconds(-1))
        try expectListed(CGFloat(0.1))
        try expectListed(0..<3)
        try expectListed(IndexSet([1, 2, 5]))
        try expectListed(Locale(identifier: "de_CH"))
        try expectListed(TimeZone(identifier: "Europe/Zurich"))
    }

    /// A combining mark forms one character with the character before it.
    @Test func marksAfterControlCharactersAreKept() throws {
        let cache = cache([String].self)
        cache[["\u{1A}\u{300}"]] = 1
        cache[["\u{1A}\u{301}"]] = 2
        #expect(cache[["\u{1A}\u{300}"]] == 1)
        #expect(try cache.keys().count == 2)
        #expect(try cache.keys().first?.first?.unicodeScalars.map(\.value) == [0x1A, 0x300])
    }

    // MARK: Invalid keys

    struct Nested: Codable, Equatable {
        var parts: [Optional<Set<Int>>]
    }

    struct Loose: Codable {
        var numbers: [Suit: Int]
    }

    struct Empty: Codable {
        init() {}
        init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {}
    }

    func expectRefused<Key: Codable>(_ key: Key, _ expected: VellumError.Code = .invalidKey) throws
    {
        let cache = cache(Key.self)
        cache[key] = 1
        #expect(cache[key] == nil)
        #expect(code { try cache.set(1, forKey: key) } == expected)
        #expect(code { _ = try cache.value(forKey: key) } == expected)
        #expect(code { _ = try cache.removeValue(forKey: key) } == expected)
        #expect(try cache.count() == 0)
    }

    @Test func aSetAnywhereIsRefused() throws {
        try expectRefused(Set([1, 2]))
        try expectRefused(Nested(parts: [nil, [1, 2]]))
        try expectRefused(["a": ["b": Set<String>()]])
    }

    @Test func aDictionaryWithOtherKeysIsRefused() throws {
        try expectRefused([Suit.hearts: 1])
        try expectRefused(Loose(numbers: [.hearts: 1]))
        try expectRefused([[Date(): 1]])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aNumberThatIsNotFiniteIsRefused(_ number: Double) throws {
        try expectRefused(number)
        try expectRefused([Float(number)])
    }

    @Test func aKeyThatEncodesNothingIsRefused() throws {
        try expectRefused(Empty(), .notEncodable)
    }

    @Test func theErrorSaysWhatToDoAndContainsNoKey() throws {
        let error = #expect(throws: MiniCacheError.self) {
            try cache([String: Set<String>].self).set(1, forKey: ["secret": ["hush"]])
        }
        #expect(error?.message.contains("sorted array") == true)
        #expect(error.map { "\($0)".contains("secret") || "\($0)".contains("hush") } == false)
    }

    // MARK: Custom encoding

    class Base: Codable {
        var name = "base"
        init() {}
    }

    final class Derived: Base {
        var number = 1

        private enum Names: CodingKey { case number, more }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws { try super.init(from: decoder) }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Names.self)
            try container.encode(number, forKey: .number)
            var more = container.nestedUnkeyedContainer(forKey: .more)
            try more.encodeNil()
            var inner = more.nestedContainer(keyedBy: Names.self)
            try inner.encode("x", forKey: .number)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func everyKindOfContainerIsSupported() throws {
        let cache: MiniCache<Derived, Int> = temporary.manager.cache(
            cacheName: "Keys",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        cache[Derived()] = 1
        #expect(cache[Derived()] == 1)
        let other = Derived()
        other.name = "other"
        #expect(cache[other] == nil)
    }

    @Test func aKeyOfAnotherTypeIsNotListed() throws {
        cache(String.self)["foo"] = 1
        cache(Int.self)[1] = 2
        #expect(try cache(Int.self).keys() == [1])
        #expect(try cache(String.self).keys() == ["foo"])
    }

    /// P1
    @Test func aKeyMayBeLong() throws {
        let long = String(repeating: "key ", count: 16_000)
        cache(String.self)[long] = 1
        #expect(cache(String.self)[long] == 1)
        #expect(cache(String.self)[long + "s"] == nil)
    }
}
