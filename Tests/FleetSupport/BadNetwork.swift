#if Valkey
    internal import NIOCore
    internal import NIOPosix
    internal import VellumCore

    /// Passes what clients and a server send each other, and does to it what networks do.
    package final class BadNetwork: Sendable {
        package enum Fault: Hashable, Sendable {
            case none
            /// What a connection carries never arrives, and nobody is told; the connection does not
            /// recover.
            case lost(commands: Bool, replies: Bool)
            case delayed(milliseconds: Int64)
            /// One byte in each write.
            case dribbled
            /// Every connection is closed in the middle of what it carries next.
            case cut
        }

        fileprivate final class State: Sendable {
            let fault = Locked(Fault.none)
        }

        private let state = State()
        private let listener: any Channel

        package init(to port: Int) throws {
            let state = state
            listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { client in
                    ClientBootstrap(group: client.eventLoop)
                        .channelOption(.autoRead, value: false)
                        .channelOption(.socketOption(.tcp_nodelay), value: 1)
                        .connect(host: "127.0.0.1", port: port)
                        .flatMapThrowing { server in
                            try client.pipeline.syncOperations.addHandler(
                                Passer(state, to: server, carriesCommands: true)
                            )
                            try server.pipeline.syncOperations.addHandler(
                                Passer(state, to: client, carriesCommands: false)
                            )
                            try server.syncOptions?.setOption(.autoRead, value: true)
                            try client.syncOptions?.setOption(.autoRead, value: true)
                        }
                }
                .bind(host: "127.0.0.1", port: 0).wait()
        }

        deinit { listener.close(promise: nil) }

        package var port: Int { listener.localAddress?.port ?? 0 }

        package var fault: Fault {
            get { state.fault.withLock { $0 } }
            set { state.fault.withLock { $0 = newValue } }
        }
    }

    /// One direction of a connection.
    private final class Passer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let state: BadNetwork.State
        private let peer: any Channel
        private let carriesCommands: Bool
        private var isLost = false
        /// When the last bytes leave, and how many pieces wait for that, so that later ones do not
        /// overtake them.
        private var (lastDeparture, underway) = (NIODeadline.uptimeNanoseconds(0), 0)

        init(_ state: BadNetwork.State, to peer: any Channel, carriesCommands: Bool) {
            (self.state, self.peer, self.carriesCommands) = (state, peer, carriesCommands)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            let fault = state.fault.withLock { $0 }
            if case .lost(let commands, let replies) = fault {
                isLost = isLost || (carriesCommands ? commands : replies)
            }
            guard !isLost else { return }
            switch fault {
            case .none, .lost: pass(bytes, after: .zero)
            case .delayed(let milliseconds): pass(bytes, after: .milliseconds(milliseconds))
            case .dribbled: while let byte = bytes.readSlice(length: 1) { pass(byte, after: .zero) }
            case .cut:
                peer.writeAndFlush(
                    bytes.readSlice(length: bytes.readableBytes / 2) ?? bytes,
                    promise: nil
                )
                peer.close(promise: nil)
                context.close(promise: nil)
            }
        }

        private func pass(_ bytes: ByteBuffer, after delay: TimeAmount) {
            guard delay > .zero || underway > 0 else {
                return peer.writeAndFlush(bytes, promise: nil)
            }
            // No two at the same moment, of which either might be first.
            lastDeparture = max(lastDeparture + .nanoseconds(1), .now() + delay)
            underway += 1
            peer.eventLoop.assumeIsolated().scheduleTask(deadline: lastDeparture) { [self] in
                underway -= 1
                peer.writeAndFlush(bytes, promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if !isLost { peer.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
#endif
