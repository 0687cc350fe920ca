// What to look at when something is slow.

import Foundation
import Vellum

struct Person: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveIndexes: [ArchiveIndex<Person>] { [.index(\.city)] }

    var primaryKey: String { name }
    var name: String
    var city: String
}

// snippet.hide
func imported() -> [Person] { [] }
// snippet.show
func measure(_ people: ArchiveStore<Person>) throws {
    try people.record(contentsOf: imported())  // One transaction for all.
    // Hits of memory, hits of the disk, evictions.
    print(try people.statistics())
    print(try people.explain(where: #Predicate { $0.city == "Bern" }))
}
// snippet.hide

let factory = ArchivesFactory(
    directory: FileManager.default.temporaryDirectory.appending(path: "Performance")
)
try measure(try factory.store())
