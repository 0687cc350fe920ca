#if Valkey
    package import VellumRemote

    /// Finds the primary of a group of servers: by the Sentinels that watch them
    /// (redis.io/docs/latest/develop/reference/sentinel-clients), or by asking each server
    /// (decision 68).
    package enum Discovery {
        private typealias Answer = (primary: ServerConfiguration, epoch: Int64)

        /// Returns the server to connect to, within the timeout of a connection.
        ///
        /// All Sentinels are asked, and the servers that they name, because a Sentinel may not know
        /// of a failover. The answer with the highest epoch counts, which is the number of
        /// failovers that a Sentinel knows of; of several, the one on which most agree.
        static func primary(
            of server: ServerConfiguration
        ) async throws(RemoteFailure) -> ServerConfiguration {
            let asked = server.sentinels.isEmpty ? server.places : server.sentinels
            if asked.isEmpty { return server }
            let (found, failures) = await answers(of: asked, within: server.connectTimeout) {
                await answer(of: $0, for: server)
            }
            let votes = found.map { one in
                (one.epoch, found.count { "\($0.primary)" == "\(one.primary)" })
            }
            if let best = zip(found, votes).max(
                by: { $0.1 < $1.1 }
            ) {
                return best.0.primary
            }
            throw failure(of: failures)
        }

        /// Asks all at the same time, and returns the answers and the failures that came in time.
        /// One that does not answer delays little when another has.
        static func answers<Asked: Sendable, Answer: Sendable>(
            of asked: [Asked],
            within milliseconds: Int64,
            _ ask: @escaping @Sendable (Asked) async -> Result<Answer, RemoteFailure>
        ) async -> (found: [Answer], failures: [RemoteFailure]) {
            let (answers, continuation) = AsyncStream.makeStream(
                of: Result<Answer, RemoteFailure>.self
            )
            for one in asked { Task { continuation.yield(await ask(one)) } }
            func end(after milliseconds: Int64) {
                Task {
                    try await Task.sleep(for: .milliseconds(min(milliseconds, 86_400_000)))
                    continuation.finish()
                }
            }
            end(after: milliseconds)
            var found = [Answer]()
            var failures = [RemoteFailure]()
            for await answer in answers {
                switch answer {
                case .success(let answer):
                    if found.isEmpty { end(after: milliseconds / 20) }
                    found.append(answer)
                case .failure(let failure): failures.append(failure)
                }
                if found.count + failures.count == asked.count { continuation.finish() }
            }
            return (found, failures)
        }

        /// Trying again helps if it may help with one of them.
        static func failure(of failures: [RemoteFailure]) -> RemoteFailure {
            let failure = failures.first { if case .refused = $0 { false } else { true } }
            return failure ?? failures.first
                ?? .unreachable("No server and no Sentinel answered in time.")
        }

        /// Ends a connection when the Sentinels name another server, which says that it is the
        /// primary: they tell the old one seconds later, and until then it acknowledges writes that
        /// are lost. One of them is asked each second.
        static func watch(
            _ connection: Connection,
            to present: ServerConfiguration,
            of server: ServerConfiguration
        ) async {
            var turn = 0
            while !server.sentinels.isEmpty {
                do {
                    try await Task.sleep(for: .seconds(1))
                    turn = (turn + 1) % server.sentinels.count
                    guard
                        try await "\(named(by: server.sentinels[turn], for: server).primary)"
                            != "\(present)",
                        try await "\(primary(of: server))" != "\(present)"
                    else { continue }
                    return connection.close(.unreachable("\(present) is not the primary any more."))
                } catch {
                    if Task.isCancelled { return }  // The connection was lost.
                }
            }
        }

        private static func answer(
            of one: ServerConfiguration,
            for server: ServerConfiguration
        ) async -> Result<Answer, RemoteFailure> {
            do throws(RemoteFailure) {
                let answer: Answer =
                    server.sentinels.isEmpty ? (one, 0) : try await named(by: one, for: server)
                try Handshake.check(
                    try await ask(answer.primary, [])[0],
                    of: answer.primary
                )
                return .success(answer)
            } catch {
                return .failure(error.beforeSending)
            }
        }

        private static func named(
            by sentinel: ServerConfiguration,
            for server: ServerConfiguration
        ) async throws(RemoteFailure) -> Answer {
            let replies = try await ask(
                sentinel,
                ["GET-MASTER-ADDR-BY-NAME", "MASTER"].map {
                    RESPCommand("SENTINEL", $0, server.primaryName)
                }
            )
            for case .error in replies.dropLast() {
                throw .refused(
                    "The Sentinel \(sentinel) rejected the user, the password or the command."
                )
            }
            let address = replies[1].elements?.compactMap(\.text) ?? []
            let facts = replies[2]
            guard address.count == 2, let port = Int(address[1]) else {
                throw .unreachable(
                    "The Sentinel \(sentinel) knows no primary of the configured name."
                )
            }
            // During a failover, the other facts are still those of the old primary.
            let isOld =
                (
                    facts.text(named: "ip"),
                    facts.text(named: "port")
                ) != (address[0], address[1])
            let flags =
                isOld
                ? []
                : facts.text(named: "flags")?.split(separator: ",") ?? []
            if flags.contains(where: { ["s_down", "o_down", "disconnected"].contains($0) }) {
                throw .unreachable("The Sentinel \(sentinel) does not reach the primary.")
            }
            let primary = server.at((address[0], port))
            return (primary, facts.text(named: "config-epoch").flatMap { Int64($0) } ?? 0)
        }

        /// Logs in and sends commands, by a connection that is closed afterwards. The first reply
        /// is that to HELLO.
        package static func ask(
            _ server: ServerConfiguration,
            _ commands: [RESPCommand]
        ) async throws(RemoteFailure) -> [RESPValue] {
            let connection = Connection(
                onPush: { _ in },
                onReply: { _ in },
                onEnd: { _, _ in }
            )
            defer { connection.close(.closed) }
            try await connection.connect(to: server)
            return try await connection.handshake(
                [Handshake.hello(server)] + commands,
                within: server.connectTimeout
            ).replies
        }
    }
#endif
