import Foundation
import TestThreads
import Testing

@testable import Vellum

/// Indexes that a class declares do not change results of its subclasses.
@Suite(.ownThreads)
struct SubclassIndexTests {
    class Beast: IndexedArchivable {
        class var archiveName: String { "beasts" }
        var primaryKey: String { name }
        var name = ""
        var legs = 0

        required init() {}

        static var archiveIndexes: [ArchiveIndex<Beast>] {
            [.index(\.legs, named: "legs"), .index(\.name, named: "name")]
        }

        func archive() throws -> Data { Data("\(legs) \(name)".utf8) }

        class func deArchive(fromData data: Data) throws -> any Archivable {
            let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
            let beast = Self()
            beast.legs = Int(parts[0]) ?? 0
            beast.name = String(parts[1])
            return beast
        }
    }

    final class Dog: Beast {
        override class var archiveName: String { "dogs" }
    }

    @Test func queriesOfASubclassReturnTheResultsOfItsParent() throws {
        let archives = TemporaryArchives()
        let dogs = try archives.factory.archives(for: Dog.self)
        for (name, legs) in [("rex", 4), ("tripod", 3), ("bello", 4)] {
            let dog = Dog()
            (dog.name, dog.legs) = (name, legs)
            dogs.record(dog)
        }
        let query = dogs.findWhere { $0.legs(.isEqual(4)) }.sorted { $0.name(.ascending) }
        #expect(query.getResults().map(\.name) == ["bello", "rex"])
        #expect(try dogs.store.count(where: #Predicate { $0.legs == 3 }) == 1)
    }
}
