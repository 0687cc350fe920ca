#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumTestSupport

    import struct VellumCore.Locked

    @testable import VellumValkey

    /// Shared caches as callers see them, on a real server. Each `Program` has a connection of its
    /// own, like a machine.
    @Suite(.ownThreads)
    struct SharedCacheTests {
        struct SourceDown: Error {}

        final class Counter: Sendable {
            private let value = Locked(0)
            var count: Int { value.withLock { $0 } }
            func add() { value.withLock { $0 += 1 } }
        }

        final class Program: Sendable {
            let server: ValkeyServer
            let manager: SharedCacheManager
            let cache: SharedCache<String, Int>

            init(_ port: Int, change: (inout ValkeyConfiguration) -> Void = { _ in }) throws {
                var configuration = ValkeyConfiguration(host: "127.0.0.1", port: port)
                // Nothing depends on how busy the machine is.
                (configuration.connectTimeout, configuration.readTimeout) = (
                    .seconds(600), .seconds(600)
                )
                (configuration.writeTimeout, configuration.trust, configuration.lease) = (
                    .seconds(600), .seconds(60), .seconds(600)
                )
                configuration.longestWait = .seconds(600)
                change(&configuration)
                server = ValkeyServer(configuration)
                manager = SharedCacheManager(name: "test", server: server)
                cache = try manager.cache(
                    cacheName: "numbers",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
            }
        }

        let redis: RedisServer

        init() throws { redis = try RedisServer() }

        @Test func whatOneProgramSetsAnotherReads() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            #expect(try await other.cache.value(forKey: "a") == nil)
            try await one.cache.set(1, forKey: "a")
            #expect(try await one.cache.value(forKey: "a") == 1)
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 1)
            try await other.cache.removeValue(forKey: "a")
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }

        /// Two spellings that Swift's `==` finds equal are one key and one name (FK1).
        @Test(arguments: [
            ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"), ("a\u{323}\u{301}", "a\u{301}\u{323}"),
            ("\u{E9}", "e\u{301}"),
        ])
        func equalKeysAndNamesAreOneOnTheServer(_ one: String, _ other: String) async throws {
            func cache(_ text: String) throws -> SharedCache<String, Int> {
                let program = try Program(redis.port) { $0.keyPrefix = text }
                return try SharedCacheManager(name: text, server: program.server).cache(
                    cacheName: text,
                    cacheVersion: .custom(text),
                    maxAge: .hours(1)
                )
            }
            try await cache(one).set(1, forKey: one)
            #expect(try await cache(other).value(forKey: other) == 1)
        }

        /// FS1: no connection has the descriptor of a stream that is closed.
        @Test func aProgramWithoutStandardStreamsUsesAServer() throws {
            #expect(
                try Spawned(["streams", "\(redis.port)"], of: "FleetClient").end().0 == .exited(0)
            )
        }

        @Test func oneOfManyProgramsSetsWhatIsAbsent() async throws {
            let programs = try (0..<4).map { _ in try Program(redis.port) }
            let set = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, program) in programs.enumerated() {
                    group.addTask { try await program.cache.setIfAbsent(number, forKey: "a") }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(set == 1)
            try await programs[0].cache.removeValue(forKey: "a")
            #expect(try await programs[1].cache.setIfAbsent(7, forKey: "a"))
            #expect(
                try await programs[2].cache.values(forKeys: ["a", "b"], freshness: .confirmed) == [
                    "a": 7
                ]
            )
        }

        @Test func aChangeOfAnotherProgramEndsANearHit() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a")
            var seen = try await other.cache.value(forKey: "a")
            for value in 2...20 {
                try await one.cache.set(value, forKey: "a")
                // No read of the server in between: the server says that it changed.
                try await until("the other program reads the new value") {
                    seen = try await other.cache.value(forKey: "a")
                    return seen == value
                }
            }
            #expect(seen == 20)
        }

        /// FW1: also if there was nothing to remove. Who comes afterwards starts another load.
        @Test(arguments: ["removeValue", "set"]) func aLoadIsOvertakenByAnotherProgram(
            _ write: String
        ) async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let (loads, gate) = (Counter(), AsyncStream.makeStream(of: Void.self))
            let first = Task {
                try await one.cache.load("a") {
                    loads.add()
                    for await _ in gate.stream { break }
                    return 1
                }
            }
            await until("the loader runs") { loads.count > 0 }
            switch write {
            case "removeValue": try await other.cache.removeValue(forKey: "a")
            default: try await other.cache.set(2, forKey: "a")
            }
            // The server says it before its next answer.
            _ = try await one.cache.value(forKey: "b", freshness: .confirmed)
            let later = try await one.cache.load("a") { 2 }
            #expect(later == Loaded(2, write == "set" ? .cached : .loaded))
            gate.continuation.yield()
            #expect(try await first.value == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        /// FV4: the lease of a load ahead is no change of the value.
        @Test func readersDoNotWaitForALoadAhead() async throws {
            let program = try Program(redis.port)
            let options = LoadOptions(expiration: .after(.seconds(600)), refreshAhead: 0.000_001)
            #expect(try await program.cache.value(forKey: "a", options: options) { 1 } == 1)
            let (loads, gate) = (Counter(), AsyncStream.makeStream(of: Void.self))
            func read() async throws -> Int? {
                try await program.cache.value(forKey: "a", options: options) {
                    loads.add()
                    for await _ in gate.stream { break }
                    return 2
                }
            }
            try await until("a load ahead of the end runs") {
                let found = try await read()
                #expect(found == 1)
                return loads.count > 0
            }
            for _ in 0..<50 { #expect(try await read() == 1) }
            #expect(loads.count == 1)
            gate.continuation.yield()
            try await until("the new value is read") { try await read() == 2 }
        }

        @Test func oneLoaderRunsForManyPrograms() async throws {
            let programs = try (1...8).map { _ in try Program(redis.port) }
            let (asking, loads) = (Counter(), Counter())
            let values = try await withThrowingTaskGroup(of: Int.self) { group in
                for program in programs {
                    for _ in 1...4 {
                        group.addTask {
                            asking.add()
                            return try await program.cache.value(forKey: "slow") {
                                loads.add()
                                await until("all programs ask") { asking.count == 32 }
                                return 7
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: 7, count: 32))
            #expect(loads.count == 1)
        }

        @Test func aFailedLoaderFreesTheKeyAtOnce() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            await #expect(throws: SourceDown.self) {
                try await one.cache.value(forKey: "a") { () -> Int in throw SourceDown() }
            }
            // The lease would last ten minutes.
            #expect(try await other.cache.value(forKey: "a") { 5 } == 5)
        }

        @Test func aValueThatIsSetWhileALoaderRunsStays() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let loaded = try await one.cache.value(forKey: "a") {
                try await other.cache.set(2, forKey: "a")
                return 1
            }
            #expect(loaded == 1)
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        @Test func aValueThatIsRemovedWhileALoaderRunsStaysRemoved() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            _ = try await one.cache.value(forKey: "a") {
                try await other.cache.removeValue(forKey: "a")
                return 1
            }
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }

        @Test func aHolderThatIsSilentIsReplaced() async throws {
            let one = try Program(redis.port) { $0.lease = .milliseconds(100) }
            let other = try Program(redis.port)
            let value = try await one.cache.value(forKey: "a") {
                // Without a connection, the lease is not renewed.
                one.server.close()
                return try await other.cache.value(forKey: "a") { 2 } + 10
            }
            #expect(value == 12)
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        @Test func aLoaderThatAsksForItsOwnKeyFails() async throws {
            let program = try Program(redis.port)
            let error = await #expect(throws: VellumError.self) {
                try await program.cache.value(forKey: "a") {
                    try await program.cache.value(forKey: "a") { 1 }
                }
            }
            #expect(error?.code == .recursiveLoad)
        }

        @Test func aMissIsRememberedForItsAge() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let options = LoadOptions(negativeMaxAge: .seconds(600))
            #expect(
                try await one.cache.value(forKey: "a", options: options) { () -> Int? in nil }
                    == nil
            )
            #expect(
                try await other.cache.value(forKey: "a", options: options) { () -> Int? in 1 }
                    == nil
            )
            // Who takes no `nil` loads.
            #expect(try await other.cache.value(forKey: "a") { 2 } == 2)
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        @Test func aStaleValueIsReturnedWhileItIsLoadedAgain() async throws {
            let program = try Program(redis.port)
            let window = Duration.seconds(600)
            _ = try await program.cache.load(
                "a",
                maxAge: .timeInterval(0),
                staleWhileRevalidate: window
            ) { 1 }
            let stale = try await program.cache.load("a", staleWhileRevalidate: window) { 2 }
            #expect(stale == Loaded(1, .staleWhileRevalidate))
            try await until("the new value is stored") {
                try await program.cache.value(forKey: "a", freshness: .confirmed) == 2
            }
        }
    }
#endif
