// Mistakes of a reader of the page of Vellum, and the diagnostics that must follow: these and no
// others.

import Foundation
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
    // expected-error@+1 {{or call store(for:memoryLimit:diskLimit:)}}
    _ = try factory.archives(for: User.self, memoryLimit: 10)
    // expected-error@+1 {{convert value of type 'String' to expected argument type 'DataSize'}}
    _ = try factory.archives(for: User.self, trySetMaxDiskSize: "10 MB")
}

func folder() {
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'URL'}}
    _ = ArchivesFactory(directory: "/var/lib/archives")
}

func calls(_ archives: ArchiveManager<User>) throws {
    // expected-error@+1 {{missing argument label 'archiveWithKey:' in call}}
    _ = archives.access("ann")
    // expected-error@+1 {{closure passed to parameter of type 'Predicate<User>' that does not}}
    _ = try archives.store.fetch(where: { $0.age > 30 })
}

class Screen {
    // expected-error@+1 {{initialPrimaryKey}}
    @Archived(initialKey: "ann") var user: User?
}

func opening(_ factory: ArchivesFactory) throws {
    // expected-error@+1 {{let users = try factory.store(for: User.self)}}
    let users = try factory.store()
    _ = users
    // expected-error@+1 {{let users = try factory.store(for: User.self)}}
    _ = try factory.store(diskLimit: 20.megaByte)
}

struct Indexed: ArchiveCodable, IndexedArchivable {
    // expected-error@+2 {{type 'Any' has no member 'index'}}
    // expected-error@+1 {{cannot infer key path type from context}}
    static let archiveIndexes = [.index(\.age)]
    var primaryKey: String
    var age: Int
}

struct AlsoIndexed: ArchiveCodable, IndexedArchivable {
    // expected-error@+1 {{cannot infer key path type from context}}
    static let archiveIndexes = [ArchiveIndex.index(\.age)]
    var primaryKey: String
    var age: Int
}

enum Kind: String, Codable, Sendable { case small, large }

struct Event: ArchiveCodable {
    var primaryKey: String
    var kind = Kind.small
    var title = ""
    var due: Date?
}

func predicates(_ events: ArchiveStore<Event>, _ text: String) throws {
    // expected-error@+1 {{Member access without an explicit base is not supported in this}}
    _ = try events.fetch(where: #Predicate { $0.kind == .small })
    // expected-error@+1 {{The lowercased() function is not supported in this predicate}}
    _ = try events.fetch(where: #Predicate { $0.title.lowercased() == text })
    // expected-error@+2 {{The hasPrefix(_:) function is not supported in this predicate}}
    // expected-note@+1 {{Use starts(with:)}}
    _ = try events.fetch(where: #Predicate { $0.title.hasPrefix(text) })
    // expected-error@+2 {{extra argument 'ignoring' in call}}
    // expected-error@+1 {{cannot infer contextual base in reference to member 'case'}}
    _ = try events.fetch(where: #Predicate { $0.title.contains(text, ignoring: .case) })
    // expected-error@+1 {{Global functions are not supported in this predicate}}
    _ = try events.fetch(where: #Predicate { $0.title == String(3) })
    // expected-error@+3 {{Predicate body may only contain one expression}}
    _ = try events.fetch(
        where: #Predicate { event in
            let title = event.title; return title == text
        }
    )
}

func queries(_ events: ArchiveStore<Event>) async throws {
    let all = #Predicate<Event> { $0.title != "" }
    // expected-error@+1 {{to expected argument type '[SortDescriptor<Event>]'}}
    _ = try events.fetch(where: all, sortedBy: SortDescriptor(\.title))
    // expected-error@+1 {{type 'SortOrder' has no member 'descending'}}
    _ = try events.fetch(where: all, sortedBy: [SortDescriptor(\.title, order: .descending)])
    // expected-error@+1 {{missing argument label 'where:' in call}}
    _ = try events.fetch(all)
    // expected-error@+1 {{for-in loop requires 'ArchiveStream<Event>' to conform to 'Sequence'}}
    for event in events.stream(where: all) { print(event) }
}

func writes(_ events: ArchiveStore<Event>, _ event: Event) throws {
    // expected-error@+1 {{type 'Expiration?' has no member 'days'}}
    try events.record(event, expiration: .days(1))
    // expected-error@+1 {{convert value of type '[Event]' to expected argument type 'Event'}}
    try events.record([event])
    // expected-error@+1 {{(have 'forKey:', expected 'archiveWithKey:')}}
    try events.delete(forKey: "a")
}
