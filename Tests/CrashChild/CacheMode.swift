import CrashScript
import Foundation
import MiniCache

/// Opens a cache with a version, sets a value, and prints how many values there were before.
///
///     CrashChild cache FOLDER VERSION KEY VALUE
enum CacheMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 6, let value = Int(arguments[5]) else { exit(2) }
        let manager = MiniCacheManager(
            name: "Caches",
            directory: URL(fileURLWithPath: arguments[2])
        )
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Numbers",
            cacheVersion: .custom(arguments[3]),
            maxAge: .days(7)
        )
        say("\(try whileBusy { try cache.count() })")
        try whileBusy { try cache.set(value, forKey: arguments[4]) }
        try whileBusy { try manager.close() }
    }
}
