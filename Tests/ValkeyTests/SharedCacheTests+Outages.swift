#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumTestSupport

    import struct VellumCore.Locked

    extension SharedCacheTests {
        @Test func aStaleValueIsReturnedIfTheLoaderFails() async throws {
            let program = try Program(redis.port)
            _ = try await program.cache.load(
                "a",
                maxAge: .timeInterval(0),
                staleIfError: .seconds(600)
            ) { 1 }
            let stale = try await program.cache.load("a", staleIfError: .seconds(600)) {
                () -> Int in throw SourceDown()
            }
            #expect(stale == Loaded(1, .staleIfError))
        }

        @Test func whatWasSetIsKeptForALaterFailure() async throws {
            let (program, other) = (try Program(redis.port), try Program(redis.port))
            let cache: SharedCache<String, Int> = try program.manager.cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1),
                keepExpiredFor: .seconds(600)
            )
            try await cache.set(1, forKey: "a", maxAge: .timeInterval(0))
            // The other program knows the server's time to within what a reply takes: the value may
            // not have ended for it yet.
            var stale = Loaded(0, .cached)
            try await until("the value has ended for the other program, too") {
                stale = try await other.cache.load("a", staleIfError: .seconds(600)) { () -> Int in
                    throw SourceDown()
                }
                return stale.source != .cached
            }
            #expect(stale == Loaded(1, .staleIfError))
        }

        @Test func withoutAServerALoaderRunsAndSetsFail() async throws {
            let program = try Program(redis.port)
            try await program.cache.set(1, forKey: "a")
            redis.kill()
            var code: VellumError.Code?
            await until("the program knows that the connection is lost") {
                do throws(VellumError) {
                    try await program.cache.set(2, forKey: "a")
                } catch {
                    code = error.code
                }
                return code != .outcomeUnknown
            }
            #expect(code == .unreachable)
            #expect(try await program.cache.value(forKey: "b") { 3 } == 3)
        }

        @Test func whatWasLoadedInAnOutageIsReturnedAgain() async throws {
            let program = try Program(redis.port) { $0.outageMaxAge = .seconds(600) }
            try await program.cache.set(1, forKey: "a")
            redis.kill()
            let counter = Counter()
            func load() async throws -> Loaded<Int> {
                try await program.cache.load("b") {
                    counter.add()
                    return counter.count
                }
            }
            #expect(try await load() == Loaded(1, .loaded))
            #expect(try await load() == Loaded(1, .loadedInOutage))
            #expect(program.cache.statistics.loading.inOutage == 1)
        }

        /// The server keeps the value, and gets a new header.
        @Test func anUnchangedValueGetsANewDate() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let window = Duration.seconds(600)
            _ = try await one.cache.load("a", maxAge: .timeInterval(0), staleIfError: window) { 1 }
            let renewed = try await one.cache.load("a", staleIfError: window) { previous in
                #expect(previous == 1)
                return .unchanged(maxAge: .seconds(600))
            }
            #expect(renewed == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a") == 1)
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == 1)
            // The lease has ended with it.
            try await other.cache.removeValue(forKey: "a")
            #expect(try await other.cache.load("a") { 2 } == Loaded(2, .loaded))
        }

        @Test func aValueIsLoadedAheadOfItsEnd() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let counter = Counter()
            // Always in the last part of its age.
            let options = LoadOptions(refreshAhead: .leastNonzeroMagnitude)
            func load(_ program: Program) async throws -> Int {
                try await program.cache.value(forKey: "a", options: options) {
                    counter.add()
                    return counter.count
                }
            }
            #expect(try await load(one) == 1)
            try await until("a load ahead of the end runs") {
                let found = try await load(other)
                #expect(found >= 1)
                return counter.count >= 2
            }
            try await until("the new value is stored") {
                try await one.cache.value(forKey: "a", freshness: .confirmed) != 1
            }
        }

        @Test func aRemovalThatCouldNotBeSentIsSentLater() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a")
            // The other one may lose its connection, too.
            let administrator = Link(
                to: redis.configuration,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            try await until("a removal fails of a value that is there") {
                do throws(VellumError) { try await other.cache.set(1, forKey: "a") } catch {
                    return false
                }
                let kill = RESPCommand("CLIENT", "KILL", "TYPE", "normal")
                _ = try await administrator.call(kill, within: 600_000)
                do throws(VellumError) { try await one.cache.removeValue(forKey: "a") } catch {
                    return true
                }
                return false
            }
            // Nobody asks for the removal again.
            await until("the removal has arrived") {
                do throws(VellumError) {
                    return try await other.cache.value(forKey: "a", freshness: .confirmed) == nil
                } catch {
                    return false
                }
            }
        }

        @Test func nearHitsEndWhenTheServerIsSilent() async throws {
            // When a read has waited in vain, whatever the server had said before it was silent is
            // trusted no longer.
            let program = try Program(redis.port) {
                ($0.trust, $0.readTimeout) = (.milliseconds(200), .milliseconds(400))
            }
            await until("the value can be set") {
                do throws(VellumError) {
                    try await program.cache.set(1, forKey: "a")
                    return true
                } catch {
                    #expect([.outcomeUnknown, .unreachable].contains(error.code))
                    return false
                }
            }
            redis.stop()
            defer { redis.resume() }
            var code: VellumError.Code?
            await until("memory answers no more") {
                do throws(VellumError) { _ = try await program.cache.value(forKey: "a") } catch {
                    code = error.code
                }
                return code != nil
            }
            #expect(code == .outcomeUnknown || code == .unreachable)
            // What is remembered answers nobody any more, however long the silence lasts.
            let nearHits = program.cache.statistics.nearHits
            await #expect(throws: VellumError.self) { try await program.cache.value(forKey: "a") }
            #expect(program.cache.statistics.nearHits == nearHits)
        }

        @Test func aServerThatIsEmptiedEmptiesWhatIsRemembered() async throws {
            let program = try Program(redis.port)
            try await program.cache.set(1, forKey: "a")
            // The first read may be older than the connection's word about our own writing.
            try await until("memory answers") {
                let found = try await program.cache.value(forKey: "a")
                #expect(found == 1)
                return program.cache.statistics.nearHits > 0
            }
            let administrator = Link(
                to: redis.configuration,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            _ = try await administrator.call(RESPCommand("FLUSHALL"), within: 600_000)
            try await until("memory has forgotten the value") {
                try await program.cache.value(forKey: "a") == nil
            }
        }

        @Test func aServerThatEvictsIsAMissAndOneThatIsFullAnError() async throws {
            let evicting = try RedisServer([
                "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru",
            ])
            let full = try RedisServer(["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"])
            func texts(_ server: RedisServer) throws -> SharedCache<Int, Data> {
                try Program(server.port).manager.cache(
                    cacheName: "bytes",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
            }
            let (cache, bytes) = (try texts(evicting), Data(repeating: 1, count: 10_000))
            for key in 0..<500 { try await cache.set(bytes, forKey: key) }
            #expect(try await cache.value(forKey: 499, freshness: .confirmed) == bytes)
            var missing = 0
            for key in 0..<500
            where try await cache.value(forKey: key, freshness: .confirmed) == nil { missing += 1 }
            #expect(missing > 0)
            let other = try texts(full)
            let error = await #expect(throws: VellumError.self) {
                for key in 0..<500 { try await other.set(bytes, forKey: key) }
            }
            #expect(error?.code == .serverFull)
            // A loader's value is returned, though it cannot be stored.
            #expect(try await other.value(forKey: 1000) { bytes } == bytes)
        }

        @Test func genericCodeWorksWithBothKinds() async throws {
            func twice<Cache: LoadingCache<String, Int>>(_ cache: Cache) async throws -> Int {
                _ = try await cache.value(forKey: "key") { 4 }
                return try await cache.value(forKey: "key") { 5 }
            }
            let folder = try TemporaryDirectory()
            let local: MiniCache<String, Int> = MiniCacheManager(
                name: "local",
                directory: folder.url
            ).cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            #expect(try await twice(local) == 4)
            #expect(try await twice(try Program(redis.port).cache) == 4)
        }

        @Test func versionsAndNamesAreApart() async throws {
            let program = try Program(redis.port)
            let other: SharedCache<String, Int> = try program.manager.cache(
                cacheName: "numbers",
                cacheVersion: .custom("2"),
                maxAge: .hours(1)
            )
            try await program.cache.set(1, forKey: "a")
            #expect(try await other.value(forKey: "a") == nil)
        }
    }
#endif
