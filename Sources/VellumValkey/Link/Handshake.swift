#if Valkey
    internal import Foundation
    internal import VellumCore
    package import VellumRemote

    /// The first commands of a connection: they authenticate, turn on notifications of changes, and
    /// ask for the time.
    enum Handshake {
        /// - Throws: ``RemoteFailure/refused(_:)`` if the server cannot be used.
        static func perform(
            _ connection: Connection,
            with server: ServerConfiguration
        ) async throws(RemoteFailure) -> ServerTime {
            try await connection.connect(to: server)
            let sent = connection.clock.now()
            let (replies, received) = try await connection.handshake(
                commands(for: server),
                within: server.connectTimeout
            )
            let tracking = replies.count - 2
            for (number, reply) in replies.enumerated() {
                guard case .error(let message) = reply, number != tracking || server.mustTrack
                else { continue }
                let failure = refusal(message, repeatsArguments: number == 0, by: server)
                guard number == tracking, case .refused(let reason) = failure else { throw failure }
                throw .refused(
                    """
                    \(reason). Where CLIENT TRACKING is forbidden, set trust to zero: each read \
                    then asks the server.
                    """
                )
            }
            try check(replies[0], of: server)
            if server.isInCluster { try checkCluster(replies[1], of: server) }
            guard
                let time = replies.last.flatMap({ ServerTime($0, sent: sent, received: received) })
            else {
                throw .refused("\(server) does not report its time.")
            }
            return time
        }

        private static func commands(for server: ServerConfiguration) -> [RESPCommand] {
            var commands = [hello(server)]
            if server.isInCluster { commands.append(clusterInfo) }
            if server.database != 0 {
                commands.append(RESPCommand("SELECT", Int64(server.database)))
            }
            return commands + [RESPCommand("CLIENT", "TRACKING", "ON"), RESPCommand("TIME")]
        }

        /// - Parameter user: Who is not logged in yet; `nil` if the connection is ready.
        static func hello(_ user: ServerConfiguration?) -> RESPCommand {
            guard let user, user.user != nil || user.password != nil else {
                return RESPCommand("HELLO", "3")
            }
            return RESPCommand("HELLO", "3", "AUTH", user.user ?? "default", user.password ?? "")
        }

        /// Throws unless the server can be used.
        ///
        /// - Parameter hello: The reply to HELLO, a map (redis.io/docs/latest/commands/hello).
        static func check(
            _ hello: RESPValue,
            of server: ServerConfiguration,
            mustBePrimary: Bool = true
        ) throws(RemoteFailure) {
            if case .error(let message) = hello {
                throw refusal(message, repeatsArguments: true, by: server)
            }
            guard case .map = hello else { throw .refused("\(server) did not introduce itself.") }
            switch hello.text(named: "mode") {
            case "cluster" where !server.isInCluster:
                throw .refused(
                    """
                    \(server) is a node of a cluster. Create its configuration with the addresses \
                    of the cluster.
                    """
                )
            case "sentinel": throw .refused("\(server) is a Sentinel. Configure it as one.")
            default: break
            }
            // A failover has not ended yet.
            guard !mustBePrimary || hello.text(named: "role") == "master" else {
                throw .unreachable("\(server) is a replica, which takes no writes.")
            }
        }

        static let clusterInfo = RESPCommand("CLUSTER", "INFO")

        /// Throws unless a node is connected to the majority of the primaries: otherwise, another
        /// one may have taken its slots.
        ///
        /// - Parameter info: The reply to CLUSTER INFO
        ///   (redis.io/docs/latest/commands/cluster-info).
        static func checkCluster(
            _ info: RESPValue,
            of server: ServerConfiguration
        ) throws(RemoteFailure) {
            guard let text = info.text else {
                throw .refused("\(server) does not say how its cluster is.")
            }
            if !text.contains("cluster_state:ok") {
                throw .unreachable("\(server) says that its cluster is down.")
            }
        }

        /// Whether a server says by an error that it is not the primary any more, or cannot answer
        /// as one. What it would answer to other commands may be old.
        static func isInability(_ message: String, inCluster: Bool = false) -> Bool {
            let code = RESPValue.code(ofError: message)
            // In a cluster, they may say it of one slot while the others stay.
            return ["CLUSTERDOWN", "MOVED"].contains(code)
                ? !inCluster : ["READONLY", "MASTERDOWN", "LOADING", "UNBLOCKED"].contains(code)
        }

        /// - Parameter repeatsArguments: Whether the message may contain the password: old servers
        ///   repeat the arguments of a command that they do not know.
        private static func refusal(
            _ message: String,
            repeatsArguments: Bool,
            by server: ServerConfiguration
        ) -> RemoteFailure {
            let code = RESPValue.code(ofError: message)
            switch code {
            case "NOAUTH", "WRONGPASS":
                return .refused("\(server) refuses the user or the password.")
            case "NOPROTO": return .refused("\(server) is too old: Redis 6.2 or Valkey is needed.")
            case _ where code == "BUSY" || isInability(message):
                return .unreachable("\(server) is not ready: \(message)")
            case "ERR" where repeatsArguments:
                return .refused("\(server) does not know HELLO: Redis 6.2 or Valkey is needed.")
            default:
                return .refused(
                    "\(server) refuses a connection: \(repeatsArguments ? String(code) : message)"
                )
            }
        }
    }

    extension ServerTime {
        /// Reads the reply to TIME (redis.io/docs/latest/commands/time).
        package init?(_ reply: RESPValue, sent: Int64, received: Int64) {
            guard let parts = reply.elements, parts.count == 2,
                let seconds = parts[0].text.flatMap(Int64.init),
                let microseconds = parts[1].text.flatMap(Int64.init)
            else { return nil }
            self.init(seconds: seconds, microseconds: microseconds, sent: sent, received: received)
        }
    }
#endif
