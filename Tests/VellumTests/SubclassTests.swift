import Foundation
import TestThreads
import Testing
import Vellum

/// Objects of a subclass in the archive of its superclass.
@Suite(.ownThreads)
struct SubclassTests {
    private let temporary = TemporaryArchives()
    private let animals: ArchiveStore<Animal>

    init() throws { animals = try temporary.factory.store() }

    @Test func aSubclassThatWouldDecodeAsItsSuperclassIsRefused() throws {
        try animals.record(Animal("rex"))
        let (animals, factory) = (animals, temporary.factory)
        let calls: [() throws -> Void] = [
            { try animals.record(Dog("rex")) },
            { try animals.record(contentsOf: [Animal("a"), Dog("rex")]) },
            { try animals.recordIfAbsent(Dog("new")) },
            { try animals.update(archiveWithKey: "rex") { $0 = Dog("rex") } },
            { try factory.transaction { try $0.record(Dog("rex"), in: animals) } },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .notEncodable, "\(index)")
            #expect(
                error?.message.contains("type Dog") == true
                    && error?.message.contains("as Animal") == true,
                "\(index)"
            )
        }
        #expect(try animals.accessAll().map { $0.primaryKey } == ["rex"])
    }

    @Test func aManagerReportsTheRefusal() async throws {
        let manager = try temporary.factory.archives(for: Animal.self)
        var failures = manager.failures.makeAsyncIterator()
        manager.record(Dog("rex"))
        #expect(try await failures.next()?.code == .notEncodable)
    }

    /// Its data says which class it is, so that nothing is lost.
    @Test func aSubclassThatDecodesAsItselfIsRecorded() throws {
        let shapes = try temporary.factory.store(for: Shape.self)
        for _ in 0..<2 { try shapes.record(Circle("a")) }
        try shapes.update(archiveWithKey: "a") { ($0 as? Circle)?.radius += 1 }
        #expect(try (shapes.access(archiveWithKey: "a") as? Circle)?.radius == 2)
        #expect(throws: VellumError.self) { try shapes.record(Square("b")) }
    }

    /// They have one archive, and one place in it.
    @Test func aPropertyOfTheSuperclassDoesNotReplaceItsOwner() throws {
        let revisions = try temporary.factory.store(for: Revision.self)
        let later = LaterRevision("letter")
        later.previous = Revision("letter")
        try revisions.record(later)
        revisions.trimMemory(to: .zero)
        #expect(try revisions.access(archiveWithKey: "letter") is LaterRevision)
    }

    @Test func aSubclassIsRecordedInAnArchiveOfItsOwn() throws {
        let dogs = try temporary.factory.store(for: Dog.self)
        try dogs.record(Dog("rex"))
        try dogs.update(archiveWithKey: "rex") { _ in }
        #expect(try dogs.access(archiveWithKey: "rex")?.owner == "ann")
    }

    /// It would be recorded in the archive of the class that the property declares.
    @Test func aPropertyOfASubclassIsRefused() throws {
        let (zoos, parks) = (
            try temporary.factory.store(for: Zoo.self), try temporary.factory.store(for: Park.self)
        )
        try zoos.record(Zoo(animal: Animal("rex")))
        let error = #expect(throws: VellumError.self) { try zoos.record(Zoo(animal: Dog("new"))) }
        #expect(error?.code == .notEncodable)
        #expect(try animals.keys() == ["rex"])
        try parks.record(Park(animal: Dog("new")))
        #expect(try animals.keys() == ["rex"])
    }
}

private class Animal: ArchiveCodable {
    class var archiveName: String { "Animal" }
    let primaryKey: String
    required init(_ primaryKey: String) { self.primaryKey = primaryKey }
}

private class Dog: Animal {
    override class var archiveName: String { "Dog" }
    enum CodingKeys: CodingKey { case owner }
    var owner: String
    required init(_ primaryKey: String) {
        owner = "ann"
        super.init(primaryKey)
    }
    required init(from decoder: any Decoder) throws {
        owner = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .owner)
        try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(owner, forKey: .owner)
    }
}

/// Writes its own data, and records its animal beside it.
private struct Zoo: Archivable {
    static var archiveName: String { "Zoo" }
    var primaryKey: String { "zoo" }
    var animal: Animal
    func archive() throws -> Data { Data() }
    static func deArchive(fromData data: Data) throws -> any Archivable {
        Zoo(animal: Animal("rex"))
    }
}

/// Records its animal nowhere else.
private struct Park: Archivable {
    static var archiveName: String { "Park" }
    static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }
    var primaryKey: String { "park" }
    var animal: Animal
    func archive() throws -> Data { Data() }
    static func deArchive(fromData data: Data) throws -> any Archivable {
        Park(animal: Animal("rex"))
    }
}

private class Shape: Archivable {
    static var archiveName: String { "Shape" }
    let primaryKey: String
    init(_ primaryKey: String) { self.primaryKey = primaryKey }
    func archive() throws -> Data { Data(primaryKey.utf8) }
    class func deArchive(fromData data: Data) throws -> any Archivable {
        let parts = String(decoding: data, as: UTF8.self).split(separator: ";").map(String.init)
        guard parts.count == 2, let radius = Int(parts[1]) else { return Shape(parts[0]) }
        let circle = Circle(parts[0])
        circle.radius = radius
        return circle
    }
}

private final class Circle: Shape {
    var radius = 1
    override func archive() throws -> Data { Data("\(primaryKey);\(radius)".utf8) }
}

/// A revision that keeps the one before it, which has the same key.
private class Revision: Archivable {
    static var archiveName: String { "Revision" }
    static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
    let primaryKey: String
    init(_ primaryKey: String) { self.primaryKey = primaryKey }
    func archive() throws -> Data { Data("first".utf8) }
    class func deArchive(fromData data: Data) throws -> any Archivable {
        data == Data("first".utf8) ? Revision("letter") : LaterRevision("letter")
    }
}

private final class LaterRevision: Revision {
    var previous: Revision?
    override func archive() throws -> Data { Data("later".utf8) }
}

private final class Square: Shape {}
