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

let cities = try ArchivesFactory.shared.archives(for: City.self)
let isThere = #Predicate<City> { $0.country == "CH" && $0.name.contains("er") }
let largest = try cities.store.fetch(where: isThere, sortedBy: [SortDescriptor(\.people, order: .reverse)], limit: 10)
let found = cities.findWhere { $0.country(.isEqual("CH")).people(.greater(than: 10_000)) }
    .sorted { $0.people(.descending) }.limitResults(by: 10).getResults()
// snippet.hide
print(largest.count, found.count)
