// A cache of counters: set and read like a dictionary, and the same told strictly.

import Foundation
import MiniCache

let manager = MiniCacheManager(name: "MiniCache")
let cache: MiniCache<String, Int> = manager.cache(cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))

cache["foo"] = 1
let value = cache["foo"]
print(value ?? 0)

// The verbs that throw tell a miss, which is nil, from a failure.
try cache.set(2, forKey: "bar", maxAge: .hours(1))
let bar = try cache.value(forKey: "bar")
print(bar ?? 0, try cache.keys().count)
