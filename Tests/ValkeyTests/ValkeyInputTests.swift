#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import ShallowsValkey
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote
    import VellumTestSupport

    @testable import VellumValkey

    /// FN10: the rows of the table of parameters that shared caches have, on a real server.
    @Suite(.ownThreads)
    struct ValkeyInputTests {
        struct Negative: Codable, VersionedArchive {
            static var archiveVersion: Int { -1 }
            static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
                .object(try old.decode(Self.self))
            }
        }

        private static func expect(_ isTrue: Bool, _ what: String) throws {
            guard isTrue else { throw VellumError(.failedQuery, what) }
        }

        private static func server(
            _ port: Int,
            change: (inout ValkeyConfiguration) -> Void = { _ in }
        ) -> ValkeyServer {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: port)
            (configuration.connectTimeout, configuration.readTimeout) = (
                .seconds(600), .seconds(600)
            )
            (configuration.writeTimeout, configuration.lease) = (.seconds(600), .seconds(600))
            change(&configuration)
            return ValkeyServer(configuration)
        }

        private static func cache(
            _ server: ValkeyServer,
            name: String = "Test",
            cacheName: String = "c",
            version: String = "1",
            maxAge: CacheMaxAge = .days(1)
        ) throws -> SharedCache<String, Int> {
            try SharedCacheManager(name: name, server: server).cache(
                cacheName: cacheName,
                cacheVersion: .custom(version),
                maxAge: maxAge
            )
        }

        /// Sets a value and reads it from the server.
        private static func isThere(
            _ cache: SharedCache<String, Int>,
            maxAge: CacheMaxAge? = nil
        ) async throws -> Bool {
            try await cache.set(1, forKey: "a", maxAge: maxAge)
            return try await cache.value(forKey: "a", freshness: .confirmed) == 1
        }

        private static func ages(_ port: Int) -> [InputCase] {
            [
                InputCase(
                    "SharedCache.set maxAge",
                    "SharedCache.setIfAbsent maxAge",
                    "SharedCacheManager.cache maxAge",
                    "ValkeyStorage.init expiration",
                    of: HostileInput.seconds,
                    throwing: HostileInput.isValid
                ) { seconds in
                    let (server, age) = (server(port), CacheMaxAge.seconds(seconds))
                    // The server's clock runs: what is valid for a moment may be there or not.
                    let isMoment = seconds == .leastNonzeroMagnitude
                    var errors: [any Error] = []
                    let writes: [() async throws -> Bool] = [
                        { try await isThere(cache(server, name: "1 \(seconds)"), maxAge: age) },
                        {
                            let cache = try cache(server, name: "2 \(seconds)")
                            _ = try await cache.setIfAbsent(1, forKey: "a", maxAge: age)
                            return try await cache.value(forKey: "a", freshness: .confirmed) == 1
                        },
                        { try await isThere(cache(server, name: "3 \(seconds)", maxAge: age)) },
                        {
                            let storage = try ValkeyStorage<Int>(
                                server,
                                name: "4 \(seconds)",
                                expiration: .after(seconds: seconds)
                            )
                            try await storage.set(1, forKey: "a")
                            do {
                                return try await storage.retrieve(forKey: "a") == 1
                            } catch is any StorageMiss { return false }
                        },
                    ]
                    for (number, write) in writes.enumerated() {
                        do {
                            try expect(
                                try await write() == (seconds > 0) || isMoment,
                                "write \(number)"
                            )
                        } catch { errors.append(error) }
                    }
                    try expect(errors.isEmpty || errors.count == writes.count, "\(errors)")
                    if let error = errors.first { throw error }
                },
                InputCase(
                    "SharedCache.load maxAge",
                    "SharedCache.value maxAge",
                    of: HostileInput.seconds,
                    throwing: HostileInput.isValid
                ) { seconds in
                    let cache = try cache(server(port), name: "load \(seconds)")
                    try expect(
                        try await cache.load("a", maxAge: .seconds(seconds)) { 1 }.value == 1,
                        "load"
                    )
                    try expect(
                        try await cache.value(forKey: "a", maxAge: .seconds(seconds)) { 1 } == 1,
                        "value"
                    )
                },
                InputCase(
                    "SharedCache.load staleWhileRevalidate",
                    "SharedCache.load staleIfError",
                    "SharedCache.load options",
                    of: HostileInput.durations
                ) { duration in
                    let cache = try cache(server(port), name: "stale \(duration)")
                    let options = LoadOptions(
                        expiration: .after(duration),
                        negativeMaxAge: duration,
                        errorMaxAge: duration,
                        softTimeout: duration
                    )
                    try expect(
                        try await cache.load(
                            "a",
                            staleWhileRevalidate: duration,
                            staleIfError: duration,
                            options: options
                        ) { 1 }.value == 1,
                        "load"
                    )
                    let results: [LoadResult<Int>] = [
                        .value(2, maxAge: duration), .unchanged(maxAge: duration),
                        .none(maxAge: duration),
                    ]
                    for (number, result) in results.enumerated() {
                        do { _ = try await cache.load("\(number)") { _ in result } } catch let error
                            as VellumError
                            where error.code == .nothingUnchanged
                        {}
                    }
                },
            ]
        }

        private static func names(_ port: Int) -> [InputCase] {
            [
                InputCase(
                    "SharedCache.set groups",
                    "SharedCache.loading into",
                    "SharedCache.removeAll group",
                    of: HostileInput.names,
                    throwing: { $0.utf8.count > 1024 ? .keyTooLong : nil }
                ) { name in
                    let cache = try cache(server(port), name: "groups")
                    do {
                        try await cache.set(1, forKey: "a", groups: [name, "other"])
                        try expect(
                            try await cache.loading(into: [name]).value(forKey: "a") { 2 } == 1,
                            "load"
                        )
                    } catch let error as VellumError {
                        try expect(error.code == .keyTooLong, "\(error)")
                    }
                    try await cache.removeAll(group: name)
                    try expect(
                        try await cache.value(forKey: "a", freshness: .confirmed) == nil,
                        "removeAll"
                    )
                },
                InputCase("SharedCacheManager.cache keepExpiredFor", of: HostileInput.durations) {
                    duration in
                    let manager = SharedCacheManager(name: "kept \(duration)", server: server(port))
                    let cache: SharedCache<String, Int> = try manager.cache(
                        cacheName: "c",
                        cacheVersion: .custom("1"),
                        maxAge: .days(1),
                        keepExpiredFor: duration
                    )
                    try expect(try await isThere(cache), "\(duration)")
                },
                InputCase(
                    "SharedCacheManager.init name",
                    "SharedCacheManager.cache cacheName",
                    "SharedCacheManager.cache cacheVersion",
                    "ValkeyConfiguration.keyPrefix",
                    "ValkeyStorage.init name",
                    of: HostileInput.names
                ) { name in
                    let (plain, prefixed) = (server(port), server(port) { $0.keyPrefix = name })
                    for cache in [
                        try cache(plain, name: name), try cache(plain, cacheName: name),
                        try cache(plain, version: name),
                        try cache(prefixed),
                    ] {
                        try expect(try await isThere(cache), "the cache")
                        try await cache.removeValue(forKey: "a")
                        try expect(
                            try await cache.value(forKey: "a", freshness: .confirmed) == nil,
                            "removeValue"
                        )
                    }
                    let storage = try ValkeyStorage<Int>(plain, name: name)
                    try await storage.set(1, forKey: "a")
                    try expect(try await storage.retrieve(forKey: "a") == 1, "the storage")
                    try await storage.removeAll()
                    do {
                        _ = try await storage.retrieve(forKey: "a")
                        try expect(false, "removeAll")
                    } catch is any StorageMiss {}
                },
                InputCase(
                    "SharedCacheManager.cache memoryLimit",
                    "ValkeyStorage.init memoryLimit",
                    of: HostileInput.sizes,
                    throwing: HostileInput.isValid
                ) { size in
                    let server = server(port)
                    do {
                        _ = try ValkeyStorage<Int>(server, name: "limit", memoryLimit: size)
                    } catch let error as VellumError {
                        try expect(error.code == .invalidLimit, "\(error)")
                    }
                    let manager = SharedCacheManager(name: "limit \(size)", server: server)
                    let cache: SharedCache<String, Int> = try manager.cache(
                        cacheName: "c",
                        cacheVersion: .custom("1"),
                        maxAge: .days(1),
                        memoryLimit: size
                    )
                    try expect(try await isThere(cache), "\(size)")
                },
            ]
        }

        private static func configurations(_ port: Int) -> [InputCase] {
            [
                InputCase(
                    "ValkeyConfiguration.trust",
                    "ValkeyConfiguration.lease",
                    "ValkeyConfiguration.longestWait",
                    "ValkeyConfiguration.outageMaxAge",
                    of: HostileInput.durations
                ) { duration in
                    let server = server(port) {
                        ($0.trust, $0.lease, $0.longestWait, $0.outageMaxAge) = (
                            duration, duration, duration, duration
                        )
                    }
                    let cache = try cache(server, name: "times \(duration)")
                    try expect(try await isThere(cache), "set")
                    try expect(
                        try await cache.value(forKey: "b", options: LoadOptions(loadTimeout: nil)) {
                            2
                        } == 2,
                        "load"
                    )
                },
                InputCase(
                    "ValkeyConfiguration.connectTimeout",
                    "ValkeyConfiguration.readTimeout",
                    "ValkeyConfiguration.writeTimeout",
                    of: HostileInput.durations
                ) { duration in
                    // With no time there is no answer; the loader runs all the same.
                    for change in [
                        \ValkeyConfiguration.connectTimeout, \.readTimeout, \.writeTimeout,
                    ] {
                        let server = server(port) { $0[keyPath: change] = duration }
                        let cache = try cache(server, name: "timeouts \(duration)")
                        try expect(try await cache.value(forKey: "\(change)") { 2 } == 2, "load")
                    }
                },
                InputCase(
                    "ValkeyConfiguration.init port",
                    "ValkeyConfiguration.port",
                    "ValkeyConfiguration.database",
                    of: HostileInput.counts + [65_536, 16]
                ) { number in
                    for server in [server(number), server(port) { $0.database = number }] {
                        let cache = try cache(server, name: "numbers")
                        // A server that cannot be asked does not keep a caller from the source.
                        try expect(try await cache.value(forKey: "\(number)") { 2 } == 2, "load")
                    }
                },
                InputCase(
                    "ValkeyConfiguration.init host",
                    "ValkeyConfiguration.host",
                    "ValkeyConfiguration.init user",
                    "ValkeyConfiguration.user",
                    "ValkeyConfiguration.init password",
                    "ValkeyConfiguration.password",
                    "ValkeyConfiguration.init sentinels",
                    "ValkeyConfiguration.sentinels",
                    "ValkeyConfiguration.init primaryName",
                    "ValkeyConfiguration.primaryName",
                    "ValkeyConfiguration.sentinelUser",
                    "ValkeyConfiguration.sentinelPassword",
                    "ValkeyConfiguration.otherAddresses",
                    "ValkeyConfiguration.init cluster",
                    "ValkeyConfiguration.clusterNodes",
                    "ValkeyConfiguration.TLS.serverName",
                    "ValkeyConfiguration.TLS.trustedCertificates",
                    "ValkeyConfiguration.TLS.certificateChain",
                    "ValkeyConfiguration.TLS.privateKey",
                    of: HostileInput.names.filter { $0 != "" }
                ) { name in
                    let servers = [
                        server(port) { $0.host = name },
                        server(port) { ($0.user, $0.password) = (name, name) },
                        server(port) {
                            ($0.sentinels, $0.primaryName, $0.sentinelUser, $0.sentinelPassword) = (
                                [name, ":", "[", "[::1", "\(name):99999999999999999999"], name,
                                name, name
                            )
                        },
                        server(port) {
                            $0.otherAddresses = [
                                name, ":", "[", "[::1", "\(name):99999999999999999999", "\(name):0",
                            ]
                        },
                        server(port) {
                            $0.clusterNodes = [
                                name, ":", "[", "[::1", "\(name):99999999999999999999", "\(name):0",
                            ]
                        },
                    ]
                    let secured = server(port) {
                        var tls = ValkeyConfiguration.TLS()
                        (tls.serverName, tls.trustedCertificates) = (
                            name, URL(fileURLWithPath: "/" + name)
                        )
                        (tls.certificateChain, tls.privateKey) = (
                            URL(fileURLWithPath: name), URL(string: "https://example.com")
                        )
                        $0.tls = tls
                    }
                    for server in servers + [secured] {
                        let cache = try cache(server, name: "hosts")
                        try expect(try await cache.value(forKey: "a") { 2 } == 2, "load")
                        server.close()
                    }
                },
                InputCase(
                    "ValkeyConfiguration.init url",
                    of: HostileInput.names + [
                        "valkey://", "valkey://[", "valkey://h:0", "valkey://h:-1",
                        "valkey://h:99999999999999999999", "valkey://h/-1",
                        "valkey://h/99999999999999999999", "valkey://h/x", "valkey-cluster://",
                        "valkey-cluster://h/1",
                        "valkey-cluster://h?node",
                        "-cluster://h",
                    ],
                    throwing: { _ in .refused }
                ) { text in _ = try ValkeyConfiguration(url: text) },
            ]
        }

        @Test func parametersTakeAnyValue() async throws {
            let redis = try RedisServer()
            for row in Self.ages(redis.port) + Self.names(redis.port)
                + Self.configurations(redis.port)
            {
                let problems = await row.problems()
                #expect(problems.isEmpty, "\(row): \(problems.joined(separator: "\n"))")
            }
        }

        @Test func aNegativeVersionOfATypeIsAnErrorThatNamesTheType() {
            let manager = SharedCacheManager(name: "Test", server: Self.server(1))
            let error = #expect(throws: VellumError.self) {
                let _: SharedCache<String, Negative> = try manager.cache(
                    cacheName: "c",
                    cacheVersion: .custom("1"),
                    maxAge: .days(1)
                )
            }
            #expect(error?.code == .invalidVersion)
        }
    }
#endif
