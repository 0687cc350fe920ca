#if Valkey
    internal import VellumRemote

    /// Where the commands of a program go.
    enum Route: Sendable {
        case server(Link)
        case cluster(Cluster)

        /// Sends a command to where the key is.
        func call(
            _ command: RESPCommand,
            key: String,
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            switch self {
            case .server(let link):
                try await link.call(command, within: milliseconds, atReply: atReply)
            case .cluster(let cluster):
                try await cluster.call(command, key: key, within: milliseconds, atReply: atReply)
            }
        }

        /// For spans.
        var server: ServerConfiguration {
            switch self {
            case .server(let link): link.server
            case .cluster(let cluster): cluster.server
            }
        }

        var cluster: Cluster? { if case .cluster(let cluster) = self { cluster } else { nil } }

        func close() {
            switch self {
            case .server(let link): link.close()
            case .cluster(let cluster): cluster.close()
            }
        }
    }
#endif
