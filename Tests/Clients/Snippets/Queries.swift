// The second example of the README: queries that use an index.

import Foundation
import Vellum

struct City: ArchiveCodable, IndexedArchivable {
    var primaryKey: String { name }
    var name: String
    var country: String
    var people: Int
    static var archiveIndexes: [ArchiveIndex<City>] { [.index(\.country, \.people)] }
}

let cities = try ArchivesFactory.shared.store(for: City.self, diskLimit: 20.megaByte)
let isLarge = #Predicate<City> { $0.country == "CH" && $0.people > 10_000 }
let byPeople = SortDescriptor(\City.people, order: .reverse)
let largest = try cities.fetch(where: isLarge, sortedBy: [byPeople], limit: 10)
let count = try cities.count(where: isLarge)
// snippet.hide
print(largest.count, count)
