import Vellum

struct Note: ArchiveCodable, Equatable, Sendable, IndexedArchivable {
    var primaryKey: String { title }
    var title: String
    var number = 0

    static var archiveIndexes: [ArchiveIndex<Note>] { [.index(\.number)] }
}

/// Waits in the background of a test.
struct Slow: Error {}

/// A type whose version 0 had `customer`.
struct Invoice: ArchiveCodable, VersionedArchive, Equatable, Sendable {
    var primaryKey: String { number }
    var number: String
    var client: String

    static var archiveVersion: Int { 1 }

    static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
        var value = try old.value()
        value["client"] = value.removeValue(forKey: "customer")
        return .object(try value.decode(Invoice.self))
    }
}
