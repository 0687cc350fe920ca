#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import Testing
    import VellumTestSupport

    /// What a server says is a value, a miss or a failure, and never ends the process.
    @Suite(.timeLimit(.minutes(1)))
    struct LyingServerTests {
        private func cache(_ server: LyingServer) throws -> SharedCache<String, Int> {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            configuration.readTimeout = .seconds(10)
            configuration.writeTimeout = .seconds(10)
            return try SharedCacheManager(name: "lies", server: ValkeyServer(configuration)).cache(
                cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
        }

        private func code(_ body: () async throws -> Void) async -> VellumError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? VellumError)?.code
            }
        }

        private static let extremes = ["9223372036854775807", "-9223372036854775808", "9223372036854775", "-1", "never", ""]

        @Test(arguments: extremes) func anImpossibleTimeIsRefused(_ extreme: String) async throws {
            for (seconds, microseconds) in [(extreme, "0"), ("1800000000", extreme), (extreme, extreme)] {
                let server = try LyingServer { $0 == "TIME" ? LyingServer.time(seconds, microseconds) : nil }
                let cache = try cache(server)
                #expect(await code { _ = try await cache.value(forKey: "a") } == .refused, "\(seconds) \(microseconds)")
            }
        }

        @Test(arguments: [":42\r\n", "+OK\r\n", "_\r\n", "*0\r\n", "%1\r\n+a\r\n+b\r\n", "#t\r\n", ",1.5\r\n"])
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
            let server = try LyingServer { $0 == "EVAL" ? "*3\r\n:1\r\n:\(rest)\r\n$0\r\n\r\n" : nil }
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            configuration.longestWait = .milliseconds(50)
            let cache: SharedCache<String, Int> = try SharedCacheManager(name: "lies", server: ValkeyServer(configuration)).cache(
                cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
            #expect(try await cache.value(forKey: "a") { 7 } == 7)
        }

        /// One value that is too large must not cost the others their connection.
        @Test func aValueThatIsTooLargeIsNotRead() async throws {
            let server = try RedisServer()
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            (configuration.readTimeout, configuration.writeTimeout) = (.seconds(10), .seconds(10))
            let cache: SharedCache<String, Int> = try SharedCacheManager(
                name: "sizes", server: ValkeyServer(configuration)
            ).cache(cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
            try await cache.set(1, forKey: "small")
            try await cache.set(1, forKey: "large")
            // Every value of the server becomes one of 70 MB.
            let fill = Process()
            fill.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let script = "for _, key in ipairs(redis.call('KEYS', '*large*')) do redis.call('SETRANGE', key, 70000000, 'x') end"
            fill.arguments = ["redis-cli", "-p", "\(server.port)", "EVAL", script, "0"]
            fill.standardOutput = FileHandle.nullDevice
            try fill.run()
            fill.waitUntilExit()
            #expect(await code { _ = try await cache.value(forKey: "large", freshness: .confirmed) } == .damagedEntry)
            #expect(try await cache.value(forKey: "small", freshness: .confirmed) == 1)
            #expect(try await cache.value(forKey: "large") { 2 } == 2)
            #expect(try await cache.value(forKey: "large", freshness: .confirmed) == 2)
        }
    }
#endif
