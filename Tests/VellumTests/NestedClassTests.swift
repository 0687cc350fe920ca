import Foundation
import TestThreads
import Testing
import Vellum

/// Classes that reference objects and each other.
@Suite(.ownThreads)
struct NestedClassTests {
    class Node: Archivable {
        let primaryKey: String
        var first: Node?
        var second: Node?

        init(_ primaryKey: String) { self.primaryKey = primaryKey }

        func archive() throws -> Data { WorkLog.shared.encode(primaryKey) }

        static func deArchive(fromData data: Data) throws -> any Archivable {
            Node(WorkLog.shared.decode(data))
        }
    }

    class Animal: Archivable {
        let primaryKey: String

        init(_ primaryKey: String) { self.primaryKey = primaryKey }

        func archive() throws -> Data { Data(primaryKey.utf8) }

        static func deArchive(fromData data: Data) throws -> any Archivable {
            let key = String(decoding: data, as: UTF8.self)
            return key.hasPrefix("dog ") ? Dog(String(key.dropFirst(4))) : Animal(key)
        }
    }

    class Dog: Animal {
        var owner: User?

        override func archive() throws -> Data { Data("dog \(primaryKey)".utf8) }
    }

    final class Puppy: Dog {}

    let temporary = TemporaryArchives()

    @Test func objectsThatReferenceEachOtherAreRecorded() throws {
        let (a, b) = (Node(UUID().uuidString), Node(UUID().uuidString))
        a.first = b
        b.first = a
        defer { b.first = nil }
        let nodes = try temporary.factory.store(for: Node.self)

        try nodes.record(a)

        #expect(try Set(nodes.keys()) == [a.primaryKey, b.primaryKey])
    }

    @Test func anObjectReferencedTwiceIsEncodedOnce() throws {
        let (a, b) = (Node(UUID().uuidString), Node(UUID().uuidString))
        (a.first, a.second) = (b, b)
        let nodes = try temporary.factory.store(for: Node.self)

        try nodes.record(a)

        #expect(try nodes.count() == 2)
        #expect(WorkLog.shared.of(b.primaryKey).encodes == 1)
    }

    @Test func anObjectThatReferencesItselfIsEncodedOnce() throws {
        let node = Node(UUID().uuidString)
        node.first = node
        defer { node.first = nil }

        try temporary.factory.store(for: Node.self).record(node)

        #expect(WorkLog.shared.of(node.primaryKey).encodes == 1)
    }

    @Test func propertiesOfAParentClassAreRecorded() throws {
        let puppy = Puppy("rex")
        puppy.owner = User(name: "ann")

        try temporary.factory.store(for: Puppy.self).record(puppy)

        #expect(try temporary.factory.store(for: User.self).keys() == ["ann"])
    }

    @Test func propertiesOfASubclassAreRecordedThroughTheArchiveOfItsParent() throws {
        let animals = try temporary.factory.store(for: Animal.self)
        try animals.record(Animal("cat"))
        let dog = Dog("rex")
        dog.owner = User(name: "ann")

        try animals.record(dog)

        #expect(try animals.keys() == ["rex", "cat"])
        #expect(try temporary.factory.store(for: User.self).keys() == ["ann"])
    }
}
