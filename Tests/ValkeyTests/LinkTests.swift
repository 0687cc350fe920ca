#if Valkey
    import FleetSupport
    import Foundation
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    /// The link to a real server.
    @Suite(.ownThreads)
    struct LinkTests {
        /// What a link told its observer.
        final class Record: Sendable {
            private struct State {
                var invalidated: [String] = []
                var connections = 0
                var losses = 0
                var isConnected = false
                var earlyReplies = 0
                var waiters: [(connections: Int, continuation: CheckedContinuation<Void, Never>)] =
                    []
            }

            private let state = Locked(State())

            var invalidated: [String] { state.withLock { $0.invalidated } }
            var losses: Int { state.withLock { $0.losses } }
            /// Replies that renewed the trust in what an earlier connection read.
            var earlyReplies: Int { state.withLock { $0.earlyReplies } }

            /// - Parameter server: Lives as long as the link.
            func observer(of server: RedisServer) -> Link.Observer {
                Link.Observer(
                    onConnected: { [self] _ in
                        let ready = state.withLock { state in
                            state.connections += 1
                            state.isConnected = true
                            let connections = state.connections
                            defer { state.waiters.removeAll { $0.connections <= connections } }
                            return state.waiters.filter { $0.connections <= connections }.map(
                                \.continuation
                            )
                        }
                        for continuation in ready { continuation.resume() }
                    },
                    onLost: { [self] in
                        state.withLock { ($0.losses, $0.isConnected) = ($0.losses + 1, false) }
                    },
                    onInvalidated: { [self] keys in
                        state.withLock {
                            $0.invalidated +=
                                keys?.map { String(decoding: $0, as: UTF8.self) } ?? ["everything"]
                        }
                    },
                    onReply: { [self] _ in
                        withExtendedLifetime(server) {
                            state.withLock { $0.earlyReplies += $0.isConnected ? 0 : 1 }
                        }
                    }
                )
            }

            /// Returns when the link has connected so many times.
            func waitForConnections(_ count: Int) async {
                await withCheckedContinuation { continuation in
                    let isReached = state.withLock { state in
                        if state.connections >= count { return true }
                        state.waiters.append((count, continuation))
                        return false
                    }
                    if isReached { continuation.resume() }
                }
            }
        }

        /// Longer than any test: where a deadline is not the subject.
        private static let long: Int64 = 600_000

        private func link(
            to server: RedisServer,
            _ record: Record = Record(),
            _ change: (inout ServerConfiguration) -> Void = { _ in }
        ) -> Link {
            var configuration = server.configuration
            (configuration.connectTimeout, configuration.longestSilence) = (Self.long, Self.long)
            change(&configuration)
            return Link(to: configuration, observer: record.observer(of: server))
        }

        private func failure(
            _ body: () async throws(RemoteFailure) -> RESPValue
        ) async -> RemoteFailure? {
            do throws(RemoteFailure) {
                _ = try await body()
                return nil
            } catch {
                return error
            }
        }

        /// Returns when a command of another connection waits for an element of a list.
        private func waitForBlockedClient(_ link: Link) async throws {
            try await until("the server has a command that waits") {
                let reply = try await link.call(RESPCommand("INFO", "clients"), within: Self.long)
                return reply.text?.contains("blocked_clients:1") == true
            }
        }

        private enum Kind { case unreachable, unanswered, refused, other }

        private func kind(of failure: RemoteFailure?) -> Kind? {
            switch failure {
            case nil: nil
            case .unreachable: .unreachable
            case .unanswered: .unanswered
            case .refused: .refused
            default: .other
            }
        }

        @Test func aCallReturnsTheServersReply() async throws {
            let link = link(to: try RedisServer())
            let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
            #expect(
                try await link.call(RESPCommand("SET", "k", bytes), within: Self.long)
                    == .simple("OK")
            )
            #expect(
                try await link.call(RESPCommand("GET", "k"), within: Self.long) == .bytes(bytes)
            )
            #expect(try await link.call(RESPCommand("GET", "other"), within: Self.long) == .null)
            guard
                case .error(let message) = try await link.call(
                    RESPCommand("INCR", "k"),
                    within: Self.long
                )
            else {
                Issue.record("A number was made of bytes.")
                return
            }
            #expect(message.hasPrefix("ERR"))
        }

        @Test func repliesToAHandshakeRenewNoTrust() async throws {
            let record = Record()
            let link = link(to: try RedisServer(), record)
            _ = try await link.call(RESPCommand("ECHO", "1"), within: Self.long)
            #expect(record.earlyReplies == 0)
        }

        @Test func callersGetTheirOwnReplies() async throws {
            let link = link(to: try RedisServer())
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        let reply = try await link.call(
                            RESPCommand("ECHO", "\(number)"),
                            within: Self.long
                        )
                        return reply.text == "\(number)"
                    }
                }
                for try await isOwn in group { #expect(isOwn) }
            }
        }

        /// One thread of the server answers: what it tells of a change comes before the reply to a
        /// later command.
        @Test func aChangeByAnotherArrivesBeforeLaterReplies() async throws {
            let (server, record) = (try RedisServer(), Record())
            let (link, other) = (link(to: server, record), link(to: server))
            for round in 0..<50 {
                _ = try await link.call(RESPCommand("GET", "k"), within: Self.long)
                _ = try await other.call(RESPCommand("SET", "k", "\(round)"), within: Self.long)
                _ = try await link.call(RESPCommand("PING"), within: Self.long)
                #expect(record.invalidated.count == round + 1)
            }
            _ = try await other.call(RESPCommand("FLUSHALL"), within: Self.long)
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            #expect(record.invalidated.last == "everything")
        }

        @Test func aCallEndsAtItsDeadline() async throws {
            let server = try RedisServer()
            let link = link(to: server)
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            server.stop()
            let error = await failure { () async throws(RemoteFailure) in
                try await link.call(RESPCommand("PING"), within: 20)
            }
            #expect(kind(of: error) == .unanswered)
            server.resume()
        }

        /// Its reply arrives later, and is not given to another.
        @Test func aCallerThatLeavesDoesNotShiftReplies() async throws {
            let server = try RedisServer()
            let (link, other) = (link(to: server), link(to: server))
            let call = Task {
                await failure { () async throws(RemoteFailure) in
                    try await link.call(RESPCommand("BLPOP", "list", "0"), within: Self.long)
                }
            }
            try await waitForBlockedClient(other)
            call.cancel()
            #expect(await call.value == .cancelled)
            async let reply = link.call(RESPCommand("ECHO", "b"), within: Self.long)
            _ = try await other.call(RESPCommand("RPUSH", "list", "a"), within: Self.long)
            #expect(try await reply.text == "b")
        }

        @Test func aLinkConnectsAgain() async throws {
            let (server, record) = (try RedisServer(), Record())
            let link = link(to: server, record)
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            await record.waitForConnections(1)
            server.kill()
            await until("a call fails") {
                await failure { () async throws(RemoteFailure) in
                    try await link.call(RESPCommand("PING"), within: Self.long)
                } != nil
            }
            let next = try RedisServer(port: server.port)
            await record.waitForConnections(2)
            #expect(try await link.call(RESPCommand("PING"), within: Self.long) == .simple("PONG"))
            #expect(record.losses >= 1)
            withExtendedLifetime(next) {}
        }

        /// How long a connection took to make does not count as a silence of the server.
        @Test func callsWaitForASlowHandshake() async throws {
            let (server, record) = (try RedisServer(), Record())
            let time = Locked<Int64>(0)
            var configuration = server.configuration
            configuration.connectTimeout = Self.long
            let link = Link(
                to: configuration,
                clock: CoarseClock { time.withLock { $0 } },
                observer: record.observer(of: server)
            )
            server.stop()
            async let reply = link.call(RESPCommand("PING"), within: Self.long)
            // What it sends afterwards waits for a shorter time: this can only miss a defect.
            await until("there is a connection, which is not ready") { link.isConnected }
            time.withLock { $0 = 5000 }
            server.resume()
            #expect(try await reply == .simple("PONG"))
        }

        /// A server is lost after two seconds of silence, but not while a call may still wait for
        /// its reply.
        @Test(arguments: [(Duration.milliseconds(250), 1), (.seconds(10), 1), (.seconds(600), 0)])
        func aSilenceThatACallMayTakeLosesNoConnection(
            _ readTimeout: Duration,
            _ losses: Int
        ) async throws {
            let (server, record) = (try RedisServer(), Record())
            var settings = ValkeyConfiguration(host: "127.0.0.1", port: server.port)
            (settings.connectTimeout, settings.readTimeout) = (.seconds(600), readTimeout)
            // Once the server is silent, each look at the clock, that at deadlines among them, is a
            // fifth of a second after the one before.
            let time = Locked<Int64>(0)
            let isSilent = Locked(false)
            let clock = CoarseClock {
                let step: Int64 = isSilent.withLock { $0 } ? 200 : 0
                return time.withLock {
                    $0 += step
                    return $0
                }
            }
            let link = Link(to: settings.link, clock: clock, observer: record.observer(of: server))
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            server.stop()
            isSilent.withLock { $0 = true }
            let error = await failure { () async throws(RemoteFailure) in
                try await link.call(RESPCommand("PING"), within: 12_000)
            }
            #expect(kind(of: error) == .unanswered)
            #expect(record.losses == losses)
            server.resume()
        }

        @Test func nothingWaitsWithoutAConnection() async throws {
            let server = try RedisServer()
            server.kill()
            let link = link(to: server)
            // The first calls wait for the first attempt, and all others fail at once.
            for _ in 0..<100 {
                let error = await failure { () async throws(RemoteFailure) in
                    try await link.call(RESPCommand("PING"), within: Self.long)
                }
                #expect(kind(of: error) == .unreachable)
            }
        }

        @Test func moreCallsThanALinkHoldsAreRefused() async throws {
            let server = try RedisServer()
            let link = link(to: server)
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            server.stop()
            let failures = await withTaskGroup(of: RemoteFailure?.self) { group in
                for _ in 0..<6000 {
                    group.addTask {
                        await failure { () async throws(RemoteFailure) in
                            try await link.call(RESPCommand("PING"), within: 1000)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.count { $0 == .overloaded } > 0)
            #expect(!failures.contains(nil))
            server.resume()
        }

        @Test func aWrongPasswordIsNotRepeatedInTheError() async throws {
            let server = try RedisServer(["--requirepass", "right"])
            let wrong = link(to: server) { $0.password = "wrong-secret" }
            let error = await failure { () async throws(RemoteFailure) in
                try await wrong.call(RESPCommand("PING"), within: Self.long)
            }
            guard case .refused(let message) = error else {
                return #expect(kind(of: error) == .refused)
            }
            #expect(!message.contains("secret"))
            #expect(!"\(ServerConfiguration(host: "h", password: "secret"))".contains("secret"))
            #expect(
                !String(reflecting: ServerConfiguration(host: "h", password: "secret")).contains(
                    "secret"
                )
            )
            let right = link(to: server) { ($0.password, $0.database) = ("right", 3) }
            #expect(try await right.call(RESPCommand("PING"), within: Self.long) == .simple("PONG"))
        }

        /// A server that does not know the command repeats its arguments.
        @Test func aServerWithoutRESP3DoesNotMakeThePasswordPublic() async throws {
            let link = link(to: try RedisServer(["--rename-command", "HELLO", ""])) {
                $0.password = "some-secret"
            }
            let error = await failure { () async throws(RemoteFailure) in
                try await link.call(RESPCommand("PING"), within: Self.long)
            }
            guard case .refused(let message) = error else {
                return #expect(kind(of: error) == .refused)
            }
            #expect(!message.contains("secret"))
            #expect(message.contains("6.2"))
        }

        /// Who has sent a command does not know whether it was executed. Who could not send it
        /// knows that it was not.
        @Test func aLostConnectionTellsWhatWasSentFromWhatWasNot() async throws {
            let server = try RedisServer()
            let (link, other) = (link(to: server), link(to: server))
            let waiting = Task {
                await failure { () async throws(RemoteFailure) in
                    try await link.call(RESPCommand("BLPOP", "list", "0"), within: Self.long)
                }
            }
            try await waitForBlockedClient(other)
            server.kill()
            #expect(await kind(of: waiting.value) == .unanswered)
            let later = await failure { () async throws(RemoteFailure) in
                try await link.call(RESPCommand("INCR", "k"), within: Self.long)
            }
            #expect(kind(of: later) == .unreachable)
        }

        @Test func aNodeOfAClusterIsRefused() async throws {
            let link = link(to: try RedisServer(["--cluster-enabled", "yes"]))
            let error = await failure { () async throws(RemoteFailure) in
                try await link.call(RESPCommand("PING"), within: Self.long)
            }
            guard case .refused(let message) = error else {
                return #expect(kind(of: error) == .refused)
            }
            #expect(message.contains("cluster"))
        }

        @Test func closingEndsEveryCall() async throws {
            let server = try RedisServer()
            let link = link(to: server)
            _ = try await link.call(RESPCommand("PING"), within: Self.long)
            server.stop()
            let calls = (0..<10).map { _ in
                Task {
                    await failure { () async throws(RemoteFailure) in
                        try await link.call(RESPCommand("PING"), within: Self.long)
                    }
                }
            }
            link.close()
            for call in calls { #expect(await call.value == .closed) }
            #expect(
                await failure { () async throws(RemoteFailure) in
                    try await link.call(RESPCommand("PING"), within: Self.long)
                } == .closed
            )
        }
    }
#endif
