import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// No cache and no storage grows with the number of operations. `VELLUM_OPERATIONS` is their
/// number; without it, nothing is run, because other tests of the process would be measured, too.
@Suite(
    .ownThreads(.longSuite),
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["VELLUM_OPERATIONS"] != nil)
)
struct BoundedMemoryTests {
    enum Kind: CaseIterable {
        case archive, archiveOfLargeMemory, cache, cacheLoading, memoryStorage, lruStorage,
            sqliteStorage, combined, folder
    }

    private struct Note: ArchiveCodable, Sendable {
        static var archiveName: String { "note" }
        var primaryKey: String
        var text: String
    }

    private static let operations =
        ProcessInfo.processInfo.environment["VELLUM_OPERATIONS"].flatMap(Int.init) ?? 0
    private static let text = String(repeating: "x", count: 100)

    /// A cycle of operations over a thousand keys: set, get, and now and then remove.
    private func operation(
        _ kind: Kind,
        in folder: TemporaryDirectory
    ) throws -> (Int) async throws
        -> Void
    {
        func storage(_ storage: Storage<Filename, String>) -> (Int) async throws -> Void {
            { number in
                // What was set just now is there.
                let key = Filename(rawValue: "\(number / 2 % 1000)")
                if number % 2 == 0 {
                    try await storage.set(Self.text, forKey: key)
                } else {
                    _ = try await storage.retrieve(forKey: key)
                }
            }
        }
        switch kind {
        case .archive, .archiveOfLargeMemory:
            let factory = ArchivesFactory(directory: folder.url)
            let store = try factory.store(
                for: Note.self,
                memoryLimit: kind == .archive ? 10.kiloByte : 1.megaByte,
                diskLimit: 50.kiloByte
            )
            return { number in
                let key = "\(number / 2 % 1000)"
                switch number % 20 {
                case 0: try store.delete(archiveWithKey: key)
                case let step where step % 2 == 0:
                    try store.record(Note(primaryKey: key, text: Self.text))
                default: _ = try store.access(archiveWithKey: key)
                }
            }
        case .cache, .cacheLoading:
            let manager = MiniCacheManager(name: "Caches", directory: folder.url)
            let cache: MiniCache<String, String> = manager.cache(
                cacheName: "Texts",
                cacheVersion: .custom("1"),
                maxAge: .days(1),
                memoryLimit: 10.kiloByte,
                diskLimit: 50.kiloByte
            )
            return { number in
                let key = "\(number / 2 % 1000)"
                if kind == .cacheLoading {
                    _ = try await cache.value(forKey: key) { Self.text }
                    if number % 10 == 0 { try cache.removeValue(forKey: key) }
                } else if number % 2 == 0 {
                    try cache.set(Self.text, forKey: key)
                } else {
                    _ = try cache.value(forKey: key)
                }
            }
        case .memoryStorage: return storage(MemoryStorage<Filename, String>().asStorage())
        case .lruStorage:
            return storage(try LRUStorage<Filename, String>(maxCount: 500).asStorage())
        case .sqliteStorage:
            return storage(
                SQLiteStorage<String>(fileURL: folder.file("Storage.sqlite")).asStorage()
            )
        case .combined:
            return storage(
                MemoryStorage<Filename, String>().combined(with: MemoryStorage<Filename, String>())
            )
        case .folder:
            return storage(DiskFolderStorage(folderURL: folder.url).asStorage().mapString())
        }
    }

    @Test(arguments: Kind.allCases)
    func memoryDoesNotGrowWithTheNumberOfOperations(_ kind: Kind) async throws {
        let folder = try TemporaryDirectory()
        // Each operation of a folder is some system calls.
        let operations = kind == .folder ? Self.operations / 10 : Self.operations
        let growth = try await growth(during: operations, of: try operation(kind, in: folder))
        print(
            """
            \(kind): \(operations) operations, memory grew by \
            \(growth.map { "\($0 / 1024) KiB" } ?? "what is not known")
            """
        )
        // Less than two bytes each: what the smallest note of an operation takes, and what
        // allocation leaves in pieces.
        if let growth { #expect(growth < max(4 << 20, operations * 2)) }
    }
}
