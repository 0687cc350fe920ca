// The client whose size and build are counted: `record`, `access` and `fetch` of one type
// (Scripts/client.py).
import Foundation
import Vellum

struct Town: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveName: String { "Town" }
    static var archiveIndexes: [ArchiveIndex<Town>] { [.index(\.people)] }
    var primaryKey: String { name }
    var name: String
    var people: Int
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
let towns = try ArchivesFactory(directory: folder).store(for: Town.self)
try towns.record(Town(name: "a", people: 1))
print(try towns.access(archiveWithKey: "a")?.people ?? 0)
print(try towns.fetch(where: #Predicate { $0.people == 1 }).count)
