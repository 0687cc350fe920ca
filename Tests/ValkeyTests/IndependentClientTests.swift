#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumCore

    private enum Python {
        static func run(
            _ script: String,
            _ arguments: [String]
        ) throws -> (end: Child.End, output: String) {
            try Child.run("python3", ["-c", script] + arguments)
        }

        /// Whether redis-py is installed.
        static let hasRedis: Bool = {
            do { return try run("import redis", []).end == .exited(0) } catch { return false }
        }()
    }

    /// redis-py beside us, which knows only the documented bytes (`RemoteRecord`, `RemoteKeys`).
    @Suite(
        .ownThreads,
        .enabled(if: Python.hasRedis, "redis-py is not installed: pip install redis")
    )
    struct IndependentClientTests {
        private let redis: RedisServer
        private let cache: SharedCache<String, String>

        init() throws {
            redis = try RedisServer()
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: redis.port)
            (configuration.connectTimeout, configuration.readTimeout) = (
                .seconds(600), .seconds(600)
            )
            (configuration.writeTimeout, configuration.trust) = (.seconds(600), .seconds(60))
            cache = try SharedCacheManager(name: "Shop", server: ValkeyServer(configuration)).cache(
                cacheName: "rates",
                cacheVersion: .custom("3"),
                maxAge: .hours(1)
            )
        }

        @Test func itReadsWhatWeWrite() async throws {
            try await cache.set("hello", forKey: "USD")
            let script = """
                import redis, struct, sys
                def crc32c(data):
                    crc = 0xffffffff
                    for byte in data:
                        crc ^= byte
                        for _ in range(8): crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
                    return crc ^ 0xffffffff
                client = redis.Redis(port=int(sys.argv[1]))
                key = b'v1:{kShop:rates:3\\0USD}'
                entry = client.get(key)
                format, flags, version, written, expires, checksum = struct.unpack('<BBqqqI', \
                entry[:30])
                assert checksum == crc32c(key + struct.pack('<q', len(key)) + entry[:26] + \
                entry[30:])
                print(format, flags, version, (expires - written) // 1000, client.pttl(key) <= \
                3600000, entry[30:].hex())
                """
            let (end, output) = try Python.run(script, ["\(redis.port)"])
            #expect(end == .exited(0))
            // The text in CBOR, which says that it is CBOR (RFC 8949, 3.4.6).
            #expect(output == "1 0 0 3600 True d9d9f76568656c6c6f\n")
        }

        @Test func itsWritesEndOurNearHits() async throws {
            try await cache.set("hello", forKey: "USD")
            try await until("memory answers") {
                let found = try await cache.value(forKey: "USD")
                #expect(found == "hello")
                return cache.statistics.nearHits > 0
            }
            let script =
                """
                import redis, sys; \
                redis.Redis(port=int(sys.argv[1])).delete(b'v1:{kShop:rates:3\\0USD}')
                """
            #expect(try Python.run(script, ["\(redis.port)"]).end == .exited(0))
            try await until("memory has forgotten the value") {
                try await cache.value(forKey: "USD") == nil
            }
            let damage =
                """
                import redis, sys; \
                redis.Redis(port=int(sys.argv[1])).set(b'v1:{kShop:rates:3\\0USD}', b'x' * 40)
                """
            #expect(try Python.run(damage, ["\(redis.port)"]).end == .exited(0))
            let error = await #expect(throws: VellumError.self) {
                try await cache.value(forKey: "USD", freshness: .confirmed)
            }
            #expect(error?.code == .damagedEntry)
            #expect(try await cache.value(forKey: "USD") { "again" } == "again")
        }
    }
#endif
