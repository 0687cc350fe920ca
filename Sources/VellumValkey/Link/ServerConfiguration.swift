/// A server, and how to reach it.
package struct ServerConfiguration: Sendable {
    package var host: String
    package var port: Int
    package var user: String?
    package var password: String?
    package var database: Int
    /// How long a connection and its first commands may take, in milliseconds.
    package var connectTimeout: Int64 = 2000
    #if Valkey
        /// How connections are encrypted; `nil` if they are not.
        package var tls: TLSClient?
    #endif
    /// Who knows where the server is, which may change; `nil` if it is always at ``host``.
    package var sentinels: SentinelGroup?

    package init(host: String, port: Int = 6379, user: String? = nil, password: String? = nil, database: Int = 0) {
        (self.host, self.port, self.user, self.password, self.database) = (host, port, user, password, database)
    }
}

/// The Sentinels of a group of servers.
package struct SentinelGroup: Sendable {
    package var primaryName: String
    package var addresses: [(host: String, port: Int)]
    package var password: String?

    package init(primaryName: String, addresses: [(host: String, port: Int)], password: String? = nil) {
        (self.primaryName, self.addresses, self.password) = (primaryName, addresses, password)
    }
}

extension ServerConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The host and the port, without the password.
    package var description: String { "\(host):\(port)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port, "database": database]) }
}
