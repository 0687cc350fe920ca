#if Valkey
    package import Foundation
    package import VellumCore
    package import VellumRemote

    /// Keeps one connection to a server, and connects again when it is lost (decision 56).
    ///
    /// While there is no connection, calls fail immediately; only the first calls wait for it,
    /// until their deadlines.
    package final class Link: Sendable {
        /// Receives the events of a connection.
        package struct Observer: Sendable {
            /// A connection is ready, and nothing was read by it.
            package var onConnected: @Sendable (ServerTime) -> Void
            /// The connection was lost, or could not be made.
            package var onLost: @Sendable () -> Void
            /// Somebody changed the keys; `nil` if any key may have changed.
            package var onInvalidated: @Sendable ([Data]?) -> Void
            /// The server answered a command that was sent at this moment.
            package var onReply: @Sendable (_ sent: Int64) -> Void

            package init(
                onConnected: @escaping @Sendable (ServerTime) -> Void,
                onLost: @escaping @Sendable () -> Void,
                onInvalidated: @escaping @Sendable ([Data]?) -> Void,
                onReply: @escaping @Sendable (_ sent: Int64) -> Void
            ) {
                self.onConnected = onConnected
                self.onLost = onLost
                self.onInvalidated = onInvalidated
                self.onReply = onReply
            }
        }

        private enum Phase {
            /// Nobody has called yet.
            case idle
            /// Calls go to this connection. While it is the first one, also before it is ready.
            case connected(Connection)
            case lost(RemoteFailure)
            case closed(RemoteFailure)
        }

        let server: ServerConfiguration
        private let observer: Observer
        private let clock: CoarseClock
        private let phase = Locked(Phase.idle)
        private let runner = Locked<Task<Void, Never>?>(nil)

        package init(
            to server: ServerConfiguration,
            clock: CoarseClock = .system,
            observer: Observer
        ) {
            self.server = server
            self.clock = clock
            self.observer = observer
        }

        deinit { close() }

        /// Sends a command and returns its reply.
        ///
        /// - Parameter atReply: Called on the thread of the connection when the reply has arrived,
        ///   before anything that follows it.
        package func call(
            _ command: RESPCommand,
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            try await connection().call(command, within: milliseconds, atReply: atReply)
        }

        /// Sends commands in a row, with none of others between them, and returns their replies.
        /// Fails as a whole.
        func call(
            all commands: [RESPCommand],
            within milliseconds: Int64
        ) async throws(RemoteFailure) -> [RESPValue] {
            try await connection().call(all: commands, within: milliseconds)
        }

        /// Asks for the server's time, and, in the same write, whether it is still the primary: if
        /// it is not, the connection ends before any caller gets another reply.
        func beat(within milliseconds: Int64) async throws(RemoteFailure) -> ServerTime? {
            let connection = try connection()
            connection.send(Handshake.hello(nil), within: milliseconds) {
                [weak connection, server] reply in
                do throws(RemoteFailure) {
                    try Handshake.check(reply.get(), of: server)
                } catch {
                    // A busy server, or none in time: the connection decides that.
                    if case .success(.map) = reply { connection?.close(error) }
                }
            }
            if server.isInCluster {
                connection.send(Handshake.clusterInfo, within: milliseconds) {
                    [weak connection, server] reply in
                    // A busy server, or none in time: the connection decides that.
                    guard case .success(let info) = reply, info.text != nil else { return }
                    do throws(RemoteFailure) {
                        try Handshake.checkCluster(info, of: server)
                    } catch {
                        connection?.close(error)
                    }
                }
            }
            return try await connection.time(within: milliseconds)
        }

        /// Ends the connection for good.
        ///
        /// - Parameter failure: What callers get, those that wait and later ones.
        package func close(_ failure: RemoteFailure = .closed) {
            let before = phase.withLock { exchange(&$0, with: .closed(failure)) }
            runner.withLock { $0 }?.cancel()
            if case .connected(let connection) = before { connection.close(failure) }
        }

        /// Whether calls go to a connection, which may not be ready if it is the first one.
        var isConnected: Bool {
            if case .connected = phase.withLock({ $0 }) { true } else { false }
        }

        /// Ends the present connection, and makes another one.
        func endConnection(_ failure: RemoteFailure) {
            if case .connected(let connection) = phase.withLock({ $0 }) {
                connection.close(failure)
            }
        }

        private func connection() throws(RemoteFailure) -> Connection {
            let (result, isNew) = phase.withLock {
                phase -> (Result<Connection, RemoteFailure>, Bool) in
                switch phase {
                case .idle:
                    let connection = makeConnection()
                    phase = .connected(connection)
                    return (.success(connection), true)
                case .connected(let connection): return (.success(connection), false)
                case .lost(let failure): return (.failure(failure), false)
                case .closed(let failure): return (.failure(failure), false)
                }
            }
            let connection = try result.get()
            if isNew { start(connection) }
            return connection
        }

        // MARK: Connecting

        private func makeConnection() -> Connection {
            var limits = Connection.Limits()
            limits.longestSilence = server.longestSilence
            return Connection(
                limits: limits,
                clock: clock,
                onPush: { [observer] in observer.onInvalidated(Self.invalidatedKeys($0)) },
                onReply: observer.onReply,
                onEnd: { [weak self, observer] connection, failure in
                    observer.onLost()
                    self?.lost(connection, failure)
                }
            )
        }

        /// The keys that a push names. A push of another kind may mean that some were missed.
        private static func invalidatedKeys(_ push: [RESPValue]) -> [Data]? {
            guard push.count == 2, push[0].text == "invalidate", let elements = push[1].elements
            else { return nil }
            let keys = elements.compactMap(\.data)
            return keys.count == elements.count ? keys : nil
        }

        private func lost(_ connection: Connection, _ failure: RemoteFailure) {
            phase.withLock { phase in
                if case .connected(let present) = phase, present === connection {
                    phase = .lost(failure.beforeSending)
                }
            }
        }

        /// Connects, and again whenever the connection is lost.
        private func start(_ first: Connection) {
            // Unstructured: the caller that happens to be the first one does not own the
            // connection.
            let task = Task { [weak self, server] in
                await Self.keepConnected(first, to: server) { self }
            }
            runner.withLock { $0 = task }
            if case .closed = phase.withLock({ $0 }) { task.cancel() }
        }

        /// - Parameter link: The link, until nobody has it any more.
        private static func keepConnected(
            _ first: Connection,
            to server: ServerConfiguration,
            link: () -> Link?
        ) async {
            // A new primary is found within five seconds: this pause, and an attempt that began
            // before there was one.
            var connection = first
            var backoff = Backoff(longest: 2000)
            var generator = SystemRandomNumberGenerator()
            while true {
                var watch: Task<Void, Never>?
                do throws(RemoteFailure) {
                    let primary = try await Discovery.primary(of: server)
                    let time = try await Handshake.perform(connection, with: primary)
                    guard let link = link(), link.begin(connection, time) else {
                        return connection.close(.closed)
                    }
                    backoff.reset()
                    watch = Task { [connection] in
                        await Discovery.watch(connection, to: primary, of: server)
                    }
                } catch {
                    connection.close(error)
                }
                await connection.waitUntilEnded()
                watch?.cancel()
                do {
                    try await Task.sleep(for: .milliseconds(backoff.next(using: &generator)))
                } catch {
                    return  // The link was closed.
                }
                guard let next = link()?.makeConnection() else { return }
                connection = next
            }
        }

        /// Gives callers the connection. Returns whether the link is still open.
        private func begin(_ connection: Connection, _ time: ServerTime) -> Bool {
            let isOpen = phase.withLock { phase in
                if case .closed = phase { return false }
                phase = .connected(connection)
                return true
            }
            guard isOpen else { return false }
            // Whoever calls because of it finds the connection. Commands wait until it is ready.
            observer.onConnected(time)
            connection.becomeReady()
            return true
        }
    }
#endif
