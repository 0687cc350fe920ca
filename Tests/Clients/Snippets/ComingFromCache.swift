// A cache with the settings of one of hyperoslo/Cache.

import Foundation
import MiniCache

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Floppy")
// snippet.show

struct User: Codable {
    var name: String
}

let manager = MiniCacheManager(name: "Floppy", directory: folder)
let users: MiniCache<String, User> = manager.cache(
    cacheName: "users",
    cacheVersion: .custom("1"),
    maxAge: .hours(1),
    memoryLimit: 10.megaBytes,
    diskLimit: 100.megaBytes
)

try users.set(User(name: "Ann"), forKey: "ann", maxAge: .days(1))
let ann = try users.value(forKey: "ann")
let isThere = try users.contains("ann")
let written = try users.metadata(forKey: "ann")?.written
try users.removeValue(forKey: "ann")
try users.removeAll()
// snippet.hide

print(ann?.name ?? "nobody", isThere, written ?? .distantPast)
