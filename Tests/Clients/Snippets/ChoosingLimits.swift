// Archives and caches of several sizes.

import Foundation
import MiniCache
import Shallows
import Vellum

struct Photo: ArchiveCodable {
    var primaryKey: String { name }
    var name: String
    var bytes: Data
}

struct Letter: ArchiveCodable {
    var primaryKey: String { number }
    var number: String
    var text: String
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "ChoosingLimits")
let factory = ArchivesFactory(directory: folder)
let manager = MiniCacheManager(name: "Limits", directory: folder)
// snippet.show
let letters = try factory.store(for: Letter.self, diskLimit: .unlimited)
let photos = try factory.store(
    for: Photo.self,
    memoryLimit: 20.megaByte,
    diskLimit: 500.megaByte
)
let rates: MiniCache<String, Double> = manager.cache(
    cacheName: "rates",
    cacheVersion: .custom("1"),
    maxAge: .hours(1),
    diskLimit: 5.megaByte
)

let sizing = try photos.statistics().sizing
if let size = sizing?.limit(keeping: 0.95) {
    print("diskLimit: \(size) would keep 95 % of the hits")
}

let statistics = try photos.statistics()
print("\(statistics.disk) of \(photos.limits.disk)")
print("\(statistics.evictedSize) evicted by this process")
print("hits: \(statistics.hitRatio)")

// snippet.hide
let thumbnails = try LRUStorage<String, Data>(maxBytes: 10.megaByte)
// snippet.show
MemoryPressure.isFollowed = false  // not in this process
MemoryPressure.announce(.warning)  // this program has another signal
photos.trimMemory(to: 1.megaByte)  // this archive alone
thumbnails.trimsUnderMemoryPressure(toFraction: 0.1)
// snippet.hide

try letters.record(Letter(number: "1", text: "Dear Ann"))
