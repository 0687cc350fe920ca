// Objects that were kept in UserDefaults.

import Foundation
import Vellum

struct Bookmark: ArchiveCodable {
    var primaryKey: String { page }
    var page: String
    var added: Date
}

let support = FileManager.default.urls(
    for: .applicationSupportDirectory,
    in: .userDomainMask
)[0]
let factory = ArchivesFactory(
    directory: support.appendingPathComponent("Bookmarks"),
    durability: .powerSafe
)
let bookmarks = try factory.store(
    for: Bookmark.self,
    diskLimit: .unlimited
)

let key = "bookmarks"
if let data = UserDefaults.standard.data(forKey: key) {
    let old = try JSONDecoder().decode([Bookmark].self, from: data)
    try bookmarks.record(contentsOf: old)
    UserDefaults.standard.removeObject(forKey: key)
}

try bookmarks.record(Bookmark(page: "swift.org", added: .now))
let bookmark = try bookmarks.access(archiveWithKey: "swift.org")
try bookmarks.delete(archiveWithKey: "swift.org")
let newest = try bookmarks.fetch(
    sortedBy: [SortDescriptor(\.added, order: .reverse)],
    limit: 10
)
// snippet.hide

print(bookmark?.page ?? "none", newest.count)
