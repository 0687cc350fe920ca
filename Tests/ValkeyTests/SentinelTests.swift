#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    /// Real Sentinels with a real failover: a second or two. That the new primary is found is
    /// waited for; how soon depends on the machine.
    @Suite(.ownThreads)
    struct SentinelTests {
        /// - Parameter isTimed: Whether a server may not answer, for which a connection waits two
        ///   seconds.
        private static func cache(
            _ configuration: ValkeyConfiguration,
            isTimed: Bool = false
        ) throws -> SharedCache<String, Int> {
            // How long a machine with many tests takes is not the subject.
            var configuration = configuration
            let longest = Duration.seconds(isTimed ? 60 : 600)
            (configuration.readTimeout, configuration.writeTimeout) = (longest, longest)
            if !isTimed { configuration.connectTimeout = longest }
            return try SharedCacheManager(name: "test", server: ValkeyServer(configuration)).cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        private static func cache(
            _ sentinels: [String],
            isTimed: Bool = false
        ) throws -> SharedCache<String, Int> {
            try cache(
                ValkeyConfiguration(sentinels: sentinels, primaryName: "main"),
                isTimed: isTimed
            )
        }

        private static func address(_ server: RedisServer) -> String { "127.0.0.1:\(server.port)" }

        private static func set(_ value: Int, _ cache: SharedCache<String, Int>) async {
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

        /// `nil` if it cannot be asked: a server closes connections when its role changes.
        private static func role(_ server: RedisServer) async -> String? {
            do {
                return try await Discovery.ask(server.configuration, [])[0].text(named: "role")
            } catch {
                return nil
            }
        }

        /// How a primary is replaced.
        enum Failover: CaseIterable {
            case primaryKilled, primaryStopped, demoted
            /// One of the three Sentinels answers nobody any more.
            case primaryKilledSentinelCutOff
        }

        @Test(arguments: Failover.allCases) func aFailoverIsFollowed(
            _ failover: Failover
        ) async throws {
            // A server that stands still for a moment is not down where this test says who is the
            // primary.
            let group = try await RedisGroup(downAfter: failover == .demoted ? 600_000 : 500)
            // The first one is not there.
            let cache = try Self.cache(["127.0.0.1:1"] + group.addresses, isTimed: true)
            await Self.set(1, cache)
            if failover == .primaryKilledSentinelCutOff { group.sentinels[0].stop() }
            switch failover {
            case .primaryKilled, .primaryKilledSentinelCutOff: group.primary.kill()
            case .primaryStopped: group.primary.stop()
            case .demoted: break
            }
            @Sendable func isReplicaPrimary() async throws -> Bool {
                if await Self.role(group.replica) == "master" { return true }
                if failover == .demoted {
                    // Refused while the replica is not in step, or a failover runs; and a Sentinel
                    // that finds no majority in time gives up. If one has just ended, this fails
                    // back.
                    let command = RESPCommand("SENTINEL", "FAILOVER", "main")
                    _ = try await Discovery.ask(group.sentinels[1].configuration, [command])
                }
                return false
            }
            try await until("the replica is the primary") { try await isReplicaPrimary() }
            // Where a client that knows the new primary sees it. The old one may acknowledge sets
            // until the Sentinels have demoted it, too.
            let direct = try Self.cache(
                ValkeyConfiguration(host: "127.0.0.1", port: group.replica.port)
            )
            try await until("the new primary has what is set") {
                guard try await isReplicaPrimary() else { return false }
                await Self.set(2, cache)
                return try await direct.value(forKey: "a", freshness: .confirmed) == 2
            }
            #expect(try await cache.value(forKey: "a", freshness: .confirmed) == 2)
            if failover == .primaryStopped { group.primary.resume() }
            if failover == .primaryKilledSentinelCutOff { group.sentinels[0].resume() }
        }

        /// What one of the Sentinels has in mind.
        enum View: CaseIterable { case deadServer, replica, anotherPrimary }

        @Test(arguments: View.allCases) func aSentinelThatIsOutOfDateLocksNobodyOut(
            _ view: View
        ) async throws {
            let primary = try RedisServer()
            let old = try RedisServer(
                view == .replica ? ["--replicaof", "127.0.0.1", "\(primary.port)"] : []
            )
            // None of them is to promote the replica because the primary stands still for a moment.
            let lines = view == .replica ? [RedisServer.down(after: 600_000)] : []
            let wrong = try RedisServer(sentinelOf: old, lines)
            if view == .deadServer { old.kill() }
            let right = try (0..<2).map { _ in try RedisServer(sentinelOf: primary, lines) }
            // It is outvoted if what it says cannot be told from the truth.
            let sentinels = [wrong] + (view == .anotherPrimary ? right : [right[0]])
            let direct = try Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: primary.port))
            for turn in 0..<4 {
                let order = sentinels.indices.map { sentinels[($0 + turn) % sentinels.count] }
                let cache = try Self.cache(order.map(Self.address))
                await Self.set(turn, cache)
                #expect(try await direct.value(forKey: "a", freshness: .confirmed) == turn)
            }
        }

        private static func sentinel(
            _ host: String,
            _ port: String,
            flags: String = "master",
            epoch: String = "0"
        ) throws -> LyingServer {
            try LyingServer { command in
                switch command {
                case "SENTINEL GET-MASTER-ADDR-BY-NAME": LyingServer.array(host, port)
                case "SENTINEL MASTER":
                    LyingServer.array(
                        "name",
                        "flags",
                        "ip",
                        host,
                        "port",
                        port,
                        "flags",
                        flags,
                        "config-epoch",
                        epoch
                    )
                default: nil
                }
            }
        }

        private static func code(_ cache: SharedCache<String, Int>) async -> VellumError.Code? {
            do {
                _ = try await cache.value(forKey: "a", freshness: .confirmed)
                return nil
            } catch {
                return error.code
            }
        }

        @Test(arguments: [
            "master,s_down", "s_down,o_down,master", "master,disconnected",
            "o_down,master,failover_in_progress",
        ])
        func whatASentinelCallsDownIsLeftOut(_ flags: String) async throws {
            let (down, up) = (try RedisServer(), try RedisServer())
            let lying = try Self.sentinel("127.0.0.1", "\(down.port)", flags: flags)
            #expect(await Self.code(try Self.cache(["127.0.0.1:\(lying.port)"])) == .unreachable)
            let right = try Self.sentinel("127.0.0.1", "\(up.port)")
            let cache = try Self.cache(["127.0.0.1:\(lying.port)", "127.0.0.1:\(right.port)"])
            try await cache.set(1, forKey: "a")
            #expect(
                try await Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: up.port)).value(
                    forKey: "a"
                ) == 1
            )
        }

        /// After a failover they are two against one, but the one knows of it.
        @Test func theHighestEpochCounts() async throws {
            let (old, new) = (try RedisServer(), try RedisServer())
            let sentinels = [
                try Self.sentinel("127.0.0.1", "\(old.port)", epoch: "6"),
                try Self.sentinel("127.0.0.1", "\(old.port)", epoch: "6"),
                try Self.sentinel("127.0.0.1", "\(new.port)", epoch: "7"),
            ]
            let direct = try Self.cache(ValkeyConfiguration(host: "127.0.0.1", port: new.port))
            for turn in 0..<6 {
                let order = (0..<3).map { sentinels[($0 + turn) % 3] }
                try await Self.cache(order.map { "127.0.0.1:\($0.port)" }).set(turn, forKey: "a")
                #expect(try await direct.value(forKey: "a", freshness: .confirmed) == turn)
            }
        }

        private static let wrongAddresses = [
            ("127.0.0.1", "0"), ("127.0.0.1", "-1"), ("127.0.0.1", "1"), ("127.0.0.1", "65536"),
            ("127.0.0.1", "4611686018427387904"),
            ("127.0.0.1", "9223372036854775807"), ("127.0.0.1", "-9223372036854775808"),
            ("127.0.0.1", "99999999999999999999"),
            ("127.0.0.1", ""), ("127.0.0.1", "x"), ("", "6379"), ("\0", "6379"),
            ("256.256.256.256", "1"), (" ", "1"),
        ]

        @Test func aSentinelThatNamesNoAddressEndsNothing() async throws {
            let server = try RedisServer()
            for (host, port) in Self.wrongAddresses {
                let lying = try Self.sentinel(host, port, epoch: "9223372036854775807")
                let code = await Self.code(try Self.cache(["127.0.0.1:\(lying.port)"]))
                #expect([.unreachable, .refused].contains(code), "\(host) \(port)")
                let right = try Self.sentinel("127.0.0.1", "\(server.port)")
                #expect(
                    await Self.code(
                        try Self.cache(["127.0.0.1:\(lying.port)", "127.0.0.1:\(right.port)"])
                    ) == nil,
                    "\(host) \(port)"
                )
            }
        }

        @Test func anEpochMayBeAnything() async throws {
            let server = try RedisServer()
            for epoch in [
                "", "0", "-1", "4611686018427387904", "-9223372036854775808", "9223372036854775807",
                "99999999999999999999", "x",
            ] {
                let sentinel = try Self.sentinel("127.0.0.1", "\(server.port)", epoch: epoch)
                #expect(
                    await Self.code(try Self.cache(["127.0.0.1:\(sentinel.port)"])) == nil,
                    "\(epoch)"
                )
            }
        }

        @Test(arguments: [
            "_\r\n", "*-1\r\n", "*0\r\n", ":1\r\n", "+OK\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n",
            "-IDONTKNOW\r\n", "%1\r\n+a\r\n+b\r\n",
        ])
        func aSentinelMaySayAnything(_ reply: String) async throws {
            let server = try RedisServer()
            let lying = try LyingServer { $0.hasPrefix("SENTINEL") ? reply : nil }
            let code = await Self.code(try Self.cache(["127.0.0.1:\(lying.port)"]))
            #expect([.unreachable, .refused].contains(code))
            // What else it knows is not needed.
            let short = try LyingServer { command in
                switch command {
                case "SENTINEL GET-MASTER-ADDR-BY-NAME":
                    LyingServer.array("127.0.0.1", "\(server.port)")
                case "SENTINEL MASTER": reply
                default: nil
                }
            }
            #expect(
                await Self.code(
                    try Self.cache(["127.0.0.1:\(lying.port)", "127.0.0.1:\(short.port)"])
                ) == nil
            )
        }

        @Test func aUserOfTheSentinelsIsLoggedIn() async throws {
            let server = try RedisServer([
                "--requirepass", "server-secret", "--user", "shop", "on", ">shop-secret", "~*",
                "&*", "+@all",
            ])
            let sentinel = try RedisServer(
                sentinelOf: server,
                [
                    "sentinel auth-pass main server-secret", "user default off",
                    """
                    user cache on >right +hello +auth +sentinel|get-master-addr-by-name \
                    +sentinel|master
                    """,
                    "user narrow on >right +hello +auth +sentinel|get-master-addr-by-name",
                    "user open on nopass +hello +auth +sentinel",
                ]
            )
            func code(_ user: String?, _ password: String?) async throws -> VellumError.Code? {
                var configuration = ValkeyConfiguration(
                    sentinels: [Self.address(sentinel)],
                    primaryName: "main",
                    user: "shop",
                    password: "shop-secret"
                )
                (configuration.sentinelUser, configuration.sentinelPassword) = (user, password)
                do {
                    let cache = try Self.cache(configuration)
                    try await cache.set(1, forKey: "a")
                    return nil
                } catch {
                    #expect(!"\(error)".contains("right") && !"\(error)".contains("secret"))
                    return (error as? VellumError)?.code
                }
            }
            #expect(try await code("cache", "right") == nil)
            // Without SENTINEL MASTER, it is not known what is down.
            #expect(try await code("narrow", "right") == nil)
            #expect(try await code("open", nil) == nil)
            for (user, password) in [
                ("cache", "wrong"), ("cache", nil), ("nobody", "right"), (nil, "right"), (nil, nil),
            ] {
                #expect(try await code(user, password) == .refused, "\(user ?? "-")")
            }
        }

        /// A user without a password is not the default user.
        @Test func aUserWithoutAPasswordIsLoggedInToo() async throws {
            let server = try RedisServer([
                "--user", "shop", "on", "nopass", "~*", "&*", "+@all", "-eval",
            ])
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            configuration.user = "shop"
            let error = await #expect(throws: VellumError.self) {
                try await Self.cache(configuration).set(1, forKey: "a")
            }
            #expect(error?.code == .serverFailed)
            configuration.user = "nobody"
            let refusal = await #expect(throws: VellumError.self) {
                try await Self.cache(configuration).set(1, forKey: "a")
            }
            #expect(refusal?.code == .refused)
        }
    }
#endif
