import Dispatch
import Foundation
import MiniCache
import Samples

/// The operations of a cache of numbers, for `beside_diskcache.py`, which does the same with
/// python-diskcache: prints the number of entries, the name of the operation and the nanoseconds of
/// each turn.
enum CacheTimes {
    static func measure(_ workspace: Workspace) throws {
        for scale in [1000, 100_000] {
            let folder = try workspace.folder("scratch/cache-\(scale)-\(UUID().uuidString)")
            let manager = MiniCacheManager(name: "Numbers", directory: folder)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "Numbers",
                cacheVersion: .custom("1"),
                maxAge: .days(7)
            )
            let operations = 5000
            for index in 0..<scale { try cache.set(index, forKey: "key-\(index)") }
            // With an empty memory cache, so that the disk answers, as in diskcache.
            let scattered = (0..<operations).map { "key-\($0 * 7919 % scale)" }
            try report(scale, "set-new", (0..<operations).map { "new-\($0)" }) {
                try cache.set(1, forKey: $0)
            }
            try report(scale, "set-over", scattered) { try cache.set(2, forKey: $0) }
            try report(
                scale,
                "get-disk",
                scattered,
                prepare: {
                    cache.trimMemory(to: .zero)
                    return { key in _ = try cache.value(forKey: key) }
                }
            )
            for key in scattered { _ = try cache.value(forKey: key) }
            try report(scale, "get-memory", scattered) { _ = try cache.value(forKey: $0) }
            try manager.close()
            try FileManager.default.removeItem(at: folder)
        }
    }

    private static func report(
        _ scale: Int,
        _ name: String,
        _ keys: [String],
        _ body: @escaping (String) throws -> Void
    ) throws {
        try report(scale, name, keys) { body }
    }

    /// - Parameter prepare: Prepares an operation and returns it. Not measured.
    private static func report(
        _ scale: Int,
        _ name: String,
        _ keys: [String],
        prepare: () throws -> (String) throws -> Void
    ) throws {
        var samples: [UInt64] = []
        for key in keys {
            let operation = try prepare()
            let start = DispatchTime.now().uptimeNanoseconds
            try operation(key)
            samples.append(DispatchTime.now().uptimeNanoseconds - start)
        }
        print(scale, name, samples.map(String.init).joined(separator: " "))
    }
}
