// Mistakes of a reader of the page of Vellum, and the diagnostics that must follow: these and no others.

import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var age: Int
}

// expected-error@+2 {{type 'NoKey' does not conform to protocol 'Archivable'}}
// expected-note@+1 {{add stubs for conformance}}
struct NoKey: ArchiveCodable {
    var name: String
}

// expected-error@+2 {{type 'NumberedKey' does not conform to protocol 'Archivable'}}
// expected-note@+1 {{add stubs for conformance}}
struct NumberedKey: ArchiveCodable {
    var primaryKey: Int  // expected-note {{candidate has non-matching type 'Int'}}
}

final class Picture {}

// expected-error@+2 {{type 'Page' does not conform to protocol 'Decodable'}}
// expected-error@+1 {{type 'Page' does not conform to protocol 'Encodable'}}
struct Page: ArchiveCodable {
    var primaryKey: String
    // expected-note@+2 {{because 'Picture' does not conform to 'Decodable'}}
    // expected-note@+1 {{because 'Picture' does not conform to 'Encodable'}}
    var picture: Picture
}

func limits(_ factory: ArchivesFactory) throws {
    // expected-error@+1 {{Write trySetMaxMemorySize: and trySetMaxDiskSize:, or call store(for:memoryLimit:diskLimit:)}}
    _ = try factory.archives(for: User.self, memoryLimit: 10)
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'DataSize'}}
    _ = try factory.archives(for: User.self, trySetMaxDiskSize: "10 MB")
}

func folder() {
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'URL'}}
    _ = ArchivesFactory(directory: "/var/lib/archives")
}

func calls(_ archives: ArchiveManager<User>) throws {
    // expected-error@+1 {{missing argument label 'archiveWithKey:' in call}}
    _ = archives.access("ann")
    // expected-error@+1 {{closure passed to parameter of type 'Predicate<User>' that does not accept a closure}}
    _ = try archives.store.fetch(where: { $0.age > 30 })
}

class Screen {
    // expected-error@+1 {{initialPrimaryKey}}
    @Archived(initialKey: "ann") var user: User?
}
