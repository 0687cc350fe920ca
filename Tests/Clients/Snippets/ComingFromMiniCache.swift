// What programs of MiniCache may want to write when they come here.

import Foundation
import MiniCache

let manager = MiniCacheManager(name: "MiniCache")
let cache: MiniCache<String, Int> = manager.cache(
    cacheName: "Counter",
    cacheVersion: .appVersion,
    maxAge: .days(7),
    diskLimit: .unlimited
)

cache["foo"] = 1
Task {
    for await failure in cache.failures { print(failure) }
}
