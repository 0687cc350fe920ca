#if Valkey
    internal import Foundation
    package import VellumRemote

    /// Finds the primary of a group of servers that Sentinels watch (redis.io/docs/latest/develop/reference/sentinel-clients).
    package enum Sentinels {
        /// Returns the server to connect to: the primary that the first Sentinel names that answers, or the server itself without Sentinels.
        ///
        /// The Sentinel may not know of a failover yet: the handshake refuses a server that is not the primary.
        static func primary(of server: ServerConfiguration) async throws(RemoteFailure) -> ServerConfiguration {
            guard let group = server.sentinels else { return server }
            var last = RemoteFailure.refused("No Sentinel is configured.")
            for address in group.addresses {
                var sentinel = ServerConfiguration(host: address.host, port: address.port)
                (sentinel.connectTimeout, sentinel.password, sentinel.tls) = (server.connectTimeout, group.password, server.tls)
                do throws(RemoteFailure) {
                    let reply = try await ask(sentinel, RESPCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", group.primaryName))
                    guard let parts = reply.elements?.compactMap(\.text), parts.count == 2, let port = Int(parts[1]) else {
                        throw .unreachable("The Sentinel \(sentinel) knows no primary of the configured name.")
                    }
                    var primary = server
                    (primary.host, primary.port) = (parts[0], port)
                    return primary
                } catch {
                    last = error
                }
            }
            throw last.beforeSending
        }

        /// Asks by a connection that is closed afterwards.
        package static func ask(_ sentinel: ServerConfiguration, _ command: RESPCommand) async throws(RemoteFailure) -> RESPValue {
            let connection = Connection(onPush: { _ in }, onReply: { _ in }, onEnd: { _ in })
            defer { connection.close(.closed) }
            try await connection.connect(to: sentinel)
            let authentication = sentinel.password.map { [RESPCommand("AUTH", $0)] } ?? []
            let replies = try await connection.handshake(authentication + [command], within: sentinel.connectTimeout)
            for case .error in replies { throw .refused("The Sentinel \(sentinel) rejected the password or the command.") }
            return replies[replies.count - 1]
        }
    }
#endif
