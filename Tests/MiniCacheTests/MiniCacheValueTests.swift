import Foundation
import MiniCache
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

/// Values of many types, and their limits.
@Suite(.ownThreads)
struct MiniCacheValueTests {
    let temporary = TemporaryCaches()

    /// P43
    @Test func aStoredNilIsNotAMiss() throws {
        let cache: MiniCache<String, Int?> = temporary.cache(of: Int?.self)
        cache["nil"] = .some(nil)
        cache["one"] = 1
        for _ in 0..<2 {
            #expect(cache["missing"] == .none)
            #expect(cache["nil"] == .some(nil))
            #expect(cache["one"] == .some(1))
            #expect(try cache.contains("nil"))
            cache.trimMemory(to: 0)
        }
        cache["nil"] = .none
        #expect(cache["nil"] == .none)
    }

    /// M5
    @Test(arguments: [Data(), Data([0]), Data([0, 1, 255]), Data(repeating: 7, count: 100_000)])
    func dataIsStoredAsItIs(_ data: Data) throws {
        let cache = temporary.cache(of: Data.self)
        cache["data"] = data
        #expect(cache["data"] == data)
        cache.trimMemory(to: 0)
        #expect(cache["data"] == data)
        #expect(try cache.metadata(forKey: "data")?.size == DataSize(bytes: data.count + 1))
    }

    /// M5
    @Test(arguments: ["", "\u{0}", "é", "e\u{301}", "👩‍👩‍👧‍👦", "\"\\\n\u{1}"])
    func anyTextIsKeptUnchanged(_ text: String) throws {
        let cache = temporary.cache(of: String.self)
        cache[text] = text
        cache.trimMemory(to: 0)
        #expect(cache[text].map { Array($0.utf8) } == Array(text.utf8))
    }

    /// P44
    @Test func numbersThatAreNotFiniteAreValues() throws {
        let cache = temporary.cache(of: Double.self)
        for (key, value) in ["infinity": Double.infinity, "zero": -0.0] {
            cache[key] = value
            cache.trimMemory(to: 0)
            #expect(cache[key]?.bitPattern == value.bitPattern)
        }
        cache["nan"] = .nan
        cache.trimMemory(to: 0)
        #expect(cache["nan"]?.isNaN == true)
    }

    struct Old: Codable { var name = "a", age = 1 }
    struct New: Codable, Equatable {
        var name: String
        var email: String?
    }

    /// P44
    @Test func aTypeMayGainOptionalPropertiesAndLoseOthers() throws {
        temporary.cache(of: Old.self)["foo"] = Old()
        #expect(temporary.cache(of: New.self)["foo"] == New(name: "a", email: nil))
    }

    final class Counter: Codable {
        var count: Int

        init(_ count: Int) { self.count = count }
    }

    /// P45: changing an object after it was set, or one that was read, does not change the cache.
    @Test func objectsAreNeverShared() throws {
        let cache: MiniCache<String, Counter> = temporary.manager.cache(
            cacheName: "Objects",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        let counter = Counter(1)
        cache["foo"] = counter
        counter.count = 2
        #expect(cache["foo"]?.count == 1)
        let read = try #require(cache["foo"])
        read.count = 3
        #expect(cache["foo"]?.count == 1)
        #expect(cache["foo"] !== cache["foo"])
    }

    /// Counts its encodings and decodings.
    struct Counted: Codable, Sendable {
        static let encodes = Atomic(0)
        static let decodes = Atomic(0)

        init() {}

        init(from decoder: any Decoder) throws { Self.decodes.add(1, ordering: .relaxed) }

        func encode(to encoder: any Encoder) throws {
            Self.encodes.add(1, ordering: .relaxed)
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    /// C1
    @Test func aValueIsEncodedOncePerWriteAndDecodedOncePerDiskHit() throws {
        let cache = temporary.cache(of: Counted.self)
        // A debug build decodes the first value of a type, to compare it.
        cache["first"] = Counted()
        Counted.encodes.store(0, ordering: .relaxed)
        Counted.decodes.store(0, ordering: .relaxed)
        cache["foo"] = Counted()
        for _ in 0..<3 { _ = cache["foo"] }
        #expect(Counted.encodes.load(ordering: .relaxed) == 1)
        #expect(Counted.decodes.load(ordering: .relaxed) == 0)
        cache.trimMemory(to: 0)
        for _ in 0..<3 { _ = cache["foo"] }
        #expect(Counted.encodes.load(ordering: .relaxed) == 1)
        #expect(Counted.decodes.load(ordering: .relaxed) == 1)
    }

    struct Stubborn: Codable, Sendable {
        var fails: Bool

        func encode(to encoder: any Encoder) throws {
            if fails { throw CocoaError(.coderInvalidValue) }
            var container = encoder.singleValueContainer()
            try container.encode(fails)
        }

        init(fails: Bool) { self.fails = fails }

        init(from decoder: any Decoder) throws {
            fails = try decoder.singleValueContainer().decode(Bool.self)
        }
    }

    @Test func aValueThatCannotBeEncodedLeavesTheOldOne() throws {
        let cache = temporary.cache(of: Stubborn.self)
        cache["foo"] = Stubborn(fails: false)
        cache["foo"] = Stubborn(fails: true)
        #expect(code { try cache.set(Stubborn(fails: true), forKey: "foo") } == .notEncodable)
        #expect(cache["foo"]?.fails == false)
    }

    // MARK: Limits

    /// M6
    @Test func limitsHoldAfterEveryCall() throws {
        let cache: MiniCache<Int, Data> = temporary.manager.cache(
            cacheName: "Bounded",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 2.kiloByte,
            diskLimit: 8.kiloByte
        )
        for number in 0..<100 {
            try cache.set(Data(count: 500), forKey: number)
            let statistics = try cache.statistics()
            #expect(statistics.memory.bytes <= 2048)
            #expect(statistics.disk.bytes <= 8192)
        }
        #expect(cache[99] != nil)
        #expect(cache[0] == nil)
        #expect(cache.limits == StorageLimits(memory: 2.kiloByte, disk: 8.kiloByte))
        #expect(code { try cache.set(Data(count: 10_000), forKey: 99) } == .tooLarge)
        #expect(cache[99]?.count == 500)
    }

    @Test func theLimitsOfTheFirstHandleCount() throws {
        let first = temporary.cache()
        let second: MiniCache<String, Int> = temporary.manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 5,
            diskLimit: 5
        )
        #expect(first.limits == StorageLimits(memory: 1.megaByte, disk: 20.megaByte))
        #expect(second.limits == StorageLimits(memory: 1.megaByte, disk: 20.megaByte))
    }

    @Test func anInvalidLimitIsTheErrorOfEveryCall() throws {
        let cache: MiniCache<String, Int> = temporary.manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 0
        )
        cache["foo"] = 1
        #expect(cache["foo"] == nil)
        #expect(code { try cache.set(1, forKey: "foo") } == .invalidLimit)
        #expect(temporary.cache()["foo"] == nil)
    }
}
