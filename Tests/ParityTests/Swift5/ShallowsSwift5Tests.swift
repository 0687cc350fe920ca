import Foundation
import Shallows
import TestThreads
import Testing

/// What only clients in Swift 5 mode have.
@Suite(.ownThreads)
struct ShallowsSwift5Tests {
    let memory = MemoryStorage<Filename, Data>()

    @Test func dictionariesOfAnythingAreStoredAsJSON() async throws {
        let storage: Storage<Filename, [String: Any]> = memory.mapJSONDictionary()
        try await storage.set(
            ["name": "Bern", "inhabitants": 134_000, "rivers": ["Aare"]],
            forKey: "bern"
        )

        let city = try await storage.retrieve(forKey: "bern")
        #expect(city["name"] as? String == "Bern")
        #expect(city["inhabitants"] as? Int == 134_000)
        #expect(city["rivers"] as? [String] == ["Aare"])
        let reading: ReadOnlyStorage<Filename, [String: Any]> = memory.asReadOnlyStorage()
            .mapJSONDictionary()
        #expect(try await reading.retrieve(forKey: "bern").count == 3)
        let writing: WriteOnlyStorage<Filename, [String: Any]> = memory.asWriteOnlyStorage()
            .mapJSONDictionary()
        try await writing.set([:], forKey: "bern")
        #expect(try await reading.retrieve(forKey: "bern").isEmpty)
    }

    @Test func anythingIsStoredAsJSON() async throws {
        let storage: Storage<Filename, Any> = memory.mapJSON()
        try await storage.set([1, 2], forKey: "numbers")
        #expect(try await storage.retrieve(forKey: "numbers") as? [Int] == [1, 2])
        let reading: ReadOnlyStorage<Filename, Any> = memory.asReadOnlyStorage().mapJSON()
        #expect(try await reading.retrieve(forKey: "numbers") as? [Int] == [1, 2])
        let writing: WriteOnlyStorage<Filename, Any> = memory.asWriteOnlyStorage().mapJSON()
        try await writing.set(["a": 1], forKey: "numbers")
        #expect(try await reading.retrieve(forKey: "numbers") as? [String: Int] == ["a": 1])
        await #expect(throws: ShallowsError.self) {
            try await storage.set(Date(), forKey: "no JSON")
        }
    }

    @Test func anythingIsStoredAsAPropertyList() async throws {
        let storage: Storage<Filename, Any> = memory.mapPlist()
        try await storage.set(["date": Date(timeIntervalSince1970: 0)], forKey: "dates")
        let dictionaries: Storage<Filename, [String: Any]> = memory.mapPlistDictionary()
        #expect(
            try await dictionaries.retrieve(forKey: "dates")["date"] as? Date
                == Date(timeIntervalSince1970: 0)
        )
        let reading: ReadOnlyStorage<Filename, Any> = memory.asReadOnlyStorage().mapPlist()
        let writing: WriteOnlyStorage<Filename, Any> = memory.asWriteOnlyStorage().mapPlist()
        try await writing.set([1], forKey: "list")
        #expect(try await reading.retrieve(forKey: "list") as? [Int] == [1])
        await #expect(throws: ShallowsError.self) {
            try await dictionaries.retrieve(forKey: "list")
        }
        let readingOnly: ReadOnlyStorage<Filename, [String: Any]> = memory.asReadOnlyStorage()
            .mapPlistDictionary()
        let writingOnly: WriteOnlyStorage<Filename, [String: Any]> = memory.asWriteOnlyStorage()
            .mapPlistDictionary()
        try await writingOnly.set(["one": 1], forKey: "one")
        #expect(try await readingOnly.retrieve(forKey: "one")["one"] as? Int == 1)
    }

    @Test func storagesOfAnythingAreComposed() async throws {
        let front = MemoryStorage<String, [String: Any]>()
        let storage = front.combined(with: memory.mapJSONDictionary().usingStringKeys())
        try await storage.set(["a": 1], forKey: "x")
        front.storage = [:]
        #expect(try await storage.retrieve(forKey: "x")["a"] as? Int == 1)
    }

    @available(*, deprecated)
    @Test func theErrorOfDecodingHasItsName() async throws {
        memory.storage["broken"] = Data("{".utf8)
        let storage: Storage<Filename, [Int]> = memory.mapJSONObject([Int].self)
        do {
            _ = try await storage.retrieve(forKey: "broken")
            Issue.record("It was decoded.")
        } catch let error as Shallows.DecodingError<JSONDecoder> {
            Issue.record("\(error.rawError) \(error.originalData)")
        } catch let error as ShallowsError {
            #expect(error.code == .notDecodable)
            #expect(error.cause is Swift.DecodingError)
        }
    }
}
