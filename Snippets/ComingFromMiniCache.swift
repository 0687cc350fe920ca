// What programs of MiniCache may want to write when they come here.

import Foundation
import MiniCache

let manager = MiniCacheManager(name: "MiniCache")
let cache: MiniCache<String, Int> = manager.cache(
    cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7), diskLimit: .unlimited)

cache["foo"] = 1
Task {
    for await failure in cache.failures { print(failure) }
}

for old in try manager.caches() where old.name == "Counter" && old.version != "2.0-17" {
    try manager.drop(cacheNamed: old.name, version: old.version)
}
