/// A server, and how to reach it.
package struct ServerConfiguration: Sendable {
    package var host: String
    package var port: Int
    package var user: String?
    var password: String?
    var database: Int
    /// How long a connection and its first commands may take, in milliseconds.
    package var connectTimeout: Int64 = 2000
    /// How long it may stay silent before it counts as lost, in milliseconds. No call may take
    /// longer.
    package var longestSilence: Int64 = 2000
    #if Valkey
        /// How connections are encrypted; `nil` if they are not.
        var tls: TLSClient?
    #endif
    /// Where the primary may be, without Sentinels; empty if it is always here.
    var places: [ServerConfiguration] = []
    /// Nodes of a cluster that know the others; empty if there is none.
    var seeds: [ServerConfiguration] = []
    /// Whether the server is a node of a cluster.
    var isInCluster = false
    /// Whether values in memory are returned without asking: the server then has to say what others
    /// change.
    var mustTrack = true
    /// Who knows where the primary is, and the name that they give it.
    package var sentinels = [ServerConfiguration]()
    var primaryName = ""

    /// Another server that is reached in the same way.
    func at(_ address: (host: String, port: Int)) -> ServerConfiguration {
        var other = self
        other.host = address.host
        other.port = address.port
        return other
    }

    package init(
        host: String,
        port: Int = 6379,
        user: String? = nil,
        password: String? = nil,
        database: Int = 0
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.database = database
    }
}

extension ServerConfiguration: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The host and the port, without the password.
    package var description: String { "\(host):\(port)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["host": host, "port": port, "database": database])
    }
}
