#if Valkey
    internal import TestThreads
    internal import Testing
    internal import VellumValkey

    /// A primary with a replica and three Sentinels, two of which have to agree on a failover.
    package final class RedisGroup: Sendable {
        package let primary: RedisServer
        package let replica: RedisServer
        package let sentinels: [RedisServer]

        /// Returns when all know each other.
        ///
        /// - Parameter downAfter: After how many milliseconds of silence the primary is down.
        package init(downAfter: Int = 500) async throws {
            primary = try RedisServer()
            replica = try RedisServer(["--replicaof", "127.0.0.1", "\(primary.port)"])
            let watched = primary
            sentinels = try (1...3).map { _ in
                try RedisServer(sentinelOf: watched, [RedisServer.down(after: downAfter)])
            }
            for sentinel in sentinels {
                try await until("each Sentinel knows the replica and the other two") {
                    let replicas = try await property("num-slaves", sentinel)
                    let others = try await property("num-other-sentinels", sentinel)
                    return (replicas, others) == (1, 2)
                }
            }
        }

        /// What a Sentinel says of the primary (SENTINEL MASTER).
        private func property(_ name: String, _ sentinel: RedisServer) async throws -> Int? {
            let reply = try await Discovery.ask(
                sentinel.configuration,
                [RESPCommand("SENTINEL", "MASTER", "main")]
            )[1]
            return reply.text(named: name).flatMap { Int($0) }
        }

        /// The Sentinels as `host:port`. They call the primary `main`.
        package var addresses: [String] { sentinels.map { "127.0.0.1:\($0.port)" } }
    }
#endif
