import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct MiniCacheUpdatingTests {
    private let caches = TemporaryCaches()

    /// An instance that several readers must not share.
    private final class Box: Codable {
        var number = 0
    }

    @Test func anUpdateMakesChangesAndRemoves() throws {
        let cache = caches.cache()
        #expect(try cache.update(forKey: "a") { $0 = ($0 ?? 0) + 1 } == ())
        try cache.update(forKey: "a") { $0 = ($0 ?? 0) + 1 }
        #expect(cache["a"] == 2)
        #expect(
            try cache.update(forKey: "a") { value in
                defer { value = nil }
                return value
            } == 2
        )
        #expect(cache["a"] == nil)
        #expect(try cache.count() == 0)
    }

    private struct Tags: Codable {
        var words = Set((0..<40).map { "\($0)" })
        var numbers = ["a": 1, "b": 2, "c": 3]
        var list = [1, 2]

        /// Makes an equal set, in another order.
        mutating func shuffle() { words = Set(words.shuffled()) }
    }

    /// An instance of it is decoded for each caller.
    private final class TagsBox: Codable {
        var tags = Tags()
    }

    @Test(arguments: [CodableFormat.cbor, .json])
    func aValueWithASetIsNotWrittenIfItDidNotChange(_ format: CodableFormat) throws {
        let manager = MiniCacheManager(name: "Tags", directory: caches.directory, format: format)
        let cache: MiniCache<String, Tags> = manager.cache(
            cacheName: "Tags",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        let boxes: MiniCache<String, TagsBox> = manager.cache(
            cacheName: "Boxes",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        try cache.set(Tags(), forKey: "a")
        try boxes.set(TagsBox(), forKey: "a")
        let puts = (try cache.statistics().puts, try boxes.statistics().puts)
        for _ in 0..<20 {
            try cache.update(forKey: "a") { $0?.shuffle() }
            try boxes.update(forKey: "a") { $0?.tags.shuffle() }
        }
        #expect(try cache.statistics().puts == puts.0)
        #expect(try boxes.statistics().puts == puts.1)
        try cache.update(forKey: "a") { $0?.list.reverse() }
        try boxes.update(forKey: "a") { $0?.tags.list.reverse() }
        #expect(try cache.value(forKey: "a")?.list == [2, 1])
        #expect(try boxes.value(forKey: "a")?.tags.list == [2, 1])
        try manager.close()
    }

    private class Animal: Codable, @unchecked Sendable {}
    private final class Cat: Animal, @unchecked Sendable {}

    @Test func aValueOfASubclassIsRefused() throws {
        let cache = caches.cache(of: Animal.self)
        try cache.set(Animal(), forKey: "a")
        for call in [
            { try cache.set(Cat(), forKey: "a") }, { try cache.update(forKey: "a") { $0 = Cat() } },
        ] {
            let error = #expect(throws: MiniCacheError.self) { try call() }
            #expect(error?.code == .notEncodable)
            #expect(
                error?.message.contains("Cat") == true && error?.message.contains("Animal") == true
            )
        }
        #expect(try cache.value(forKey: "a") != nil)
    }

    @Test func theAgeIsKeptUnlessOneIsGiven() throws {
        let cache = caches.cache(maxAge: .seconds(100))
        try cache.set(1, forKey: "a", maxAge: .seconds(10))
        caches.clock.advance(by: .seconds(8))
        try cache.update(forKey: "a") { $0? += 1 }
        caches.clock.advance(by: .seconds(2))
        #expect(cache["a"] == nil)
        try cache.update(forKey: "a") { value in
            #expect(value == nil)
            value = 5
        }
        // Without an age of its own, the handle's age counts from the first setting.
        caches.clock.advance(by: .seconds(60))
        try cache.update(forKey: "a") { $0? += 1 }
        #expect(cache["a"] == 6)
        caches.clock.advance(by: .seconds(40))
        #expect(cache["a"] == nil)
        try cache.update(forKey: "a") { $0 = 6 }
        try cache.update(forKey: "a", maxAge: .seconds(5)) { _ in }
        caches.clock.advance(by: .seconds(5))
        #expect(cache["a"] == nil)
        try cache.update(forKey: "b", expiration: .unused(for: .seconds(10))) { $0 = 1 }
        caches.clock.advance(by: .seconds(10))
        #expect(cache["b"] == nil)
    }

    @Test func anInstanceOfAClassIsFresh() throws {
        let cache: MiniCache<String, Box> = caches.manager.cache(
            cacheName: "Boxes",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        let box = Box()
        try cache.set(box, forKey: "a")
        try cache.update(forKey: "a") { $0?.number = 7 }
        #expect(box.number == 0)
        #expect(cache["a"]?.number == 7)
    }

    @Test func aRememberedMissIsNoValue() async throws {
        let cache: MiniCache<String, Int> = caches.cache()
        let options = LoadOptions(negativeMaxAge: .seconds(10))
        let missed: Int? = try await cache.value(forKey: "a", options: options) { nil }
        #expect(missed == nil)
        try cache.update(forKey: "a") { value in
            #expect(value == nil)
        }
        // It is still remembered.
        #expect(try cache.count() == 1)
        #expect(try cache.setIfAbsent(2, forKey: "a"))
        caches.clock.advance(by: .seconds(10))
        #expect(cache["a"] == 2)
    }

    @Test func anErrorOfTheClosureIsPassedOnAsItIs() throws {
        let (cache, others) = (caches.cache(), caches.cache("Others", of: Stubborn.self))
        let error = #expect(throws: MiniCacheError.self) {
            try cache.update(forKey: "a") { _ in
                try others.set(Stubborn(isWilling: false), forKey: "b")
            }
        }
        #expect(error?.message.contains("Stubborn") == true)
        #expect(error.map { "\($0)" }?.contains("Others") == true)
    }

    @Test func aValueThatIsThereStays() throws {
        let cache = caches.cache()
        #expect(try cache.setIfAbsent(1, forKey: "a", maxAge: .seconds(10)))
        #expect(try !cache.setIfAbsent(2, forKey: "a"))
        #expect(cache["a"] == 1)
        caches.clock.advance(by: .seconds(10))
        #expect(try cache.setIfAbsent(2, forKey: "a", expiration: .after(.seconds(10))))
        #expect(cache["a"] == 2)
    }

    @Test func whatCannotBeDecodedIsNotOverwritten() throws {
        let texts = caches.cache(of: String.self)
        try texts.set("one", forKey: "a")
        let numbers = caches.cache(of: Int.self)
        #expect(code { try numbers.update(forKey: "a") { $0 = 1 } } == .notDecodable)
        #expect(code { try numbers.setIfAbsent(1, forKey: "a") } == .notDecodable)
        #expect(texts["a"] == "one")
    }

    @Test func aValueThatCannotBeEncodedChangesNothing() throws {
        let cache = caches.cache(of: Stubborn.self)
        try cache.set(Stubborn(isWilling: true), forKey: "a")
        #expect(
            code { try cache.update(forKey: "a") { $0 = Stubborn(isWilling: false) } }
                == .notEncodable
        )
        #expect(cache["a"]?.isWilling == true)
    }

    @Test func aCacheThatWasOpenedWithAnotherVersionRefusesUpdates() throws {
        let old = caches.cache(version: .custom("1"))
        old["a"] = 1
        let new = caches.cache(version: .custom("2"))
        #expect(code { try old.update(forKey: "a") { $0 = 5 } } == .cacheVersionChanged)
        #expect(new["a"] == nil)
    }

    @Test func noUpdateIsLostAmongThreadsAndManagers() async throws {
        let updates = LongRun.number(250, usually: 60)
        let handles = [
            caches.cache(),
            caches.anotherManager().cache(
                cacheName: "Test",
                cacheVersion: .custom("1"),
                maxAge: .days(7)
            ),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    try await handles[task % 2].perform { cache in
                        for _ in 0..<updates {
                            try cache.update(forKey: "n") { $0 = ($0 ?? 0) + 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(handles[0]["n"] == 8 * updates)
    }

    // MARK: Many keys

    @Test func theValuesAreThoseOfSingleCalls() throws {
        let cache = caches.cache()
        for number in 0..<50 { cache["\(number)"] = number }
        let keys = (0..<60).map { "\($0)" } + ["3"]
        for trim in [1.megaByte, .zero, DataSize(bytes: 40)] {
            cache.trimMemory(to: trim)
            #expect(
                try cache.values(forKeys: keys)
                    == Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", $0) })
            )
        }
        caches.clock.advance(by: .seconds(7 * 86400))
        #expect(try cache.values(forKeys: keys).isEmpty)
    }

    @Test func rememberedMissesAreLeftOut() async throws {
        let cache = caches.cache()
        cache["b"] = 1
        let options = LoadOptions(negativeMaxAge: .seconds(10))
        let _: Int? = try await cache.value(forKey: "a", options: options) { nil }
        #expect(try cache.values(forKeys: ["a", "b"]) == ["b": 1])
        #expect(try cache.keys(prefix: "") == ["b"])
    }

    @Test func keysWithAPrefixAreListedAndRemoved() throws {
        let cache = caches.cache()
        for number in 0..<300 { cache["page \(number)"] = number }
        cache["\u{1}page"] = 1
        cache["other"] = 2
        #expect(try cache.keys(prefix: "page ").count == 300)
        #expect(try cache.keys(prefix: "page ", limit: 2) == ["page 299", "page 298"])
        #expect(try cache.keys(prefix: "\u{1}") == ["\u{1}page"])
        #expect(try cache.removeAll(prefix: "page ") == 300)
        #expect(try cache.keys() == ["other", "\u{1}page"])
        #expect(try cache.removeAll(prefix: "\u{1}") == 1)
    }
}

/// A value that is encoded only if it wants to be.
private struct Stubborn: Codable, Sendable {
    var isWilling: Bool

    struct Refusal: Error {}

    init(isWilling: Bool) { self.isWilling = isWilling }

    init(from decoder: any Decoder) throws {
        isWilling = try decoder.singleValueContainer().decode(Bool.self)
    }

    func encode(to encoder: any Encoder) throws {
        guard isWilling else { throw Refusal() }
        var container = encoder.singleValueContainer()
        try container.encode(isWilling)
    }
}
