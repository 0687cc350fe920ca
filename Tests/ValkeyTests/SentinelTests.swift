#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import Testing
    import VellumRemote

    @testable import VellumValkey

    /// Real Sentinels with a real failover: a second or two.
    @Suite(.timeLimit(.minutes(1)))
    struct SentinelTests {
        @Test func aFailoverIsFollowed() async throws {
            let group = try await RedisGroup()
            // The first one does not answer.
            let addresses = ["127.0.0.1:1"] + group.addresses
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
            group.primary.kill()
            isSet = false
            while !isSet {
                do {
                    try await cache.set(2, forKey: "a")
                    isSet = true
                } catch { #expect([.unreachable, .outcomeUnknown].contains(error.code)) }
            }
            // Where a client that knows the new primary sees it.
            let other = ValkeyServer(ValkeyConfiguration(host: "127.0.0.1", port: group.replica.port))
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
