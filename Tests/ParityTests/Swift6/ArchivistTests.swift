import Foundation
import TestThreads
import Testing
import Vellum

/// The row "Archivist": bulk methods of the manager and of a user-defined archivist.
@Suite(.ownThreads)
struct ArchivistTests {
    struct User: Codable, Archivable, Equatable {
        var primaryKey: String { name }
        var name: String
        var age = 0

        init(_ name: String, age: Int = 0) {
            self.name = name
            self.age = age
        }

        func archive() throws -> Data {
            guard age >= 0 else { throw CocoaError(.coderInvalidValue) }
            return try JSONEncoder().encode(self)
        }
    }

    let temporary = TemporaryArchives()
    let archives: ArchiveManager<User>

    init() throws {
        archives = try temporary.factory.archives()
    }

    @Test func objectsAreInsertedTogether() {
        archives.insert(User("ann"), User("bob"))
        archives.insert(all: [User("cleo"), User("dan")])

        #expect(Set(archives.accessAll().map(\.name)) == ["ann", "bob", "cleo", "dan"])
    }

    @Test func objectsAreUpdatedTogether() {
        archives.insert(User("ann"), User("bob"))

        archives.update(User("ann", age: 1), User("bob", age: 2))

        #expect(archives.access(archiveWithKey: "ann")?.age == 1)
        #expect(archives.access(archiveWithKey: "bob")?.age == 2)
    }

    @Test func objectsAreDeletedByObjectAndByKey() {
        let all = ["a", "b", "c", "d", "e", "f", "g", "h"].map { User($0) }
        archives.insert(all: all)

        archives.delete(all[0])
        archives.delete(all[1], all[2])
        archives.delete(all: [all[3]])
        archives.delete(keys: "e", "f")
        archives.delete(allKeys: ["g"])

        #expect(archives.accessAll() == [all[7]])
    }

    @Test func aBulkInsertIsOneTransaction() {
        archives.insert(all: [User("ann"), User("cannot be encoded", age: -1), User("bob")])

        #expect(archives.accessAll().isEmpty)
    }

    @Test func userDefinedArchivistsHaveTheBulkMethods() {
        let archivist = DictionaryArchivist()

        archivist.insert(User("ann"), User("bob"), User("cleo"))
        archivist.update(User("bob", age: 2))
        archivist.delete(keys: "ann")
        archivist.delete(User("cleo"))

        #expect(archivist.accessAll() == [User("bob", age: 2)])
        #expect(archivist.latestAccessedTime(for: User("bob")) == Date(timeIntervalSince1970: 0))
    }

    /// An archivist that stores objects in a dictionary.
    final class DictionaryArchivist: Archivist {
        private var objects: [String: User] = [:]

        var maxSize: DataSize { 1.megaByte }
        var currentSize: DataSize { objects.values.map(\.sizeOfData).reduce(.zero, +) }

        func latestAccessedTime(for key: String) -> Date? {
            objects[key].map { _ in Date(timeIntervalSince1970: 0) }
        }
        func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {}
        func record(_ object: User) { objects[object.primaryKey] = object }
        func access(archiveWithKey key: String) -> User? { objects[key] }
        func accessAll(limitedBy limit: Int) -> [User] { Array(objects.values.prefix(limit)) }
        func delete(archiveWithKey key: String) { objects[key] = nil }
        func deleteAll() { objects = [:] }
    }
}
