// What a write survives: an archive of orders, and previews that can be made again.

import Foundation
import MiniCache
import Vellum

struct Order: ArchiveCodable {
    var primaryKey: String { number }
    var number: String
    var isPaid = false
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Durability")
// snippet.show
let factory = ArchivesFactory(
    directory: folder.appending(path: "Orders"),
    durability: .powerSafe
)
let orders = try factory.store(for: Order.self, diskLimit: .unlimited)
try orders.record(Order(number: "2026-117"))  // It is on the disk now.

let previews = MiniCacheManager(
    name: "Previews",
    directory: folder,
    durability: .relaxed
)

let drafts = try ArchivesFactory(directory: folder).store(for: Order.self)
for number in 1...1000 {
    try drafts.record(Order(number: "draft \(number)"))
}
try drafts.flush()  // One sync for all of them.
// snippet.hide

print(previews.name)
