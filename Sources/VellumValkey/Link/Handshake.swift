#if Valkey
    internal import Foundation
    internal import VellumCore
    package import VellumRemote

    /// The first commands of a connection: they authenticate, turn on notifications of changes, and ask for the time.
    enum Handshake {
        /// - Throws: ``RemoteFailure/refused(_:)`` if the server cannot be used.
        static func perform(_ connection: Connection, with server: ServerConfiguration) async throws(RemoteFailure) -> ServerTime {
            try await connection.connect(to: server)
            let clock = connection.clock
            let sent = clock.now()
            let replies = try await connection.handshake(commands(for: server), within: server.connectTimeout)
            let received = clock.now()
            for (number, reply) in replies.enumerated() {
                if case .error(let message) = reply { throw refusal(message, repeatsArguments: number == 0, by: server) }
            }
            try check(replies[0], of: server)
            guard let time = replies.last.flatMap({ ServerTime($0, sent: sent, received: received) }) else {
                throw .refused("\(server) does not report its time.")
            }
            return time
        }

        private static func commands(for server: ServerConfiguration) -> [RESPCommand] {
            var hello: [any RESPCommand.Argument] = ["HELLO", "3"]
            if let password = server.password { hello += ["AUTH", server.user ?? "default", password] }
            var commands = [RESPCommand(hello)]
            if server.database != 0 { commands.append(RESPCommand("SELECT", Int64(server.database))) }
            return commands + [RESPCommand("CLIENT", "TRACKING", "ON"), RESPCommand("TIME")]
        }

        /// - Parameter hello: The reply to HELLO, a map (redis.io/docs/latest/commands/hello).
        private static func check(_ hello: RESPValue, of server: ServerConfiguration) throws(RemoteFailure) {
            guard case .map(let parts) = hello else { throw .refused("\(server) did not introduce itself.") }
            func property(_ name: String) -> String? {
                zip(parts, parts.dropFirst()).enumerated().first { $0.offset % 2 == 0 && $0.element.0.text == name }?.element.1.text
            }
            switch property("mode") {
            case "cluster": throw .refused("\(server) is a node of a cluster, which is not supported. Use a server or Sentinels.")
            case "sentinel": throw .refused("\(server) is a Sentinel. Configure it as one.")
            default: break
            }
            // A failover has not ended yet.
            guard property("role") == "master" else { throw .unreachable("\(server) is a replica, which takes no writes.") }
        }

        /// - Parameter repeatsArguments: Whether the message may contain the password: old servers repeat the arguments of a command that they
        ///   do not know.
        private static func refusal(_ message: String, repeatsArguments: Bool, by server: ServerConfiguration) -> RemoteFailure {
            let code = message.prefix { $0 != " " }
            switch code {
            case "NOAUTH", "WRONGPASS": return .refused("\(server) refuses the user or the password.")
            case "NOPROTO": return .refused("\(server) is too old: Redis 6.2 or Valkey is needed.")
            case "LOADING", "BUSY", "MASTERDOWN": return .unreachable("\(server) is not ready: \(message)")
            case "ERR" where repeatsArguments: return .refused("\(server) does not know HELLO: Redis 6.2 or Valkey is needed.")
            default: return .refused("\(server) refuses a connection: \(repeatsArguments ? String(code) : message)")
            }
        }
    }

    extension ServerTime {
        /// Reads the reply to TIME (redis.io/docs/latest/commands/time).
        package init?(_ reply: RESPValue, sent: Int64, received: Int64) {
            guard let parts = reply.elements, parts.count == 2, let seconds = parts[0].text.flatMap(Int64.init),
                let microseconds = parts[1].text.flatMap(Int64.init)
            else { return nil }
            self.init(seconds: seconds, microseconds: microseconds, sent: sent, received: received)
        }
    }
#endif
