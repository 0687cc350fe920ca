import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTestSupport
import VellumTesting

/// FN10: the rows of the table of parameters that awaited methods have. They are passed on to the
/// methods of the same names.
@Suite(.ownThreads)
struct AsyncInputTests {
    private struct Item: ArchiveCodable, Sendable, Equatable {
        static var archiveName: String { "Items" }
        var primaryKey: String { id }
        var id: String
    }

    private static func store(_ clock: WallClock = .system) throws -> ArchiveStore<Item> {
        let store = try ArchivesFactory.inMemory(clock: clock).store(
            for: Item.self,
            diskLimit: .unlimited
        )
        try store.record(contentsOf: ["a", "b", "c"].map { Item(id: $0) })
        return store
    }

    private static func cache() throws -> MiniCache<String, Int> {
        let manager = MiniCacheManager.inMemory(clock: ManualClock().wallClock)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        for key in ["a", "b", "c"] { try cache.set(1, forKey: key, groups: ["g"]) }
        return cache
    }

    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    private static let counts: [InputCase] = [
        InputCase(
            "AsyncArchiveStore.keys limit",
            "AsyncArchiveStore.accessAll limit",
            "AsyncMiniCache.keys limit",
            of: HostileInput.counts
        ) { limit in
            let (store, cache, expected) = (try store(), try cache(), min(3, max(0, limit)))
            try expect(try await store.async.keys(limit: limit).count == expected, "keys")
            try expect(
                try await store.async.keys(prefix: "", limit: limit).count == expected,
                "keys of a prefix"
            )
            try expect(try await store.async.accessAll(limit: limit).count == expected, "accessAll")
            try expect(
                try await cache.async.keys(limit: limit).count == expected,
                "keys of a cache"
            )
            try expect(
                try await cache.async.keys(group: "g", limit: limit).count == expected,
                "keys of a group"
            )
        },
        InputCase(
            "AsyncArchiveStore.fetch limit",
            "AsyncArchiveStore.explain limit",
            "AsyncArchiveStore.fetch offset",
            "AsyncArchiveStore.explain offset",
            of: HostileInput.counts,
            throwing: { $0 < 0 ? .invalidQuery : nil }
        ) { count in
            let store = try store()
            try expect(try await store.async.fetch(limit: max(0, count)).count <= 3, "fetch")
            _ = (
                try await store.async.fetch(limit: count),
                try await store.async.explain(limit: count)
            )
            _ = (
                try await store.async.fetch(offset: count),
                try await store.async.explain(offset: count)
            )
        },
        InputCase(
            "AsyncArchiveStore.record inBatchesOf",
            "BatchRecording.recorded",
            of: HostileInput.counts
        ) { size in
            let recording = try await store().async.record(
                contentsOf: ["d", "e"].map { Item(id: $0) },
                inBatchesOf: size
            )
            try expect(recording.recorded == 2, "record")
            try recording.get()
        },
        InputCase(
            "WaitingCalls.count",
            "WaitingCalls.threads",
            "WaitingCalls.init count",
            "WaitingCalls.init threads",
            of: HostileInput.counts
        ) {
            var calls = WaitingCalls(count: $0, threads: $0)
            (calls.count, calls.threads) = ($0, $0)
            try expect(!calls.description.isEmpty, "description")
        },
        InputCase(
            "WaitingCalls.longestWait",
            "WaitingCalls.init longestWait",
            of: HostileInput.durations
        ) {
            var calls = WaitingCalls(longestWait: $0)
            calls.longestWait = $0
            try expect(!calls.description.isEmpty, "description")
        },
    ]

    private static let ages: [InputCase] = [
        InputCase(
            "AsyncArchiveStore.record expiration",
            "AsyncArchiveStore.recordIfAbsent expiration",
            "AsyncArchiveStore.update expiration",
            "AsyncMiniCache.set expiration",
            "AsyncMiniCache.set maxAge",
            "AsyncMiniCache.setIfAbsent expiration",
            "AsyncMiniCache.setIfAbsent maxAge",
            "AsyncMiniCache.update expiration",
            "AsyncMiniCache.update maxAge",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let (age, maxAge) = (Expiration.after(seconds: seconds), CacheMaxAge.seconds(seconds))
            let (store, cache) = (try store(TestClock().wallClock).async, try cache().async)
            let writes: [@Sendable () async throws -> Void] = [
                { try await store.record(Item(id: "x"), expiration: age) },
                { try await store.record(contentsOf: [Item(id: "x")], expiration: age) },
                {
                    try await store.record(
                        contentsOf: [Item(id: "x")],
                        inBatchesOf: 1,
                        expiration: age
                    ).get()
                },
                { try await store.recordIfAbsent(Item(id: "y"), expiration: age) },
                {
                    try await store.update(archiveWithKey: "a", expiration: age) {
                        $0 = Item(id: "a")
                    }
                },
                { try await cache.set(1, forKey: "x", expiration: age) },
                { try await cache.set(1, forKey: "x", maxAge: maxAge) },
                { try await cache.set(1, forKey: "x", expiration: age, groups: ["g"]) },
                { try await cache.set(1, forKey: "x", maxAge: maxAge, groups: ["g"]) },
                { try await cache.setIfAbsent(1, forKey: "y", expiration: age) },
                { try await cache.setIfAbsent(1, forKey: "z", maxAge: maxAge) },
                { try await cache.update(forKey: "a", expiration: age) { $0 = 2 } },
                { try await cache.update(forKey: "a", maxAge: maxAge) { $0 = 3 } },
            ]
            var errors: [any Error] = []
            for write in writes { do { try await write() } catch { errors.append(error) } }
            try expect(errors.isEmpty || errors.count == writes.count, "\(errors)")
            if let error = errors.first { throw error }
        },
        InputCase(
            "AsyncArchiveStore.deleteAll lastUsedBefore",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            _ = try await store().async.deleteAll(
                lastUsedBefore: Date(timeIntervalSince1970: seconds)
            )
        },
    ]

    private static let names: [InputCase] = [
        InputCase(
            "AsyncArchiveStore.access archiveWithKey",
            "AsyncArchiveStore.contains archiveWithKey",
            "AsyncArchiveStore.delete archiveWithKey",
            "AsyncArchiveStore.metadata forKey",
            "AsyncArchiveStore.encodedData forKey",
            "AsyncArchiveStore.cborValue forKey",
            "AsyncArchiveStore.keys prefix",
            "AsyncArchiveStore.deleteAll prefix",
            "AsyncMiniCache.keys prefix",
            "AsyncMiniCache.removeAll prefix",
            of: HostileInput.names
        ) { key in
            let (store, cache) = (try store().async, try cache().async)
            _ = (
                try await store.access(archiveWithKey: key),
                try await store.contains(archiveWithKey: key)
            )
            _ = (
                try await store.metadata(forKey: key), try await store.encodedData(forKey: key),
                try await store.cborValue(forKey: key)
            )
            _ = (
                try await store.keys(prefix: key), try await store.delete(archiveWithKey: key),
                try await store.deleteAll(prefix: key)
            )
            _ = (try await cache.keys(prefix: key), try await cache.removeAll(prefix: key))
        },
        InputCase(
            "AsyncArchiveStore.update archiveWithKey",
            of: HostileInput.names,
            throwing: HostileInput.isValid
        ) { key in
            try await store().async.update(archiveWithKey: key) { $0 = Item(id: key) }
        },
        InputCase(
            "AsyncMiniCache.keys group",
            "AsyncMiniCache.removeAll group",
            of: HostileInput.names,
            throwing: { $0.utf8.count > 1024 ? .keyTooLong : nil }
        ) { group in
            let cache = try cache().async
            _ = try await cache.keys(group: group)
            try await cache.removeAll(group: group)
        },
    ]

    static let table = counts + ages + names

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
