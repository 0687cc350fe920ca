import Foundation
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// People as the programs of four versions store them. Each version has bytes that the others
/// cannot decode. From version 2 on there is nobody whose age is a multiple of 13, and from version
/// 3 on every name begins with `Dr `.
struct PeopleCodec: Codec {
    var version: Int64

    private struct Stored: Codable {
        var version: Int64
        var person: Person
    }

    func encode(_ person: Person) throws -> Data {
        try JSONEncoder().encode(Stored(version: version, person: person))
    }

    func decode(_ bytes: Data) throws -> Person { try decode(bytes, version) }

    private func decode(_ bytes: Data, _ version: Int64) throws -> Person {
        let stored = try JSONDecoder().decode(Stored.self, from: bytes)
        guard stored.version == version else { throw CocoaError(.coderReadCorrupt) }
        return stored.person
    }

    func key(of person: Person) -> EntryKey? { EntryKey(person.name) }

    func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Person> {
        guard old < version else { throw VellumError.newerVersion(old, than: version) }
        let person = try decode(bytes, old)
        guard person.city != "nowhere" else { throw CocoaError(.coderReadCorrupt) }
        return migrated(person, from: old).map(Migration.value) ?? .removed
    }

    /// What becomes of a person of an older version.
    func migrated(_ person: Person, from old: Int64) -> Person? {
        var person = person
        if old < 2, version >= 2, person.age % 13 == 0 { return nil }
        if old < 3, version >= 3, !person.name.hasPrefix("Dr ") {
            person.name = "Dr " + person.name
        }
        return person
    }
}

extension Setup {
    /// - Parameter builds: Whether entries are migrated in the background.
    func people(
        version: Int64,
        indexed: Bool = true,
        builds: Bool = true,
        memory: DataSize = 1.byte,
        disk: DataSize = 100.megaByte
    ) throws -> Store<Person> {
        var catalog = indexed ? Person.catalog : IndexCatalog()
        catalog.version = version
        return try people(
            builds ? catalog : nil,
            memory: memory,
            disk: disk,
            codec: PeopleCodec(version: version)
        )
    }
}

extension Store<Person> {
    /// The versions of the entries on disk.
    func versions() throws -> [Int64] {
        try disk.file.reading(disk.archive) { (archive) throws(SQLiteError) in
            try archive.allEntries().map(\.entry.typeVersion)
        }
    }

    /// The names of the people whose index rows are wrong, of whom all have the current version.
    func indexDefects() throws -> [String] {
        let catalog = try #require(self.catalog)
        let codec = self.codec
        return try disk.file.reading(disk.archive) { (archive) throws(SQLiteError) in
            var wrong: [String] = []
            for stored in try archive.allEntries() {
                let held = try archive.indexed(stored.entry.id, catalog.shape)
                let person = try? codec.decode(stored.entry.bytes)
                if held != person.flatMap(catalog.values(of:)) {
                    wrong.append(stored.key.normalized)
                }
            }
            return wrong
        }
    }
}
