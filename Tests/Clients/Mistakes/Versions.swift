// Slips in a type that changes, and the diagnostics that must follow: none selects a default, by
// which old objects would be decoded as if nothing had changed, or a renamed archive begun anew.

import Vellum

// expected-error@+2 {{type 'Misspelt' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static func migrate(_ old: StoredObject) throws -> Migrated<Self>'}}
struct Misspelt: Codable, VersionedArchive {
    static var archiveVersion: Int { 1 }
    static func migrate(from old: StoredObject) throws -> Migrated<Misspelt> { .remove }
}

// expected-error@+2 {{type 'ReturnsItself' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static func migrate(_ old: StoredObject) throws -> Migrated<Self>'}}
struct ReturnsItself: Codable, VersionedArchive {
    static let archiveVersion = 1
    static func migrate(_ old: StoredObject) throws -> ReturnsItself { ReturnsItself() }
}

// expected-error@+2 {{type 'OfOneObject' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static func migrate(_ old: StoredObject) throws -> Migrated<Self>'}}
struct OfOneObject: Codable, VersionedArchive {
    static let archiveVersion = 1
    func migrate(_ old: StoredObject) throws -> Migrated<OfOneObject> { .remove }
}

// expected-error@+2 {{type 'WithoutMigration' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static func migrate(_ old: StoredObject) throws -> Migrated<Self>'}}
final class WithoutMigration: VersionedArchive {
    static let archiveVersion = 1
    static let formerArchiveNames = ["Shop.Bill"]
}

// expected-error@+2 {{type 'MisspeltVersion' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static var archiveVersion: Int', or only the former names as}}
struct MisspeltVersion: Codable, VersionedArchive {
    static let archiveversion = 1
    static func migrate(_ old: StoredObject) throws -> Migrated<MisspeltVersion> { .remove }
}

// expected-error@+2 {{type 'OtherNumber' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static var archiveVersion: Int', or only the former names as}}
struct OtherNumber: Codable, VersionedArchive {
    static let archiveVersion: Int64 = 1
    static func migrate(_ old: StoredObject) throws -> Migrated<OtherNumber> { .remove }
}

// expected-error@+2 {{type 'MisspeltNames' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static var archiveVersion: Int', or only the former names as}}
struct MisspeltNames: Codable, VersionedArchive {
    static let formerNames = ["Shop.Client"]
}

// expected-error@+2 {{type 'OneName' does not conform to protocol 'VersionedArchive'}}
// expected-error@+1 {{Write 'static var archiveVersion: Int', or only the former names as}}
struct OneName: Codable, VersionedArchive {
    static let formerArchiveNames = "Shop.Client"
}
