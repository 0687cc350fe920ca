import Foundation
import MiniCache
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// FN10: the rows of the table of parameters that caches have.
@Suite(.ownThreads)
struct CacheInputTests {
    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    private static func cache(
        _ manager: MiniCacheManager = .inMemory(clock: ManualClock().wallClock),
        _ maxAge: CacheMaxAge = .days(1),
        name: String = "Test"
    ) -> MiniCache<String, Int> {
        manager.cache(cacheName: name, cacheVersion: .custom("1"), maxAge: maxAge)
    }

    /// A value that a cache loads, by a method of the protocol.
    private static func load(
        _ cache: some LoadingCache<String, Int>,
        _ key: String,
        maxAge: CacheMaxAge? = nil,
        stale: Duration = .zero,
        options: LoadOptions = LoadOptions()
    ) async throws -> Int {
        let load: @Sendable () async throws -> Int = { 2 }
        let loaded = try await cache.load(
            key,
            maxAge: maxAge,
            staleWhileRevalidate: stale,
            staleIfError: stale,
            options: options,
            orLoad: load
        )
        let value = try await cache.value(
            forKey: key,
            maxAge: maxAge,
            staleWhileRevalidate: stale,
            staleIfError: stale,
            options: options,
            orLoad: load
        )
        try expect(value == loaded.value, "\(key)")
        return value
    }

    static let table: [InputCase] = [
        InputCase(
            "CacheMaxAge.days _",
            "CacheMaxAge.hours _",
            "CacheMaxAge.timeInterval _",
            "CacheMaxAge.seconds _",
            "CacheMaxAge.minutes _",
            "MiniCache.set maxAge",
            "MiniCache.set expiration",
            "MiniCache.setIfAbsent maxAge",
            "MiniCache.setIfAbsent expiration",
            "MiniCache.update maxAge",
            "MiniCache.update expiration",
            "MiniCacheManager.cache maxAge",
            "MiniCacheManager.cache expiration",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let ages: [CacheMaxAge] = [
                .days(seconds), .hours(seconds), .timeInterval(seconds), .seconds(seconds),
                .minutes(seconds),
            ]
            let (expiration, age) = (
                Expiration.after(seconds: seconds), CacheMaxAge.seconds(seconds)
            )
            var errors: [any Error] = []
            var writes: [(MiniCache<String, Int>) throws -> Void] = [
                { try $0.set(1, forKey: "a", expiration: expiration) },
                { _ = try $0.setIfAbsent(1, forKey: "a", maxAge: age) },
                { _ = try $0.setIfAbsent(1, forKey: "a", expiration: expiration) },
                { try $0.update(forKey: "a", maxAge: age) { $0 = 1 } },
                { try $0.update(forKey: "a", expiration: expiration) { $0 = 1 } },
            ]
            writes += ages.map { age in { try $0.set(1, forKey: "a", maxAge: age) } }
            let manager = MiniCacheManager.inMemory(clock: ManualClock().wallClock)
            for (number, write) in writes.enumerated() {
                let cache = cache(manager, name: "\(number)")
                do {
                    try write(cache)
                    try expect((cache["a"] == 1) == (seconds > 0), "write \(number)")
                } catch { errors.append(error) }
            }
            try expect(errors.isEmpty || errors.count == writes.count, "\(errors)")
            // The age of the handle: its subscript reports an error, and its methods throw it.
            for age in ages {
                let cache = cache(manager, age, name: "\(age)")
                cache["a"] = 1
                try expect((cache["a"] == 1) == (seconds > 0), "\(age)")
                do { try cache.set(1, forKey: "b") } catch { if errors.isEmpty { throw error } }
            }
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "age",
                cacheVersion: .custom("1"),
                expiration: expiration
            )
            cache["a"] = 1
            try expect((cache["a"] == 1) == (seconds > 0), "expiration")
            if let error = errors.first { throw error }
        },
        InputCase(
            "MiniCache.value maxAge",
            "MiniCache.load maxAge",
            "LoadingCache.value maxAge",
            "LoadingCache.load maxAge",
            "GroupedCache.load maxAge",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let cache = cache()
            try expect(
                try await cache.value(forKey: "a", maxAge: .seconds(seconds)) { 1 } == 1,
                "value"
            )
            try expect((cache["a"] == 1) == (seconds > 0), "\(seconds)")
            // A hit needs no age.
            cache["b"] = 2
            try expect(
                try await cache.load("b", maxAge: .seconds(seconds)) { 1 }.value == 2,
                "load"
            )
            try expect(try await load(cache, "c", maxAge: .seconds(seconds)) == 2, "LoadingCache")
            try expect(
                try await load(cache.loading(into: ["g"]), "d", maxAge: .seconds(seconds)) == 2,
                "GroupedCache"
            )
        },
        InputCase(
            "MiniCache.value staleWhileRevalidate",
            "MiniCache.value staleIfError",
            "MiniCache.load staleWhileRevalidate",
            "MiniCache.load staleIfError",
            "LoadingCache.value staleWhileRevalidate",
            "LoadingCache.value staleIfError",
            "LoadingCache.load staleWhileRevalidate",
            "LoadingCache.load staleIfError",
            "GroupedCache.load staleWhileRevalidate",
            "GroupedCache.load staleIfError",
            of: HostileInput.durations
        ) { duration in
            let cache = cache()
            try cache.set(1, forKey: "a", maxAge: .seconds(0))
            let loaded = try await cache.load(
                "a",
                staleWhileRevalidate: duration,
                staleIfError: duration
            ) { 2 }
            try expect(loaded.source == .loaded || duration > .zero, "\(loaded)")
            // The oldest value that there is.
            try expect(
                try await cache.value(
                    forKey: "b",
                    staleWhileRevalidate: duration,
                    staleIfError: duration
                ) { 2 } == 2,
                "value"
            )
            try expect(try await load(cache, "c", stale: duration) == 2, "LoadingCache")
            try expect(
                try await load(cache.loading(into: ["g"]), "d", stale: duration) == 2,
                "GroupedCache"
            )
        },
        InputCase("MiniCacheManager.cache keepExpiredFor", of: HostileInput.durations) { duration in
            let clock = ManualClock()
            let manager = MiniCacheManager.inMemory(clock: clock.wallClock)
            let opened: [MiniCache<String, Int>] = [
                manager.cache(
                    cacheName: "a",
                    cacheVersion: .custom("1"),
                    maxAge: .seconds(1),
                    keepExpiredFor: duration
                ),
                manager.cache(
                    cacheName: "b",
                    cacheVersion: .custom("1"),
                    expiration: .after(.seconds(1)),
                    keepExpiredFor: duration
                ),
            ]
            for cache in opened { try cache.set(1, forKey: "a") }
            clock.advance(by: .seconds(10))
            DatabaseFile.opened(at: manager.url)?.sweepEverything()
            for cache in opened {
                try expect(cache.count() == (duration > .seconds(10) ? 1 : 0), "\(duration)")
            }
        },
        InputCase(
            "MiniCache.value options",
            "MiniCache.load options",
            "LoadingCache.value options",
            "LoadingCache.load options",
            "GroupedCache.load options",
            of: HostileInput.durations
        ) { duration in
            let options = LoadOptions(
                expiration: .after(duration),
                negativeMaxAge: duration,
                errorMaxAge: duration,
                softTimeout: duration,
                timeout: nil
            )
            try expect(try await cache().value(forKey: "a", options: options) { 1 } == 1, "value")
            try expect(try await cache().load("a", options: options) { nil }.value == nil, "load")
            try expect(try await load(cache(), "a", options: options) == 2, "LoadingCache")
            try expect(
                try await load(cache().loading(into: ["g"]), "a", options: options) == 2,
                "GroupedCache"
            )
        },
        InputCase(
            "MiniCacheManager.cache memoryLimit",
            "MiniCacheManager.cache diskLimit",
            of: HostileInput.sizes,
            throwing: HostileInput.isValid
        ) { size in
            let limits: [(DataSize?, DataSize?)] = [(nil, size), (size, nil)]
            for (memory, disk) in limits {
                let cache: MiniCache<String, Int> = MiniCacheManager.inMemory(
                    clock: ManualClock().wallClock
                ).cache(
                    cacheName: "Test",
                    cacheVersion: .custom("1"),
                    maxAge: .days(1),
                    memoryLimit: memory,
                    diskLimit: disk
                )
                cache["a"] = 1
                _ = cache["a"]
                try cache.set(1, forKey: "a")
            }
        },
        InputCase("MiniCache.trimMemory to", of: HostileInput.sizes) { size in
            let cache = cache()
            cache["a"] = 1
            cache.trimMemory(to: size)
            try expect(cache["a"] == 1, "\(size)")
        },
        InputCase("MiniCache.keys limit", of: HostileInput.counts) { limit in
            let cache = cache()
            (cache["a"], cache["b"]) = (1, 2)
            try expect(cache.keys(limit: limit).count == min(2, max(0, limit)), "keys")
            try expect(
                cache.keys(prefix: "", limit: limit).count == min(2, max(0, limit)),
                "keys of a prefix"
            )
        },
        InputCase("MiniCache.keys prefix", "MiniCache.removeAll prefix", of: HostileInput.names) {
            prefix in
            let cache = cache()
            for key in HostileInput.keys { try cache.set(1, forKey: key) }
            let count = try cache.keys(prefix: prefix).count
            try expect(cache.removeAll(prefix: prefix) == count, prefix)
        },
        InputCase(
            "MiniCache.set groups",
            "MiniCache.loading into",
            "MiniCache.keys group",
            "MiniCache.removeAll group",
            of: HostileInput.names,
            throwing: { $0.utf8.count > 1024 ? .keyTooLong : nil }
        ) { name in
            let cache = cache()
            try cache.set(1, forKey: "a", groups: [name])
            try expect(
                try await cache.loading(into: [name, "other"]).value(forKey: "b") { 2 } == 2,
                "load"
            )
            try cache.set(3, forKey: "c", groups: [name + "?"])
            try expect(Set(cache.keys(group: name)) == ["a", "b"], "keys")
            try expect(cache.removeAll(group: name) == 2 && cache.keys() == ["c"], "removeAll")
        },
        InputCase(
            "MiniCacheManager.init name",
            "MiniCacheManager.init directory",
            of: HostileInput.names,
            throwing: { $0.utf8.count > 200 ? .cannotOpen : nil }
        ) { name in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "MiniCacheTests-\(UUID().uuidString)"
            )
            defer { try? FileManager.default.removeItem(at: folder) }
            let manager = MiniCacheManager(name: name, directory: folder)
            cache(manager)["a"] = 1
            try cache(manager).set(2, forKey: "a")
            // Each is a file of its own in the folder.
            try expect(
                FileManager.default.contentsOfDirectory(atPath: folder.path).contains {
                    $0.hasSuffix(".sqlite")
                },
                "the folder"
            )
            try manager.close()
        },
        InputCase(
            "MiniCacheManager.init directory",
            of: ["https://example.com/a", "data:,", "a"],
            throwing: { _ in .cannotOpen }
        ) { text in
            guard let url = URL(string: text) else { return }
            let cache = cache(MiniCacheManager(name: "Test", directory: url))
            cache["a"] = 1
            try expect(cache["a"] == nil, text)
            try cache.set(1, forKey: "a")
        },
        InputCase(
            "MiniCacheManager.cache cacheName",
            "MiniCacheManager.cache cacheVersion",
            "CacheVersion.custom _",
            "MiniCacheManager.drop cacheNamed",
            of: HostileInput.names
        ) { name in
            let manager = MiniCacheManager.inMemory(clock: ManualClock().wallClock)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: name,
                cacheVersion: .custom(name),
                maxAge: .days(1)
            )
            try cache.set(1, forKey: "a")
            try expect(cache.value(forKey: "a") == 1, name)
            let another: MiniCache<String, Int> = manager.cache(
                cacheName: name,
                cacheVersion: .custom(name),
                maxAge: .days(1)
            )
            try expect(another.value(forKey: "a") == 1, "the version")
            try manager.close()
            try expect(manager.drop(cacheNamed: name), "drop")
        },
    ]

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
