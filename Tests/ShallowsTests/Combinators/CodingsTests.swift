import Foundation
import Shallows
import TestThreads
import Testing

@Suite(.ownThreads)
struct CodingsTests {
    private let bytes = MemoryStorage<String, Data>()

    struct City: Codable, Equatable {
        var name: String
        var founded: Int
    }

    @Test func everyFormatGivesWhatWasSet() async throws {
        let city = City(name: "Kharkiv", founded: 1654)
        let objects: [Storage<String, City>] = [
            bytes.mapJSONObject(City.self), bytes.mapPlistObject(City.self),
        ]
        for storage in objects {
            try await storage.set(city, forKey: "a")
            #expect(try await storage.retrieve(forKey: "a") == city)
        }
        try await bytes.mapString(withEncoding: .utf16).set("é", forKey: "s")
        #expect(try await bytes.mapString(withEncoding: .utf16).retrieve(forKey: "s") == "é")
    }

    @Test func dictionariesHoldPlainValues() async throws {
        let date = Date(timeIntervalSince1970: 1)
        let value: [String: any Sendable] = [
            "n": 1, "s": "x", "b": true, "d": 1.5, "a": [1, "y"] as [any Sendable],
        ]
        for storage in [
            bytes.mapJSONDictionary(), bytes.mapPlistDictionary(format: .binary),
            bytes.mapPlistDictionary(),
        ] {
            try await storage.set(value, forKey: "a")
            let back = try await storage.retrieve(forKey: "a")
            #expect(
                back["n"] as? Int == 1 && back["s"] as? String == "x" && back["b"] as? Bool == true
                    && back["d"] as? Double == 1.5
            )
            #expect((back["a"] as? [any Sendable])?.count == 2)
        }
        try await bytes.mapPlist().set(date, forKey: "date")
        #expect(try await bytes.mapPlist().retrieve(forKey: "date") as? Date == date)
        try await bytes.mapJSON(writingOptions: .fragmentsAllowed).set("alone", forKey: "fragment")
        #expect(
            try await bytes.mapJSON(readingOptions: .fragmentsAllowed).retrieve(forKey: "fragment")
                as? String == "alone"
        )
    }

    @Test(arguments: ["mapJSON", "mapPlist", "dictionary"])
    func whatAFormatCannotSayIsAnErrorAndKeepsTheOldValue(format: String) async throws {
        let bad: any Sendable = ["x": City(name: "", founded: 0)] as [String: any Sendable]
        bytes.storage["a"] = Data([1])
        await #expect {
            switch format {
            case "mapJSON": try await bytes.mapJSON().set(bad, forKey: "a")
            case "mapPlist": try await bytes.mapPlist().set(bad, forKey: "a")
            default: try await bytes.mapJSONDictionary().set(["x": Double.nan], forKey: "a")
            }
        } throws: {
            ($0 as? ShallowsError)?.code == .notEncodable
        }
        #expect(bytes.storage["a"] == Data([1]))
    }

    /// S3: an entry that cannot be decoded is not one that is missing, and is not overwritten.
    @Test func bytesThatCannotBeDecodedStopAComposition() async throws {
        bytes.storage["a"] = Data("no JSON".utf8)
        let back = MemoryStorage<String, City>(storage: ["a": City(name: "Lviv", founded: 1256)])
        let storage = bytes.mapJSONObject(City.self).combined(with: back)
        await #expect { try await storage.retrieve(forKey: "a") } throws: {
            ($0 as? ShallowsError)?.code == .notDecodable
        }
        #expect(bytes.storage["a"] == Data("no JSON".utf8))
    }

    @Test func readOnlyAndWriteOnlyStoragesHaveTheSideThatTheyNeed() async throws {
        struct Readable: Decodable { var name: String }
        struct Writable: Encodable { var name = "x" }
        try await bytes.asWriteOnlyStorage().mapJSONObject(Writable.self).set(
            Writable(),
            forKey: "a"
        )
        #expect(
            try await bytes.asReadOnlyStorage().mapJSONObject(Readable.self).retrieve(forKey: "a")
                .name == "x"
        )
        try await bytes.asWriteOnlyStorage().mapPlistObject(Writable.self).set(
            Writable(),
            forKey: "b"
        )
        #expect(
            try await bytes.asReadOnlyStorage().mapPlistObject(Readable.self).retrieve(forKey: "b")
                .name == "x"
        )
        try await bytes.asWriteOnlyStorage().mapJSONDictionary().set(["k": 1], forKey: "c")
        #expect(
            try await bytes.asReadOnlyStorage().mapJSONDictionary().retrieve(forKey: "c")["k"]
                as? Int == 1
        )
        try await bytes.asWriteOnlyStorage().mapPlist().set(["k"], forKey: "d")
        #expect(
            try await bytes.asReadOnlyStorage().mapPlist().retrieve(forKey: "d") as? [String] == [
                "k"
            ]
        )
    }

    @Test func anErrorNamesNoDataOfTheUser() async throws {
        bytes.storage["secret"] = Data("private".utf8)
        let error = await #expect(throws: ShallowsError.self) {
            try await bytes.mapJSONObject(City.self).retrieve(forKey: "secret")
        }
        let text = "\(try #require(error))"
        #expect(!text.contains("secret") && !text.contains("private"))
    }
}
