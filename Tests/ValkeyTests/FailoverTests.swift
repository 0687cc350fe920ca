#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    /// A server that stops being the primary, without closing its connections.
    @Suite(.ownThreads)
    struct FailoverTests {
        typealias Cache = SharedCache<String, Int>

        private static func cache(_ configuration: ValkeyConfiguration) throws -> Cache {
            // How long a machine with many tests takes is not the subject.
            var configuration = configuration
            (configuration.readTimeout, configuration.writeTimeout) = (.seconds(600), .seconds(600))
            configuration.connectTimeout = .seconds(600)
            return try SharedCacheManager(name: "failover", server: ValkeyServer(configuration))
                .cache(
                    cacheName: "numbers",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
        }

        private static func configuration(_ server: RedisServer) -> ValkeyConfiguration {
            ValkeyConfiguration(host: "127.0.0.1", port: server.port)
        }

        /// The error of a confirmed read; `nil` if it returned.
        private static func failure(_ cache: Cache) async -> VellumError.Code? {
            do {
                _ = try await cache.value(forKey: "a", freshness: .confirmed)
                return nil
            } catch {
                return error.code
            }
        }

        /// Returns when a value could be set.
        private static func set(_ value: Int, _ cache: Cache) async {
            await until("the value can be set") {
                do throws(VellumError) {
                    try await cache.set(value, forKey: "a")
                    return true
                } catch {
                    #expect([VellumError.Code.unreachable, .outcomeUnknown].contains(error.code))
                    return false
                }
            }
        }

        private static func send(
            _ server: RedisServer,
            _ command: String...
        ) async throws -> RESPValue {
            try await Discovery.ask(server.configuration, [RESPCommand(command)])[1]
        }

        /// What tells a process that its server is no primary any more.
        enum Sign: CaseIterable {
            /// The role, which is asked for once a second, or more often.
            case heartbeatWithoutMemory, heartbeat, heartbeatOfLongTrust
            case set, setIfAbsent, removal, load, staleRead

            var trust: Duration {
                switch self {
                case .heartbeatWithoutMemory: .zero
                case .heartbeat: .seconds(1)
                default: .seconds(60)
                }
            }
        }

        @Test(arguments: Sign.allCases) func aServerThatSaidItIsNoPrimaryAnswersNoMore(
            _ sign: Sign
        ) async throws {
            let server = try RedisServer()
            var configuration = Self.configuration(server)
            configuration.trust = sign.trust
            let cache = try Self.cache(configuration)
            try await cache.set(1, forKey: "a")
            _ = try await cache.value(forKey: "a")
            // Nobody is there, so the server keeps what it has.
            _ = try await Self.send(server, "REPLICAOF", "127.0.0.1", "1")
            do {
                switch sign {
                case .heartbeatWithoutMemory, .heartbeat, .heartbeatOfLongTrust:
                    await until("the server has said that it is no primary") {
                        await Self.failure(cache) != nil
                    }
                case .set: try await cache.set(2, forKey: "a")
                case .setIfAbsent: try await cache.setIfAbsent(2, forKey: "other")
                case .removal: try await cache.removeValue(forKey: "other")
                case .load: #expect(try await cache.value(forKey: "other") { 7 } == 7)
                case .staleRead:
                    let setting = "replica-serve-stale-data"
                    _ = try await Self.send(server, "CONFIG", "SET", setting, "no")
                    _ = try await cache.value(forKey: "a", freshness: .confirmed)
                }
            } catch let error as VellumError {
                // A heartbeat may end the connection while a write is on its way.
                #expect([.unreachable, .outcomeUnknown].contains(error.code), "\(error)")
            }
            for _ in 0..<200 { #expect(await Self.failure(cache) == .unreachable) }
            do throws(VellumError) {
                let value = try await cache.value(forKey: "a")
                Issue.record("Memory still has \(String(describing: value)).")
            } catch { #expect(error.code == .unreachable) }
            _ = try await Self.send(server, "REPLICAOF", "NO", "ONE")
            await until("the server is used again") { await Self.failure(cache) == nil }
            #expect(try await cache.value(forKey: "a", freshness: .confirmed) == 1)
        }

        @Test func withoutSentinelsThePrimaryIsFoundAmongTheAddresses() async throws {
            let first = try RedisServer()
            let second = try RedisServer(["--replicaof", "127.0.0.1", "\(first.port)"])
            // In the order in which the replica comes first, and with one that is not there.
            var configuration = Self.configuration(second)
            configuration.otherAddresses = ["127.0.0.1:1", "127.0.0.1:\(first.port)"]
            let cache = try Self.cache(configuration)
            try await cache.set(0, forKey: "a")
            for (round, (old, new)) in [(first, second), (second, first)].enumerated() {
                try await until("the replica is in step") {
                    let reply = try await Self.send(old, "INFO", "replication")
                    return reply.text?.contains("state=online") == true
                }
                try await until("the primary agrees to the failover") {
                    try await Self.send(old, "FAILOVER") == .simple("OK")
                }
                try await until("the replica is the primary") {
                    try await Self.send(new, "ROLE").elements?.first?.text == "master"
                }
                await Self.set(round + 1, cache)
                #expect(
                    try await Discovery.ask(old.configuration, [])[0].text(named: "role")
                        == "replica"
                )
                #expect(try await cache.value(forKey: "a", freshness: .confirmed) == round + 1)
            }
        }

        private static let inability = [
            "-READONLY You can't write against a read only replica.\r\n",
            """
            -READONLY You can't write against a read only replica. script: 9282fe9c, on \
            @user_script:1.\r\n
            """,
            // Redis 6.2, of a script.
            """
            -ERR Error running script (call to f_9282fe9c): @user_script:1: @user_script: 1: \
            -READONLY You can't write against a read only replica.\r\n
            """,
            "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
            "-LOADING Redis is loading the dataset in memory\r\n",
            "!40\r\nLOADING Valkey is loading the dataset in mem\r\n",
            """
            -UNBLOCKED force unblock from blocking operation, instance state changed (master -> \
            replica?)\r\n
            """,
            "-CLUSTERDOWN Hash slot not served\r\n", "-MOVED 3999 127.0.0.1:6381\r\n",
        ]

        private static let otherErrors = [
            "-ERR unknown command\r\n", "-ERR value is not READONLY\r\n",
            "-NOREPLICAS Not enough good replicas to write.\r\n",
            "-MISCONF Redis is configured to save RDB snapshots\r\n",
            "-NOPERM this user has no permissions\r\n",
            """
            -ERR Error running script (call to f_9282fe9c): @user_script:1: Script attempted to \
            access nonexistent global variable\r\n
            """,
        ]

        /// Answers the first read with an error, and what comes behind it on the same connection
        /// with a value that nobody may get.
        private final class OnceUnable: Sendable {
            private let state = Locked((reads: 0, connections: 0))

            var connections: Int { state.withLock { $0.connections } }

            func server(_ error: String, endsConnection: Bool = true) throws -> LyingServer {
                try LyingServer { [self] command in
                    state.withLock { state in
                        if command == "CLIENT" { state.connections += 1 }
                        guard command == "GETRANGE" else { return nil }
                        state.reads += 1
                        if state.reads == 1 { return error }
                        return endsConnection && state.connections == 1 ? "$3\r\nold\r\n" : nil
                    }
                }
            }
        }

        @Test(arguments: inability) func anErrorOfAServerThatIsNoPrimaryEndsTheConnection(
            _ error: String
        ) async throws {
            let counts = OnceUnable()
            let server = try counts.server(error)
            let cache = try Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: server.port))
            // Before the connection is ready, so that most are one write, whose replies come with
            // the first.
            let failures = await withTaskGroup(of: VellumError.Code?.self) { group in
                for _ in 0..<10 { group.addTask { await Self.failure(cache) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                failures.contains(.unreachable)
                    && failures.allSatisfy { $0 == nil || $0 == .unreachable }
            )
            await until("a new connection answers") { await Self.failure(cache) == nil }
            #expect(counts.connections == 2)
        }

        @Test(arguments: otherErrors) func anotherErrorDoesNot(_ error: String) async throws {
            let counts = OnceUnable()
            let server = try counts.server(error, endsConnection: false)
            let cache = try Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: server.port))
            #expect(await Self.failure(cache) == .serverFailed)
            #expect(await Self.failure(cache) == nil)
            #expect(counts.connections == 1)
        }

        @Test func repliesBehindSuchAnErrorAreNotGiven() async throws {
            let counts = OnceUnable()
            let server = try counts.server(Self.inability[0])
            var configuration = ServerConfiguration(host: "127.0.0.1", port: server.port)
            configuration.connectTimeout = 600_000
            let link = Link(
                to: configuration,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            // Before the connection is ready, so that most are one write.
            let replies = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do {
                            return try await link.call(
                                RESPCommand("GETRANGE", "k", "0", "1"),
                                within: 600_000
                            ).text
                        } catch {
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(!replies.contains("old") && replies.contains(nil))
        }

        @Test(arguments: [
            "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
            """
            -ERR Error running script (call to f_9282fe9c): @user_script:5: @user_script: 5: -OOM \
            command not allowed\r\n
            """,
        ])
        func aFullServerIsKnownByTheErrorOfAScript(_ error: String) async throws {
            let server = try LyingServer { $0 == "EVAL" ? error : nil }
            let cache = try Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: server.port))
            let thrown = await #expect(throws: VellumError.self) {
                try await cache.set(1, forKey: "a")
            }
            #expect(thrown?.code == .serverFull)
        }

        /// Of all commands that change keys, the server tells nobody of this one.
        @Test func afterSWAPDBValuesInMemoryEndWithTheConnections() async throws {
            let server = try RedisServer()
            let cache = try Self.cache(Self.configuration(server))
            try await cache.set(1, forKey: "a")
            #expect(try await cache.value(forKey: "a") == 1)
            _ = try await Self.send(server, "SWAPDB", "0", "1")
            #expect(try await cache.value(forKey: "a", freshness: .confirmed) == nil)
            _ = try await Self.send(server, "SWAPDB", "0", "1")
            #expect(try await cache.value(forKey: "a") == 1)
            _ = try await Self.send(server, "SWAPDB", "0", "1")
            _ = try await Self.send(server, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            var answer: Int? = 1
            await until("a new connection has answered") {
                do {
                    answer = try await cache.value(forKey: "a")
                    return answer != 1
                } catch {
                    return false
                }
            }
            #expect(answer == nil)
        }

        private static let changes = [
            ["RENAME", "other", "$"], ["RENAME", "$", "other"], ["COPY", "other", "$", "REPLACE"],
            ["MOVE", "$", "1"], ["FLUSHDB"],
            ["FLUSHALL", "ASYNC"], ["GETDEL", "$"], ["SET", "$", "x"], ["APPEND", "$", "x"],
            ["PEXPIREAT", "$", "1"], ["UNLINK", "$"],
        ]

        @Test func everyOtherChangeEndsTheValueInMemory() async throws {
            let server = try RedisServer()
            var configuration = Self.configuration(server)
            configuration.trust = .seconds(60)
            let cache = try Self.cache(configuration)
            for command in Self.changes {
                try await cache.set(1, forKey: "a")
                _ = try await Self.send(server, "SET", "other", "x")
                #expect(try await cache.value(forKey: "a") == 1)
                let reply = try await Self.send(server, "KEYS", "*numbers*")
                let key = try #require(reply.elements?.first?.text)
                _ = try await Discovery.ask(
                    server.configuration,
                    [RESPCommand(command.map { $0 == "$" ? key : $0 })]
                )
                // A later reply of the same connection.
                #expect(try await cache.value(forKey: "b", freshness: .confirmed) == nil)
                do throws(VellumError) {
                    let value = try await cache.value(forKey: "a")
                    #expect(value == nil, "\(command)")
                } catch { #expect(error.code == .damagedEntry, "\(command)") }
                _ = try await Self.send(server, "FLUSHALL")
            }
        }
    }
#endif
