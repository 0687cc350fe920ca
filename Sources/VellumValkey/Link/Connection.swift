#if Valkey
    internal import Foundation
    internal import NIOCore
    internal import NIOPosix
    internal import Synchronization
    internal import VellumCore
    internal import VellumRemote

    /// A connection to a server, which many callers share. Commands that are sent at the same
    /// moment go out in one write.
    ///
    /// Replies are given to their callers in the order of the commands. Values that the server
    /// pushes are handled in the order in which they arrive, before the callers of later replies go
    /// on.
    final class Connection: Sendable {
        /// Limits of pending commands.
        struct Limits: Sendable {
            var commands = 4096
            /// The bytes that were not sent yet.
            var bytes = 16 << 20
            /// The bytes of one command.
            var commandBytes = 9 << 20
            /// How long, in milliseconds, a server may stay silent before it counts as lost.
            var longestSilence: Int64 = 2000
        }

        /// Called with the reply or the failure, on the thread of the connection or of the caller.
        typealias Caller = @Sendable (Result<RESPValue, RemoteFailure>) -> Void

        private struct State {
            var queue = CommandQueue<Caller>()
            /// The commands that were not sent yet.
            var outgoing = ByteBuffer()
            /// The bytes that are on their way to the system.
            var inFlight = 0
            var isFlushScheduled = false
            var isTimerScheduled = false
            var channel: (any Channel)?
            /// Since when commands of callers may be sent; `nil` during the handshake.
            var readySince: Int64?
            var isReady: Bool { readySince != nil }
            /// The commands of the handshake.
            var handshake = CommandQueue<Caller>()
            /// Whether it ends: no reply counts any more. Callers are told afterwards, by ``end``.
            var isEnding = false
            var end: RemoteFailure?
            /// Where the connection leads, for errors.
            var server = "The server"
            var isInCluster = false
            var silence = SilenceWatch()

            /// Returns the work that a new command requires.
            mutating func todo() -> Todo {
                defer {
                    isFlushScheduled = isFlushScheduled || isReady
                    isTimerScheduled = true
                }
                return Todo(flushes: isReady && !isFlushScheduled, watches: !isTimerScheduled)
            }
        }

        private let state = Locked(State())
        private let eventLoop: any EventLoop
        private let limits: Limits
        let clock: CoarseClock
        private let onPush: @Sendable ([RESPValue]) -> Void
        private let onReply: @Sendable (_ sent: Int64) -> Void
        private let onEnd: @Sendable (Connection, RemoteFailure) -> Void
        private let ended: EventLoopPromise<Void>

        /// - Parameters:
        ///   - onPush: Is called with each push, in order, on the thread of the connection.
        ///   - onReply: Is called before the caller of a reply, with the moment at which its
        ///     command was sent. Not for the handshake: what was read by an earlier connection is
        ///     still there then.
        ///   - onEnd: Is called once, with the connection, when it ends, before its callers go on.
        init(
            limits: Limits = Limits(),
            clock: CoarseClock = .system,
            onPush: @escaping @Sendable ([RESPValue]) -> Void,
            onReply: @escaping @Sendable (_ sent: Int64) -> Void,
            onEnd: @escaping @Sendable (Connection, RemoteFailure) -> Void
        ) {
            // A socket that has the descriptor of a closed stream would be sent what a program
            // logs.
            StandardStreams.hold()
            eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            ended = eventLoop.makePromise()
            self.limits = limits
            self.clock = clock
            self.onPush = onPush
            self.onReply = onReply
            self.onEnd = onEnd
        }

        // MARK: Opening

        /// Connects. Commands wait until the connection is ready.
        func connect(to server: ServerConfiguration) async throws(RemoteFailure) {
            state.withLock {
                $0.server = "\(server)"
                $0.isInCluster = server.isInCluster
            }
            do throws(RemoteFailure) {
                guard 1...65535 ~= server.port else {
                    throw .refused(
                        "\(server) is not a valid address: the port must be between 1 and 65535."
                    )
                }
                try server.tls?.prepare()
            } catch {
                close(error)
                throw error
            }
            let bootstrap = ClientBootstrap(group: eventLoop)
                .connectTimeout(.milliseconds(min(server.connectTimeout, 86_400_000)))
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try server.tls?.encrypt(channel, to: server.host)
                        try channel.pipeline.syncOperations.addHandler(Receiver(self))
                    }
                }
            do {
                let channel = try await bootstrap.connect(host: server.host, port: server.port)
                    .get()
                let isOpen = state.withLock { state in
                    guard state.end == nil else { return false }
                    state.channel = channel
                    return true
                }
                if !isOpen { channel.close(promise: nil) }
            } catch {
                let failure = RemoteFailure.unreachable(
                    "\(server) cannot be reached\(Self.reason(error))."
                )
                close(failure)
                throw failure
            }
            if let end = state.withLock({ $0.end }) { throw end }
        }

        /// Allows the commands of callers, and sends those that wait.
        func becomeReady() {
            let now = clock.now()
            state.withLock { $0.readySince = now }
            eventLoop.execute { self.flush() }
        }

        // MARK: Sending

        /// Sends a command and returns its reply. Does not hold a thread while it waits.
        ///
        /// - Parameters:
        ///   - milliseconds: How long to wait at most.
        ///   - atReply: Called on the thread of the connection when the reply has arrived, before
        ///     anything that follows it.
        func call(
            _ command: RESPCommand,
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            let number = Locked<UInt64?>(nil)
            let result = await withTaskCancellationHandler {
                // Unchecked, which saves an allocation: who is in the queue is called once.
                await withUnsafeContinuation {
                    (continuation: UnsafeContinuation<Result<RESPValue, RemoteFailure>, Never>) in
                    let sent = send(command, within: milliseconds) { reply in
                        if case .success = reply { atReply?() }
                        continuation.resume(returning: reply)
                    }
                    number.withLock { $0 = sent }
                    if Task.isCancelled, let sent { abandon(sent) }
                }
            } onCancel: {
                if let sent = number.withLock({ $0 }) { abandon(sent) }
            }
            return try result.get()
        }

        /// Sends a command.
        ///
        /// - Parameter caller: Is called once.
        /// - Returns: The command's number; `nil` if it was not sent.
        @discardableResult
        func send(
            _ command: RESPCommand,
            within milliseconds: Int64,
            _ caller: @escaping Caller
        ) -> UInt64? {
            send(CollectionOfOne(command), within: milliseconds, caller)
        }

        /// Sends commands in a row, with none of others between them.
        ///
        /// - Parameter caller: Is called once for each that was sent, in their order, or once.
        /// - Returns: The number of the last command; `nil` if none was sent.
        private func send(
            _ commands: some Collection<RESPCommand>,
            within milliseconds: Int64,
            _ caller: @escaping Caller
        ) -> UInt64? {
            let now = clock.now()
            let count = commands.reduce(0) { $0 + $1.bytes.count }
            let (sent, todo) = state.withLock { state -> (Result<UInt64, RemoteFailure>, Todo) in
                if let end = state.end { return (.failure(end.beforeSending), Todo()) }
                guard commands.allSatisfy({ $0.bytes.count <= limits.commandBytes }) else {
                    return (.failure(.tooLarge), Todo())
                }
                guard state.queue.count + commands.count <= limits.commands,
                    state.outgoing.readableBytes + state.inFlight + count <= limits.bytes
                else { return (.failure(.overloaded), Todo()) }
                var number: UInt64 = 0
                for command in commands {
                    state.outgoing.writeBytes(command.bytes)
                    number = state.queue.append(caller, sent: now, deadline: now + milliseconds)
                }
                return (.success(number), state.todo())
            }
            perform(todo)
            switch sent {
            case .success(let number): return number
            case .failure(let failure):
                caller(.failure(failure))
                return nil
            }
        }

        /// Sends commands in a row and returns their replies. Fails as a whole.
        func call(
            all commands: [RESPCommand],
            within milliseconds: Int64
        ) async throws(RemoteFailure) -> [RESPValue] {
            let number = Locked<UInt64?>(nil)
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation {
                    (
                        continuation: CheckedContinuation<Result<[RESPValue], RemoteFailure>, Never>
                    )
                    in
                    let replies = Replies(of: commands.count) { continuation.resume(returning: $0) }
                    let sent = send(commands, within: milliseconds) { replies.add($0) }
                    number.withLock { $0 = sent }
                    if Task.isCancelled, let sent { abandon(sent) }
                }
            } onCancel: {
                if let sent = number.withLock({ $0 }) { abandon(sent) }
            }
            return try result.get()
        }

        /// Asks for the server's time. A reply has arrived when the connection reads it: the task
        /// that waits may go on much later.
        func time(within milliseconds: Int64) async throws(RemoteFailure) -> ServerTime? {
            let sent = clock.now()
            let (reply, received) = await withCheckedContinuation { continuation in
                send(RESPCommand("TIME"), within: milliseconds) { [clock] in
                    continuation.resume(returning: ($0, clock.now()))
                }
            }
            return ServerTime(try reply.get(), sent: sent, received: received)
        }

        /// Sends the first commands of a connection, before those of callers, and returns their
        /// replies, and when the last one arrived.
        func handshake(
            _ commands: [RESPCommand],
            within milliseconds: Int64
        ) async throws(RemoteFailure) -> (replies: [RESPValue], received: Int64) {
            let (result, received) = await withCheckedContinuation {
                (continuation: CheckedContinuation<HandshakeResult, Never>) in
                let now = clock.now()
                let replies = Replies(of: commands.count) { [clock] in
                    continuation.resume(returning: ($0, clock.now()))
                }
                let caller: Caller = { replies.add($0) }
                let (channel, end, todo) = state.withLock { state in
                    guard state.end == nil, let channel = state.channel else {
                        return (nil as (any Channel)?, state.end, Todo())
                    }
                    for _ in commands {
                        _ = state.handshake.append(caller, sent: now, deadline: now + milliseconds)
                    }
                    return (channel, nil, state.todo())
                }
                guard let channel else {
                    return caller(.failure(end ?? .unreachable("There is no connection.")))
                }
                channel.writeAndFlush(ByteBuffer(bytes: commands.flatMap(\.bytes)), promise: nil)
                perform(todo)
            }
            return (try result.get(), received)
        }

        private typealias HandshakeResult = (Result<[RESPValue], RemoteFailure>, received: Int64)

        /// Makes the caller of a command go on without its reply.
        private func abandon(_ number: UInt64) {
            let caller = state.withLock { $0.queue.takeCaller(of: number) }
            caller?(.failure(.cancelled))
        }

        // MARK: On the thread of the connection

        /// The work to schedule for a command, outside the lock.
        private struct Todo {
            var flushes = false
            var watches = false
        }

        private func perform(_ todo: Todo) {
            if todo.flushes { eventLoop.execute { self.flush() } }
            if todo.watches { watchDeadlines() }
        }

        private func flush() {
            let (channel, buffer) = state.withLock { state -> ((any Channel)?, ByteBuffer) in
                state.isFlushScheduled = false
                guard state.isReady, let channel = state.channel else { return (nil, ByteBuffer()) }
                let buffer = state.outgoing
                state.outgoing = ByteBuffer()
                state.inFlight += buffer.readableBytes
                return (channel, buffer)
            }
            guard let channel, buffer.readableBytes > 0 else { return }
            let count = buffer.readableBytes
            let written = eventLoop.makePromise(of: Void.self)
            written.futureResult.whenComplete { _ in self.state.withLock { $0.inFlight -= count } }
            channel.writeAndFlush(buffer, promise: written)
        }

        /// How often deadlines are looked at, in milliseconds.
        private static let deadlineInterval: Int64 = 10

        private func watchDeadlines() {
            eventLoop.scheduleTask(in: .milliseconds(Self.deadlineInterval)) {
                self.checkDeadlines()
            }
        }

        private func checkDeadlines() {
            let now = clock.now()
            let (late, wereSent, isStuck, continues, server) = state.withLock { state in
                let late = state.handshake.takeExpired(at: now) + state.queue.takeExpired(at: now)
                let isStuck = state.silence.isStuck(
                    state.queue.oldest,
                    since: state.readySince,
                    longest: limits.longestSilence,
                    at: now
                )
                let continues = state.end == nil && state.queue.count + state.handshake.count > 0
                state.isTimerScheduled = continues
                return (late, state.isReady, isStuck, continues, state.server)
            }
            if !late.isEmpty {
                let failure = RemoteFailure.unanswered("\(server) did not answer in time.")
                for caller in late { caller(.failure(wereSent ? failure : failure.beforeSending)) }
            }
            if isStuck { close(.unanswered("\(server) does not answer.")) }
            if continues { watchDeadlines() }
        }

        fileprivate func received(_ value: RESPValue) {
            if case .push(let elements) = value { return onPush(elements) }
            let (isEnding, first, isReady) = state.withLock { state in
                if state.isEnding { return (true, nil as (Caller?, Int64)?, false) }
                let first = state.isReady ? state.queue.popFirst() : state.handshake.popFirst()
                // In the lock, so that nothing is trusted after the end.
                if state.isReady, let first { onReply(first.sent) }
                return (false, first, state.isReady)
            }
            if isEnding { return }
            guard let (caller, _) = first else {
                return end(RemoteFailure.unreachable, "sent a reply without a pending command")
            }
            if isReady, case .error(let message) = value,
                Handshake.isInability(message, inCluster: state.withLock { $0.isInCluster })
            {
                // Before the caller goes on, and before later replies: they may be old.
                let failure = state.withLock { state in
                    RemoteFailure.unreachable(
                        """
                        \(state.server) is not the primary, or not ready: \
                        \(RESPValue.code(ofError: message)).
                        """
                    )
                }
                close(failure)
                caller?(.failure(failure))
                return
            }
            caller?(.success(value))
        }

        // MARK: Ending

        /// Ends the connection after a failure of the server or the system.
        fileprivate func end(_ failure: (String) -> RemoteFailure, _ reason: String) {
            close(failure("\(state.withLock { $0.server }) \(reason)."))
        }

        /// The system's text for an error, in parentheses. Texts of other libraries may contain
        /// anything.
        fileprivate static func reason(_ error: any Error) -> String {
            let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
            return (cause as? IOError).map { " (\(String(cString: strerror($0.errnoCode))))" } ?? ""
        }

        /// Ends the connection. Every caller that waits gets the failure: during the handshake,
        /// that of a command that was not sent.
        func close(_ failure: RemoteFailure) {
            guard state.withLock({ !exchange(&$0.isEnding, with: true) }) else { return }
            // Before any call fails: values that were read by this connection may be stale from now
            // on.
            onEnd(self, failure)
            let (channel, callers, wereSent) = state.withLock { state in
                state.end = failure
                state.outgoing = ByteBuffer()
                return (
                    state.channel, state.handshake.removeAll() + state.queue.removeAll(),
                    state.isReady
                )
            }
            channel?.close(promise: nil)
            for caller in callers {
                caller(.failure(wereSent ? failure.afterSending : failure.beforeSending))
            }
            ended.succeed()
        }

        /// Returns when the connection has ended.
        func waitUntilEnded() async {
            await withCheckedContinuation { continuation in
                ended.futureResult.whenComplete { _ in continuation.resume() }
            }
        }
    }

    /// The replies to commands that were sent in a row.
    private final class Replies: Sendable {
        private let count: Int
        private let got = Locked<[RESPValue]?>([])
        private let end: @Sendable (Result<[RESPValue], RemoteFailure>) -> Void

        /// - Parameter end: Called once, with all of them, or with the first failure.
        init(of count: Int, _ end: @escaping @Sendable (Result<[RESPValue], RemoteFailure>) -> Void)
        {
            self.count = count
            self.end = end
        }

        func add(_ reply: Result<RESPValue, RemoteFailure>) {
            let result = got.withLock { got -> Result<[RESPValue], RemoteFailure>? in
                guard got != nil else { return nil }
                switch reply {
                case .success(let value):
                    got?.append(value)
                    guard let all = got, all.count == count else { return nil }
                    got = nil
                    return .success(all)
                case .failure(let failure):
                    got = nil
                    return .failure(failure)
                }
            }
            if let result { end(result) }
        }
    }

    /// Decodes received bytes as values.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let connection: Connection
        private var received = ByteBuffer()

        init(_ connection: Connection) { self.connection = connection }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            if received.readableBytes == 0 {
                received = bytes
            } else {
                received.writeBuffer(&bytes)
            }
            do throws(RESPReader.Malformed) {
                while let (value, length) = try received.withUnsafeReadableBytes({
                    (bytes) throws(RESPReader.Malformed) in
                    try RESPReader.value(in: bytes)
                }) {
                    received.moveReaderIndex(forwardBy: length)
                    connection.received(value)
                }
                received.discardReadBytes()
            } catch {
                connection.end(
                    RemoteFailure.unreachable,
                    "sent malformed RESP3: \(error.reason.dropLast())"
                )
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            connection.end(RemoteFailure.unanswered, "closed the connection")
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            connection.end(RemoteFailure.unanswered, "was lost\(Connection.reason(error))")
        }
    }
#endif
