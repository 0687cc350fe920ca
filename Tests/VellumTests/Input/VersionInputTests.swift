import CBORCoding
import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumTestSupport

/// FN4, FN10: versions of a type, and the door by which a migration is tested.
@Suite(.ownThreads)
struct VersionInputTests {
    struct Negative: ArchiveCodable, VersionedArchive {
        var primaryKey: String { "negative" }
        static var archiveName: String { "Negatives" }
        static var archiveVersion: Int { -1 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
    }

    struct Least: ArchiveCodable, VersionedArchive {
        var primaryKey: String { "least" }
        static var archiveName: String { "Leasts" }
        static var archiveVersion: Int { .min }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
    }

    struct Huge: ArchiveCodable, VersionedArchive, Equatable {
        var primaryKey: String { "huge" }
        static var archiveName: String { "Huge" }
        static var archiveVersion: Int { .max }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
        static var formerArchiveNames: [String] {
            ["", "\0", "a.b\0c", String(repeating: "n", count: 70_000), "Huge"]
        }
    }

    struct Nesting: ArchiveCodable {
        var primaryKey: String { "nesting" }
        var part = Negative()
        static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
    }

    struct Invoice: Codable, VersionedArchive, Equatable {
        var number: String
        var client: String
        static var archiveVersion: Int { 1 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
            var value = try old.value()
            value["client"] = value.removeValue(forKey: "customer")
            return .object(try value.decode(Invoice.self))
        }
    }

    struct Before: Codable {
        var number = "7"
        var customer = "Ann"
    }

    /// "VersionedArchive.archiveVersion", "VersionedArchive.formerArchiveNames"
    @Test func aNegativeVersionOfATypeIsAnErrorThatNamesTheType() throws {
        let factory = ArchivesFactory.inMemory()
        let opened: [(String, () throws -> Void)] = [
            ("Negative is -1", { _ = try factory.store(for: Negative.self) }),
            ("Negative is -1", { _ = try factory.archives(for: Negative.self) }),
            ("Least is \(Int.min)", { _ = try factory.store(for: Least.self) }),
            ("Negative is -1", { try Self.cache(Negative.self).set(Negative(), forKey: "a") }),
            ("Negative is -1", { _ = try Self.cache(Negative.self).value(forKey: "a") }),
        ]
        for (words, open) in opened {
            let error = #expect(throws: VellumError.self) { try open() }
            #expect(error?.code == .invalidVersion)
            #expect(error?.message.contains("The archiveVersion of \(words).") == true)
        }
        let nesting = try factory.store(for: Nesting.self)
        let error = #expect(throws: VellumError.self) { try nesting.record(Nesting()) }
        #expect(error?.code == .invalidVersion)
        // The others in the file are not concerned.
        try factory.store(for: Huge.self).record(Huge())
        #expect(try factory.store(for: Huge.self).access(archiveWithKey: "huge") == Huge())
    }

    @Test func callsOfSuchATypeThatCannotThrowReportIt() throws {
        let cache = Self.cache(Negative.self)
        cache["a"] = Negative()
        #expect(cache["a"] == nil)
        let archived = Archived<Negative>(initialPrimaryKey: "a", in: ArchivesFactory.inMemory())
        archived.wrappedValue = Negative()
        _ = archived.wrappedValue
    }

    private static func cache<Value: Codable & Sendable>(
        _ type: Value.Type
    ) -> MiniCache<String, Value> {
        MiniCacheManager.inMemory().cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
    }

    /// FN4: "StoredObject.init version", "StoredObject.init key"
    @Test(arguments: [0, -1, Int.min, .max]) func aMigrationIsTestedByWhatWasRecorded(
        _ version: Int
    ) throws {
        let expected = Invoice(number: "7", client: "Ann")
        let map: CBORValue = ["number": "7", "customer": "Ann"]
        var tagging = CBOREncoder()
        tagging.isSelfDescribed = true
        let olds = [
            StoredObject(version: version, key: "7", data: try CBOREncoder().encode(Before())),
            StoredObject(version: version, key: "", data: try tagging.encode(Before())),
            StoredObject(version: version, key: "\0", data: try CBOREncoder().encode(map)),
            StoredObject(
                version: version,
                key: "7",
                data: try CBOREncoder().encode(["number": "7", "customer": "Ann"])
            ),
            try StoredObject(version: version, key: "7", value: Before()),
            try StoredObject(version: version, key: "7", value: map),
            try StoredObject(
                version: version,
                key: "7",
                value: ["number": "7", "customer": "Ann"]
            ),
        ]
        for old in olds {
            guard case .object(let new) = try Invoice.migrate(old) else {
                throw CocoaError(.coderInvalidValue)
            }
            #expect(new == expected)
            #expect(try old.decode(Before.self).customer == "Ann")
            #expect(
                try old.decode(Invoice.self, defaults: ["client": "?"])
                    == Invoice(number: "7", client: "?")
            )
        }
    }

    /// What a store recorded, in both formats.
    @Test func whatAStoreReturnsIsAStoredObject() throws {
        let store = try ArchivesFactory.inMemory().store(for: Huge.self)
        try store.record(Huge())
        let old = StoredObject(
            version: 0,
            key: "huge",
            data: try #require(try store.encodedData(forKey: "huge"))
        )
        #expect(try old.value() == .map([:]))
        let json = StoredObject(version: 0, key: "7", data: try JSONEncoder().encode(Before()))
        #expect(try json.decode(Before.self).customer == "Ann")
        #expect(throws: DecodingError.self) { try json.value() }
    }

    /// JSON is never taken for CBOR, nor are the bytes of a type that encodes itself.
    @Test(arguments: [
        Data(), Data("1".utf8), Data("[1]".utf8), Data(" {}".utf8), Data([0xEF, 0xBB, 0xBF, 0x31]),
        Data([0xFF, 0xFE]), Data([0xA1]),
    ])
    func otherBytesAreAnError(_ data: Data) {
        #expect(throws: DecodingError.self) {
            try StoredObject(version: 0, key: "7", data: data).value()
        }
    }
}
