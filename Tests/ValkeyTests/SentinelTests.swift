#if Valkey
    import Foundation
    import MiniCacheValkey
    import Testing
    import VellumRemote

    @testable import VellumValkey

    /// Real Sentinels with a real failover: a second or two.
    @Suite(.timeLimit(.minutes(10)))
    struct SentinelTests {
        /// What a Sentinel says of the primary (SENTINEL MASTER).
        private func property(_ name: String, _ sentinel: RedisServer) async throws -> Int? {
            let parts = try await Sentinels.ask(sentinel.configuration, RESPCommand("SENTINEL", "MASTER", "main")).elements ?? []
            guard let place = parts.firstIndex(where: { $0.text == name }), place + 1 < parts.count else { return nil }
            return parts[place + 1].text.flatMap { Int($0) }
        }

        @Test func aFailoverIsFollowed() async throws {
            let primary = try RedisServer()
            let replica = try RedisServer(["--replicaof", "127.0.0.1 \(primary.port)"])
            let sentinels = try (1...3).map { _ in try RedisServer(sentinelOf: primary) }
            // They learn of the replica and of each other by themselves.
            for sentinel in sentinels {
                while true {
                    if try await property("num-slaves", sentinel) == 1, try await property("num-other-sentinels", sentinel) == 2 { break }
                    await Task.yield()
                }
            }
            // The first one does not answer.
            let addresses = ["127.0.0.1:1"] + sentinels.map { "127.0.0.1:\($0.port)" }
            let server = ValkeyServer(ValkeyConfiguration(sentinels: addresses, primaryName: "main"))
            let cache: SharedCache<String, Int> = try SharedCacheManager(name: "test", server: server).cache(
                cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
            var isSet = false
            while !isSet {
                do {
                    try await cache.set(1, forKey: "a")
                    isSet = true
                } catch { #expect([.unreachable, .outcomeUnknown].contains(error.code)) }
            }
            primary.kill()
            isSet = false
            while !isSet {
                do {
                    try await cache.set(2, forKey: "a")
                    isSet = true
                } catch { #expect([.unreachable, .outcomeUnknown].contains(error.code)) }
            }
            // Where a client that knows the new primary sees it.
            let other = ValkeyServer(ValkeyConfiguration(host: "127.0.0.1", port: replica.port))
            let direct: SharedCache<String, Int> = try SharedCacheManager(name: "test", server: other).cache(
                cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1))
            var value: Int?
            while value == nil {
                do { value = try await direct.value(forKey: "a") } catch { await Task.yield() }
            }
            #expect(value == 2)
        }
    }
#endif
