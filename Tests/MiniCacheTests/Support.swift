import Foundation
import MiniCache
import VellumTestSupport

/// A temporary folder with a manager and a manual clock. The folder is removed with the object.
final class TemporaryCaches: Sendable {
    let directory: URL
    let clock = ManualClock()
    let manager: MiniCacheManager

    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "MiniCacheTests-\(UUID().uuidString)",
            isDirectory: true
        )
        manager = MiniCacheManager(name: "Caches", directory: directory, clock: clock.wallClock)
    }

    /// Returns another manager of the same file, as another process or a later launch would make.
    func anotherManager(durability: Durability = .crashSafe) -> MiniCacheManager {
        MiniCacheManager(
            name: "Caches",
            directory: directory,
            durability: durability,
            clock: clock.wallClock
        )
    }

    var file: URL { manager.url }

    /// Creates the folder.
    func makeDirectory() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// The names of the files in the folder.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    func size(_ suffix: String = "") throws -> Int {
        guard FileManager.default.fileExists(atPath: file.path + suffix) else { return 0 }
        return try
            (FileManager.default.attributesOfItem(atPath: file.path + suffix)[.size] as? NSNumber)?
            .intValue ?? 0
    }

    /// Returns a cache with string keys.
    ///
    /// - Parameter window: For how long expired values stay: a second after it was opened, a cache
    ///   removes those that it need not keep.
    func cache<Value: Codable & Sendable>(
        _ name: String = "Test",
        version: CacheVersion = .custom("1"),
        maxAge: CacheMaxAge = .days(7),
        keepExpiredFor window: Duration = .zero,
        of type: Value.Type = Int.self
    ) -> MiniCache<String, Value> {
        manager.cache(
            cacheName: name,
            cacheVersion: version,
            maxAge: maxAge,
            keepExpiredFor: window
        )
    }

    /// Returns a cache with string keys.
    func cache(
        _ name: String = "Test",
        version: CacheVersion = .custom("1"),
        expiration: Expiration
    ) -> MiniCache<String, Int> {
        manager.cache(cacheName: name, cacheVersion: version, expiration: expiration)
    }

    deinit {
        try? manager.close()
        try? FileManager.default.removeItem(at: directory)
    }
}

/// Returns the code of the error that `body` throws.
func code(_ body: () throws -> Void) -> VellumError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? MiniCacheError)?.code
    }
}
