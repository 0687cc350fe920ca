import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import MiniCache
@testable import VellumCore
@testable import VellumEngine

/// Every write is heard: the table of decision 75, for caches.
@Suite(.ownThreads)
struct CacheHeardTests {
    private final class Subject: HeardSubject {
        let clock = ManualClock()
        private let folder: TemporaryDirectory
        private let manager: MiniCacheManager
        private let cache: MiniCache<String, String>
        /// The manager of the others, until the end of the test.
        private let other = Locked<MiniCacheManager?>(nil)
        private let store: Store<CachedValue>

        init() throws {
            folder = try TemporaryDirectory()
            manager = MiniCacheManager(name: "Test", directory: folder.url, clock: clock.wallClock)
            cache = Self.cache(of: manager)
            store = try cache.openStore()
            // Expired values stay, so that no test depends on when they are swept.
            try store.setRetention(cache.expiration, staleWindow: .seconds(86_400))
        }

        private static func cache(
            of manager: MiniCacheManager,
            version: String = "1"
        ) -> MiniCache<String, String> {
            manager.cache(cacheName: "Pages", cacheVersion: .custom(version), maxAge: .days(1))
        }

        var runningLoads: Int { store.loads.count }
        var waiters: Int { store.loads.waiterCount }

        func load(
            whileRevalidate: Duration,
            ifError: Duration,
            options: LoadOptions,
            _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
        ) async throws -> Loaded<String?> {
            try await cache.loading(into: [HeardCell.group, "all"]).load(
                HeardCell.key,
                staleWhileRevalidate: whileRevalidate,
                staleIfError: ifError,
                options: options,
                orLoad: loader
            )
        }

        func stored() throws -> String? {
            let inMemory = try cache.value(forKey: HeardCell.key)
            cache.trimMemory(to: .zero)
            let onDisk = try cache.value(forKey: HeardCell.key)
            return inMemory == onDisk
                ? onDisk : "\(inMemory ?? "nothing") in memory, \(onDisk ?? "nothing") on disk"
        }

        func set(_ text: String) throws { try cache.set(text, forKey: HeardCell.key) }

        func setUndecodable() { Issue.record("Nobody asks a cache for what cannot be decoded.") }

        func observe(all: Bool) -> () async throws -> String? {
            var answers = cache.observe(forKey: HeardCell.key).makeAsyncIterator()
            return {
                let answer = try await answers.next(isolation: #isolation)
                return try #require(answer)
            }
        }

        func reset() throws { try cache.removeAll() }

        private func manager(_ origin: HeardCell.Origin) -> MiniCacheManager {
            if origin == .sameHandle { return manager }
            if let other = other.withLock({ $0 }) { return other }
            if origin == .otherProcess { DatabaseFile.openSeparately(at: manager.url) }
            let new = MiniCacheManager(name: "Test", directory: folder.url, clock: clock.wallClock)
            other.withLock { $0 = new }
            return new
        }

        func write(_ write: HeardCell.Write, from origin: HeardCell.Origin) async throws {
            let manager = manager(origin)
            switch write {
            case .clearAll: return manager.clearAll()
            case .otherVersion: return _ = Self.cache(of: manager, version: "2")
            case .drop:
                #expect(try manager.drop(cacheNamed: "Pages") || cache.count() == 0)
                return
            default: break
            }
            let cache = origin == .sameHandle ? cache : Self.cache(of: manager)
            let (key, new) = (HeardCell.key, "written")
            switch write {
            case .set: try cache.set(new, forKey: key)
            case .setExpired: try cache.set(new, forKey: key, expiration: .after(.zero))
            case .subscriptSet: cache[key] = new
            case .setIfAbsent: try cache.setIfAbsent(new, forKey: key)
            case .update: try cache.update(forKey: key) { $0 = new }
            case .loadElsewhere: _ = try await cache.value(forKey: key) { new }
            case .remove: try cache.removeValue(forKey: key)
            case .subscriptNil: cache[key] = nil
            case .updateToNil: try cache.update(forKey: key) { $0 = nil }
            case .removeAll: try cache.removeAll()
            case .removePrefix: try cache.removeAll(prefix: HeardCell.prefix)
            case .removeEmptyPrefix: try cache.removeAll(prefix: "")
            case .removeGroup: try cache.removeAll(group: HeardCell.group)
            case .expire:
                let disk = try cache.openStore().disk
                try ArchiveHarness(disk, clock: clock, isDelegate: false).write(
                    try cache.entryKey(of: key),
                    .removeExpired
                )
            case .setMany, .transactionSet, .removeMany, .transactionRemove, .transactionRemoveAll,
                .removeWhere, .removeUndecodable,
                .removeUnused,
                .clearAll, .drop, .otherVersion:
                Issue.record("Caches have no \(write).")
            }
        }
    }

    private static let rows = HeardCell.rows(
        of: [
            .set, .setExpired, .subscriptSet, .setIfAbsent, .update, .loadElsewhere, .remove,
            .subscriptNil, .updateToNil, .removeAll,
            .removePrefix,
            .removeEmptyPrefix, .removeGroup, .clearAll, .drop, .otherVersion, .expire,
        ],
        by: HeardCell.Bystander.allCases.filter { $0 != .observerOfAll },
        recordsAbsence: true
    )

    @Test(arguments: rows) func everyWriteIsHeard(_ row: HeardCell.Row) async throws {
        var subject = try Subject()
        for cell in row.cells {
            #expect(await cell.run(on: subject) == cell.expected, "\(cell)")
            // Its handle finds nothing any more.
            if cell.write == .otherVersion { subject = try Subject() }
        }
    }
}

extension DatabaseFile {
    /// Lets the next opening of the file share nothing with this one but the file, as that of
    /// another process does.
    static func openSeparately(at url: URL) {
        if let file = opened(at: url) { FileRegistry.shared.remove(file) }
    }
}
