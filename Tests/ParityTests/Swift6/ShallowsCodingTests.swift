import Foundation
import Shallows
import TestThreads
import Testing

private nonisolated struct City: Codable, Equatable, Sendable {
    let name: String
    let foundationYear: Int
}

/// "There are several convenience methods defined on Storage with value of Data"
@Suite(.ownThreads)
struct ShallowsCodingTests {
    private let data = MemoryStorage<Filename, Data>()
    private let kharkiv = City(name: "Kharkiv", foundationYear: 1654)

    @Test func stringsAreEncodedAsTold() async throws {
        let latin: Storage<Filename, String> = data.mapString(withEncoding: .isoLatin1)
        try await latin.set("Größe", forKey: "size")
        #expect(data.storage["size"]?.count == 5)
        #expect(try await latin.retrieve(forKey: "size") == "Größe")
        try await data.mapString().set("Größe", forKey: "size")
        #expect(data.storage["size"]?.count == 7)
        #expect(
            try await data.asReadOnlyStorage().mapString(withEncoding: .utf8).retrieve(
                forKey: "size"
            ) == "Größe"
        )
        try await data.asWriteOnlyStorage().mapString(withEncoding: .utf8).set("a", forKey: "size")
        #expect(data.storage["size"] == Data("a".utf8))
    }

    @Test func jsonIsDictionariesObjectsOrAnything() async throws {
        let objects: Storage<Filename, City> = data.mapJSONObject(City.self)
        try await objects.set(kharkiv, forKey: "kharkiv")
        #expect(try await objects.retrieve(forKey: "kharkiv") == kharkiv)

        let dictionaries: Storage<Filename, [String: any Sendable]> = data.mapJSONDictionary()
        #expect(try await dictionaries.retrieve(forKey: "kharkiv")["name"] as? String == "Kharkiv")
        #expect(
            try await dictionaries.retrieve(forKey: "kharkiv")["foundationYear"] as? Int == 1654
        )
        try await dictionaries.set(["name": "Kyiv", "foundationYear": 482], forKey: "kyiv")
        #expect(
            try await objects.retrieve(forKey: "kyiv") == City(name: "Kyiv", foundationYear: 482)
        )

        let anything: Storage<Filename, any Sendable> = data.mapJSON()
        try await anything.set([1, 2, 3], forKey: "numbers")
        #expect(try await anything.retrieve(forKey: "numbers") as? [Int] == [1, 2, 3])
        #expect(
            try await data.asReadOnlyStorage().mapJSONObject([Int].self).retrieve(forKey: "numbers")
                == [1, 2, 3]
        )
        #expect(
            try await data.asReadOnlyStorage().mapJSON().retrieve(forKey: "numbers") as? [Int] == [
                1, 2, 3,
            ]
        )
        #expect(
            try await data.asReadOnlyStorage().mapJSONDictionary().retrieve(forKey: "kyiv").count
                == 2
        )
        try await data.asWriteOnlyStorage().mapJSONObject([Int].self).set([4], forKey: "numbers")
        try await data.asWriteOnlyStorage().mapJSONDictionary().set(["a": 1], forKey: "dictionary")
        try await data.asWriteOnlyStorage().mapJSON().set(["b"], forKey: "anything")
        #expect(data.storage["numbers"] == Data("[4]".utf8))
        #expect(data.storage["anything"] == Data(#"["b"]"#.utf8))
    }

    @Test func propertyListsAreDictionariesObjectsOrAnything() async throws {
        let objects: Storage<Filename, City> = data.mapPlistObject(City.self)
        try await objects.set(kharkiv, forKey: "kharkiv")
        #expect(try await objects.retrieve(forKey: "kharkiv") == kharkiv)

        let dictionaries: Storage<Filename, [String: any Sendable]> = data.mapPlistDictionary(
            format: .binary
        )
        try await dictionaries.set(["name": "Kyiv", "foundationYear": 482], forKey: "kyiv")
        #expect(data.storage["kyiv"]?.starts(with: Data("bplist".utf8)) == true)
        #expect(try await dictionaries.retrieve(forKey: "kharkiv")["name"] as? String == "Kharkiv")
        #expect(
            try await objects.retrieve(forKey: "kyiv") == City(name: "Kyiv", foundationYear: 482)
        )

        let anything: Storage<Filename, any Sendable> = data.mapPlist(format: .xml)
        try await anything.set(["a", "b"], forKey: "letters")
        #expect(try await anything.retrieve(forKey: "letters") as? [String] == ["a", "b"])
        #expect(
            try await data.asReadOnlyStorage().mapPlist().retrieve(forKey: "letters") as? [String]
                == ["a", "b"]
        )
        #expect(
            try await data.asReadOnlyStorage().mapPlistDictionary(format: .xml).retrieve(
                forKey: "kyiv"
            ).count == 2
        )
        #expect(
            try await data.asReadOnlyStorage().mapPlistObject(City.self).retrieve(forKey: "kharkiv")
                == kharkiv
        )
        try await data.asWriteOnlyStorage().mapPlist(format: .xml).set(["c"], forKey: "letters")
        try await data.asWriteOnlyStorage().mapPlistDictionary().set(["a": 1], forKey: "dictionary")
        try await data.asWriteOnlyStorage().mapPlistObject(City.self).set(kharkiv, forKey: "copy")
        #expect(try await anything.retrieve(forKey: "letters") as? [String] == ["c"])
        #expect(try await objects.retrieve(forKey: "copy") == kharkiv)
    }

    /// Bytes that are something else are a failure, and no miss.
    @Test func bytesThatAreSomethingElseFail() async throws {
        data.storage["kharkiv"] = Data("no JSON".utf8)
        let objects = data.mapJSONObject(City.self)
        let error = await #expect(throws: ShallowsError.self) {
            try await objects.retrieveIfPresent(forKey: "kharkiv")
        }
        #expect(error?.code == .notDecodable)
        #expect(error?.cause is Swift.DecodingError)
        #expect(try await objects.retrieveIfPresent(forKey: "kyiv") == nil)
    }
}
