#if Valkey
    internal import Foundation
    internal import NIOCore
    internal import NIOPosix
    internal import VellumCore
    internal import VellumValkey

    /// A server that greets as a real one does, and answers every other command as a test says,
    /// whatever was asked.
    package final class LyingServer: Sendable {
        /// The reply to a command, as it is sent, a byte for each scalar; `nil` for what an honest
        /// server says while it has nothing. Of SENTINEL, the command has two words.
        package typealias Answer = @Sendable (_ command: String) -> String?

        private let listener: any Channel

        package init(_ answer: @escaping Answer) throws {
            listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { client in
                    client.eventLoop.makeCompletedFuture {
                        try client.pipeline.syncOperations.addHandler(Liar(answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).wait()
        }

        deinit { listener.close(promise: nil) }

        package var port: Int { listener.localAddress?.port ?? 0 }

        /// A reply to TIME.
        package static func time(_ seconds: String, _ microseconds: String) -> String {
            array(seconds, microseconds)
        }

        /// A string of any bytes.
        package static func string(_ bytes: some Collection<UInt8>) -> String {
            "$\(bytes.count)\r\n"
                + String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) + "\r\n"
        }

        /// An array of strings.
        package static func array(_ strings: String...) -> String {
            "*\(strings.count)\r\n" + strings.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        }

        fileprivate static func honest(_ command: String) -> String {
            switch command {
            case "HELLO": "%2\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
            case "CLIENT": "+OK\r\n"
            case "TIME": time("\(Int(Date().timeIntervalSince1970))", "0")
            case "GETRANGE": "$0\r\n\r\n"
            case "EVAL": ":1\r\n"
            case "SCAN": "*2\r\n$1\r\n0\r\n*0\r\n"
            default: ":0\r\n"
            }
        }
    }

    private final class Liar: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let answer: LyingServer.Answer
        private var received = ByteBuffer()

        init(_ answer: @escaping LyingServer.Answer) { self.answer = answer }

        private static func bytes(_ reply: String) -> ByteBuffer {
            ByteBuffer(bytes: reply.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            do {
                while let (value, length) = try received.withUnsafeReadableBytes({
                    try RESPReader.value(in: $0)
                }) {
                    received.moveReaderIndex(forwardBy: length)
                    let words = value.elements?.compactMap { $0.text?.uppercased() } ?? []
                    let command = words.prefix(words.first == "SENTINEL" ? 2 : 1).joined(
                        separator: " "
                    )
                    context.write(
                        NIOAny(Self.bytes(answer(command) ?? LyingServer.honest(command))),
                        promise: nil
                    )
                }
                context.flush()
            } catch {
                context.close(promise: nil)
            }
        }
    }
#endif
