#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumTestSupport

    import struct VellumCore.Locked

    @testable import VellumValkey

    /// Groups on a real server. Each `Program` has a connection of its own, like a machine.
    @Suite(.ownThreads)
    struct SharedGroupServerTests {
        private struct SourceDown: Error {}

        private final class Counter: Sendable {
            private let value = Locked(0)
            var count: Int { value.withLock { $0 } }
            func add() { value.withLock { $0 += 1 } }
        }

        final class Program: Sendable {
            let server: ValkeyServer
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
                cache = try SharedCacheManager(name: "test", server: server).cache(
                    cacheName: "numbers",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1),
                    keepExpiredFor: .seconds(3600)
                )
            }

            /// Reads until there is a near hit.
            func warm(_ key: String, _ value: Int) async throws {
                let hits = cache.statistics.nearHits
                try await until("memory answers") {
                    let found = try await cache.value(forKey: key)
                    #expect(found == value)
                    return cache.statistics.nearHits > hits
                }
            }

            /// Returns when near reads find nothing more; no read asks for the key before.
            func waitUntilRemoved(_ key: String) async throws {
                try await until("near reads find nothing") {
                    try await cache.value(forKey: key) == nil
                }
            }
        }

        let redis: RedisServer
        private let administrator: Link

        init() throws {
            redis = try RedisServer()
            administrator = Link(
                to: redis.configuration,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
        }

        @discardableResult
        func command(_ parts: any RESPCommand.Argument...) async throws -> RESPValue {
            try await administrator.call(RESPCommand(parts), within: 600_000)
        }

        func epoch(of group: String) -> String { "v1:{gtest:numbers:1\0\(group)}" }

        @Test func whatOneProgramRemovesNoOtherReads() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["user:42", "tenant:7"])
            try await one.cache.set(2, forKey: "b", groups: ["tenant:7"])
            try await one.cache.set(3, forKey: "user:42")
            for program in [one, other] {
                for (key, value) in [("a", 1), ("b", 2), ("user:42", 3)] {
                    try await program.warm(key, value)
                }
            }
            try await one.cache.removeAll(group: "user:42")
            #expect(try await one.cache.value(forKey: "a") == nil)
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == nil)
            for program in [one, other] {
                #expect(
                    try await program.cache.values(forKeys: ["a", "b", "user:42"]) == [
                        "b": 2, "user:42": 3,
                    ]
                )
                #expect(
                    try await program.cache.values(
                        forKeys: ["a", "b", "user:42"],
                        freshness: .confirmed
                    ) == [
                        "b": 2, "user:42": 3,
                    ]
                )
            }
            // The server tells the other one, without a question.
            try await other.cache.removeAll(group: "tenant:7")
            try await one.waitUntilRemoved("b")
            try await one.cache.set(4, forKey: "b", groups: ["tenant:7"])
            #expect(try await other.cache.value(forKey: "b", freshness: .confirmed) == 4)
        }

        /// Also if the one that was read is gone: it has expired, was evicted, or somebody wrote
        /// something else.
        @Test(arguments: ["DEL", "SET short", "SET long", "LPUSH", "FLUSHALL"])
        func anEpochThatIsLostRemovesItsGroup(_ loss: String) async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g", "h"])
            for program in [one, other] { try await program.warm("a", 1) }
            switch loss {
            case "SET short": try await command("SET", epoch(of: "g"), "x")
            case "SET long": try await command("SET", epoch(of: "g"), Data(count: 100_000))
            case "LPUSH":
                try await command("DEL", epoch(of: "g"))
                try await command("LPUSH", epoch(of: "g"), "x")
            case "FLUSHALL": try await command("FLUSHALL")
            default: try await command("DEL", epoch(of: "g"))
            }
            for program in [one, other] {
                try await program.waitUntilRemoved("a")
                #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
            }
            try await one.cache.set(2, forKey: "a", groups: ["g", "h"])
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
            try await other.cache.removeAll(group: "g")
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }

        @Test func anEpochLastsAtLeastAsLongAsItsEntries() async throws {
            let program = try Program(redis.port)
            func rest() async throws -> Int64 {
                try await command("PTTL", epoch(of: "g")).integer ?? 0
            }
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() > 3_600_000)
            let short = try await rest()
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() <= short, "The others are not told again.")
            try await program.cache.set(1, forKey: "a", maxAge: .days(7), groups: ["g"])
            let long = try await rest()
            #expect(long > 7 * 86_400_000)
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() > 7 * 86_400_000, "It is never shortened.")
            try await program.cache.removeAll(group: "g")
            #expect(try await rest() > 7 * 86_400_000)
            try await program.cache.set(
                1,
                forKey: "b",
                maxAge: .days(1_000_000_000_000),
                groups: ["g"]
            )
            #expect(try await rest() == -1)
            try await program.cache.set(
                1,
                forKey: "b",
                maxAge: .days(1_000_000_000_000),
                groups: ["new"]
            )
            #expect(try await command("STRLEN", epoch(of: "new")).integer == 8)
            try await program.cache.set(1, forKey: "b", maxAge: .days(1), groups: ["new"])
            #expect(try await program.cache.value(forKey: "b", freshness: .confirmed) == 1)
        }

        /// Who makes an epoch is not told of that, and whoever waits gets the one value.
        @Test func oneLoaderRunsAfterARemoval() async throws {
            let programs = try (0..<4).map { _ in try Program(redis.port) }
            let counter = Counter()
            for round in 0..<20 {
                if round % 2 == 0 {
                    try await command("DEL", epoch(of: "g"))
                } else {
                    try await programs[0].cache.removeAll(group: "g")
                }
                for program in programs { try await program.waitUntilRemoved("a") }
                let (before, asking) = (counter.count, Counter())
                let values = try await withThrowingTaskGroup(of: Int.self) { group in
                    for program in programs {
                        for _ in 0..<4 {
                            group.addTask {
                                asking.add()
                                let cache = program.cache.loading(into: ["g", "h"])
                                return try await cache.value(forKey: "a") {
                                    counter.add()
                                    await until("all programs ask") { asking.count == 16 }
                                    return counter.count
                                }
                            }
                        }
                    }
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                // When the server lost the epoch, who had asked for it may hear of the new one, and
                // load once more.
                if round % 2 == 1 {
                    #expect((counter.count - before, values.count) == (1, 1), "round \(round)")
                }
            }
        }

        /// Also while a load of its value runs, which another machine waits for.
        @Test(arguments: [true, false]) func aLoadIsOvertakenByTheRemovalOfItsGroup(
            _ isOwn: Bool
        ) async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let (loads, gate) = (Counter(), AsyncStream.makeStream(of: Void.self))
            let first = Task {
                try await one.cache.loading(into: ["g"]).load("a") {
                    loads.add()
                    for await _ in gate.stream { break }
                    return 1
                }
            }
            await until("the loader runs") { loads.count > 0 }
            try await (isOwn ? one : other).cache.removeAll(group: "g")
            // The server says it before its next answer.
            _ = try await one.cache.value(forKey: "b", freshness: .confirmed)
            #expect(
                try await other.cache.loading(into: ["g"]).load("a") { 2 } == Loaded(2, .loaded)
            )
            #expect(try await one.cache.loading(into: ["g"]).load("a") { 3 }.value == 2)
            gate.continuation.yield()
            #expect(try await first.value == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        @Test func aRememberedFailureEndsWithItsGroup() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let options = LoadOptions(errorMaxAge: .seconds(600))
            await #expect(throws: SourceDown.self) {
                try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) {
                    () -> Int in throw SourceDown()
                }
            }
            await #expect(throws: SourceDown.self) {
                try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) { 1 }
            }
            try await other.cache.removeAll(group: "g")
            _ = try await one.cache.value(forKey: "b", freshness: .confirmed)
            #expect(
                try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) { 1 }
                    == 1
            )
        }

        @Test func anEntryOfARemovedGroupIsAbsent() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g"])
            #expect(try await !other.cache.setIfAbsent(2, forKey: "a"))
            try await one.cache.removeAll(group: "g")
            let set = try await withThrowingTaskGroup(of: Bool.self) { group in
                for program in [one, other] {
                    for number in 3..<8 {
                        group.addTask { try await program.cache.setIfAbsent(number, forKey: "a") }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(set == 1)
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) ?? 0 >= 3)
        }

        @Test func anUnchangedValueOfAGroupGetsANewDate() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let cache = one.cache.loading(into: ["g", "h"])
            _ = try await cache.load("a", maxAge: .timeInterval(0), staleIfError: .seconds(600)) {
                1
            }
            let renewed = try await cache.load("a") { previous in
                #expect(previous == 1)
                return .unchanged(maxAge: .seconds(600))
            }
            #expect(renewed == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a") == 1)
            try await other.cache.removeAll(group: "h")
            #expect(
                try await cache.load("a") { previous in .value(previous ?? 7) }
                    == Loaded(7, .loaded)
            )
        }

        @Test func aFullServerStillRemovesGroups() async throws {
            let program = try Program(redis.port)
            try await program.cache.set(1, forKey: "a", groups: ["g"])
            try await program.warm("a", 1)
            try await command("CONFIG", "SET", "maxmemory", "1")
            try await program.cache.removeAll(group: "g")
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
            let error = await #expect(throws: VellumError.self) {
                try await program.cache.set(1, forKey: "b", groups: ["g"])
            }
            #expect(error?.code == .serverFull)
            #expect(try await program.cache.loading(into: ["g"]).value(forKey: "b") { 7 } == 7)
        }

        @Test func anEntryInManyGroupsIsReadAndRemoved() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let groups = Set(
                (0..<200).map { "group \($0)" } + ["", String(repeating: "n", count: 1024)]
            )
            try await one.cache.set(1, forKey: "a", groups: groups)
            try await other.warm("a", 1)
            try await one.cache.removeAll(group: String(repeating: "n", count: 1024))
            try await other.waitUntilRemoved("a")
            let error = await #expect(throws: VellumError.self) {
                try await one.cache.set(
                    1,
                    forKey: "a",
                    groups: [String(repeating: "n", count: 1025)]
                )
            }
            #expect(error?.code == .keyTooLong)
        }

        /// The commands that the guide lists.
        @Test func aUserNeedsFewCommands() async throws {
            let commands =
                """
                hello select client|tracking time get getrange set setrange strlen del pttl \
                pexpire persist eval scan unlink
                """
            let rules: [any RESPCommand.Argument] = [
                "ACL", "SETUSER", "shop", "on", ">secret", "~v1:*", "-@all",
            ]
            _ = try await administrator.call(
                RESPCommand(rules + commands.split(separator: " ").map { "+\($0)" }),
                within: 600_000
            )
            let program = try Program(redis.port) { ($0.user, $0.password) = ("shop", "secret") }
            try await program.cache.set(1, forKey: "a", groups: ["g"])
            try await program.cache.set(
                1,
                forKey: "a",
                maxAge: .days(1_000_000_000_000),
                groups: ["g"]
            )
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == 1)
            #expect(try await !program.cache.setIfAbsent(2, forKey: "a"))
            try await program.cache.removeAll(group: "g")
            let grouped = program.cache.loading(into: ["g"])
            #expect(
                try await grouped.load("a", maxAge: .timeInterval(0)) { 3 } == Loaded(3, .loaded)
            )
            #expect(
                try await grouped.load("a") { _ in .unchanged(maxAge: .seconds(86_400)) }
                    == Loaded(3, .loaded)
            )
            try await program.cache.removeValue(forKey: "a")
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }
    }
#endif
