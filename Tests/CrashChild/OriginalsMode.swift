import CrashScript
import Foundation
import MiniCache
import Vellum
import VellumEngine

/// Opens what an original library left.
enum OriginalsMode {
    /// An archive whose objects version 1 left in files.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 3 else { exit(2) }
        try counting {
            let folder = URL(fileURLWithPath: arguments[2])
            let factory = ArchivesFactory(
                directory: folder.appendingPathComponent("archives"),
                importing: folder.appendingPathComponent("originals")
            )
            _ = try whileBusy { try factory.store(for: Item.self) }
            try whileBusy { try factory.close() }
        }
    }

    /// A cache of the original MiniCache.
    static func runCaches(_ arguments: [String]) throws {
        guard arguments.count == 3 else { exit(2) }
        try counting {
            let manager = MiniCacheManager(
                name: "Caches",
                directory: URL(fileURLWithPath: arguments[2])
            )
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "safe",
                cacheVersion: .custom("1"),
                maxAge: .forever
            )
            _ = try cache.count()
            try manager.close()
        }
    }

    private static func counting(_ body: () throws -> Void) throws {
        if ProcessInfo.processInfo.environment["VELLUM_COUNT_POINTS"] != nil {
            CrashPoint.startCounting()
        }
        try body()
        for (point, passings) in CrashPoint.passings { say("\(point.rawValue) \(passings)") }
    }
}
