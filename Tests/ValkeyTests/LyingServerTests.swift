#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote
    import VellumTestSupport
    import VellumValkey

    /// What a server says is a value, a miss or a failure, and never ends the process.
    @Suite(.ownThreads)
    struct LyingServerTests {
        private func cache(_ server: LyingServer) throws -> SharedCache<String, Int> {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            (configuration.readTimeout, configuration.writeTimeout) = (.seconds(600), .seconds(600))
            configuration.connectTimeout = .seconds(600)
            return try SharedCacheManager(name: "lies", server: ValkeyServer(configuration)).cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        private func code(_ body: () async throws -> Void) async -> VellumError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? VellumError)?.code
            }
        }

        private static let extremes = [
            "9223372036854775807", "-9223372036854775808", "9223372036854775", "-1", "never", "",
        ]

        @Test(arguments: extremes) func anImpossibleTimeIsRefused(_ extreme: String) async throws {
            for (seconds, microseconds) in [
                (extreme, "0"), ("1800000000", extreme), (extreme, extreme),
            ] {
                let server = try LyingServer {
                    $0 == "TIME" ? LyingServer.time(seconds, microseconds) : nil
                }
                let cache = try cache(server)
                #expect(
                    await code { _ = try await cache.value(forKey: "a") } == .refused,
                    "\(seconds) \(microseconds)"
                )
            }
        }

        @Test(arguments: [
            ":42\r\n", "+OK\r\n", "_\r\n", "*0\r\n", "%1\r\n+a\r\n+b\r\n", "#t\r\n", ",1.5\r\n",
        ])
        func anUnexpectedReplyIsAFailure(_ reply: String) async throws {
            let server = try LyingServer { ["HELLO", "CLIENT", "TIME"].contains($0) ? nil : reply }
            let cache = try cache(server)
            #expect(await code { _ = try await cache.value(forKey: "a") } == .serverFailed)
            #expect(await code { try await cache.set(1, forKey: "a") } == .serverFailed)
            #expect(await code { try await cache.removeValue(forKey: "a") } == .serverFailed)
            // A loader's value is returned all the same.
            #expect(try await cache.value(forKey: "b") { 7 } == 7)
        }

        @Test(arguments: ["9223372036854775807", "-9223372036854775808", "-1"])
        func anImpossibleLeaseEndsWithTheWait(_ rest: String) async throws {
            let server = try LyingServer {
                $0 == "EVAL" ? "*3\r\n:1\r\n:\(rest)\r\n$0\r\n\r\n" : nil
            }
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            configuration.longestWait = .milliseconds(50)
            let cache: SharedCache<String, Int> = try SharedCacheManager(
                name: "lies",
                server: ValkeyServer(configuration)
            ).cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            #expect(
                try await cache.value(forKey: "a", options: LoadOptions(loadTimeout: nil)) { 7 }
                    == 7
            )
        }

        private static let numbers =
            [0, 1, -1, 2, .min, .max, .max - 1, 1 << 62, 1 << 43] as [Int64]

        /// When the records of the replies were written, and when they expire.
        private static func times(_ number: Int64) -> [(written: Int64, expires: Int64)] {
            [(number, number), (number, .max), (0, number)]
        }

        /// The replies that have a number, by the command: of lists and lengths, too.
        private static func replies(
            _ number: Int64,
            _ key: String
        ) -> [(
            command: String, reply: String
        )] {
            let records = times(number).map { written, expires in
                LyingServer.string(
                    RemoteRecord(
                        value: Data("7".utf8),
                        typeVersion: number,
                        written: WallInstant(rawValue: written),
                        expires: WallInstant(rawValue: expires),
                        groups: number == 1 ? [GroupEpoch(name: "g", epoch: 1)] : []
                    ).encoded(under: key)
                )
            }
            let ofScripts = records.flatMap { record in
                [
                    "*2\r\n:0\r\n\(record)", "*2\r\n:2\r\n\(record)",
                    "*2\r\n:\(number)\r\n\(record)",
                    "*3\r\n:1\r\n:\(number)\r\n\(record)",
                    "*1\r\n\(record)",
                ]
            }
            // What a length announces and never arrives is waited for.
            let isRefused = number < 0 || number > 1 << 40
            let others =
                [":\(number)\r\n", "(\(number)\r\n", ",\(number)\r\n"]
                + (isRefused ? ["$\(number)\r\n", "*\(number)\r\n"] : [])
            return records.map { ("GETRANGE", $0) } + ofScripts.map { ("EVAL", $0) }
                + ["GETRANGE", "EVAL", "DEL", "SCAN", "UNLINK"].flatMap { command in
                    others.map { (command, $0) }
                }
                + [
                    ("SCAN", "*2\r\n$1\r\n0\r\n*\(isRefused ? number : 0)\r\n"),
                    ("SCAN", "*2\r\n:\(number)\r\n*0\r\n"),
                ]
        }

        private static let codes: Set<VellumError.Code> = [
            .serverFailed, .unreachable, .refused, .damagedEntry, .newerVersion, .loadTimedOut,
            .notDecodable, .outcomeUnknown,
        ]

        /// Every call ends, with a value that may be one or with an error of the server.
        @Test(arguments: numbers) func everyNumberOfAReplyMayBeAnything(
            _ number: Int64
        ) async throws {
            let key = EntryKey("a")
            let current = Locked((command: "", reply: ""))
            let liar = try LyingServer { command in
                current.withLock { $0.command == command ? $0.reply : nil }
            }
            for lie in Self.replies(number, RemoteKeys(cacheName: "lies").value(of: key)) {
                current.withLock { $0 = lie }
                var configuration = ValkeyConfiguration(host: "127.0.0.1", port: liar.port)
                (configuration.longestWait, configuration.lease) = (
                    .milliseconds(1), .milliseconds(100)
                )
                let server = ValkeyServer(configuration)
                defer { server.close() }
                let store: SharedStore<String> = server.store(
                    named: "lies",
                    memory: try Capacity(1.megaByte),
                    coding: SharedStore.Coding(
                        typeVersion: 1,
                        encode: { Data($0.utf8) },
                        decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }
                    )
                )
                func load(_ part: Double?) async throws -> String? {
                    let options = LoadOptions(
                        expiration: .after(.seconds(100)),
                        loadTimeout: nil,
                        refreshAhead: part
                    )
                    let staleness = Staleness(whileRevalidate: .seconds(1), ifError: .seconds(1))
                    return try await store.load(
                        LoadRequest(
                            key: key,
                            under: .never,
                            staleness: staleness,
                            options: options,
                            loader: .plain { "8" }
                        )
                    ).value
                }
                // What has expired is no value, whatever a record says besides.
                let mayHaveValue = Self.times(number).contains {
                    $0.expires > WallClock.system.now().rawValue
                }
                func check(_ body: () async throws -> String?) async {
                    do {
                        let value = try await body()
                        #expect(
                            value == nil || value == "8" || mayHaveValue && value == "7",
                            "\(value ?? "") for \(lie)"
                        )
                    } catch {
                        let code = (error as? VellumError)?.code
                        #expect(code.map(Self.codes.contains) == true, "\(error) for \(lie)")
                    }
                }
                await check { try await store.value(forKey: key, asksServer: true) }
                await check {
                    try await store.set("8", forKey: key, under: .never, groups: ["g", "h"])
                    return "8"
                }
                await check {
                    try await store.removeAll(group: "g")
                    return nil
                }
                await check { try await store.value(forKey: key, asksServer: false) }
                await check {
                    try await store.values(forKeys: [key], asksServer: true).first ?? nil
                }
                await check { try await load(0.5) }
                await check { try await load(nil) }
                await check {
                    try await store.set("9", forKey: key, under: .after(.seconds(1)))
                    return nil
                }
                await check {
                    _ = try await store.setIfAbsent("9", forKey: key, under: .after(.seconds(1)))
                    return nil
                }
                await check {
                    try await store.removeValue(forKey: key)
                    return nil
                }
                if lie.command == "SCAN" || lie.command == "UNLINK" {
                    await check {
                        try await store.removeAll()
                        return nil
                    }
                }
            }
        }

        /// One value that is too large must not cost the others their connection.
        @Test func aValueThatIsTooLargeIsNotRead() async throws {
            let server = try RedisServer()
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            (configuration.readTimeout, configuration.writeTimeout) = (.seconds(600), .seconds(600))
            configuration.connectTimeout = .seconds(600)
            let cache: SharedCache<String, Int> = try SharedCacheManager(
                name: "sizes",
                server: ValkeyServer(configuration)
            ).cache(cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
            try await cache.set(1, forKey: "small")
            try await cache.set(1, forKey: "large")
            // Every value of the server becomes one of 70 MB.
            let script =
                """
                for _, key in ipairs(redis.call('KEYS', '*large*')) do redis.call('SETRANGE', key, \
                70000000, 'x') end
                """
            let arguments = ["-p", "\(server.port)", "EVAL", script, "0"]
            #expect(try Child.run("redis-cli", arguments).end == .exited(0))
            #expect(
                await code { _ = try await cache.value(forKey: "large", freshness: .confirmed) }
                    == .damagedEntry
            )
            #expect(try await cache.value(forKey: "small", freshness: .confirmed) == 1)
            #expect(try await cache.value(forKey: "large") { 2 } == 2)
            #expect(try await cache.value(forKey: "large", freshness: .confirmed) == 2)
        }
    }
#endif
