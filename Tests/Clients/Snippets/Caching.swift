// A cache that expires by age and version, set and read like a dictionary; and a value that is
// loaded once for all who want it.

import Foundation
import MiniCache

let manager = MiniCacheManager(name: "MiniCache")
let cache: MiniCache<String, Int> =
    manager.cache(cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))
cache["foo"] = 1
print(cache["foo"] ?? 0)
// The throwing methods distinguish a miss, which is nil, from a failure.
try cache.set(2, forKey: "bar", maxAge: .hours(1))
print(try cache.value(forKey: "bar") ?? 0, try cache.keys().count)

// One load for all who ask; an old value if it fails or is slow; a new one ahead of its age.
let options = LoadOptions(softTimeout: .milliseconds(200), refreshAhead: 0.8)
let count = try await cache.value(forKey: "hits", staleIfError: .seconds(9), options: options) {
    try await countVisits()
}
// An old value while it is loaded again: the loader gets it, and says how long its result is valid.
let last = try await cache.value(forKey: "last", staleWhileRevalidate: .seconds(9)) {
    .value(try await update($0), maxAge: .seconds(60))
}
// snippet.hide
print(count, last ?? 0)

func countVisits() async throws -> Int { 42 }
func update(_ last: Int?) async throws -> Int { (last ?? 0) + 1 }
