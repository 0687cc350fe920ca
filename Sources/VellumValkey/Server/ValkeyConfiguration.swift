public import Foundation
public import VellumCore
internal import VellumRemote

/// A Valkey or Redis server, and how this program uses it.
///
/// ```swift
/// var configuration = try ValkeyConfiguration(
///     url: "valkey://shop:secret@cache.internal:6379/0")
/// configuration.readTimeout = .milliseconds(100)
/// let server = ValkeyServer(configuration)
/// ```
///
/// Its descriptions and the errors of a server contain no password.
public struct ValkeyConfiguration: Sendable {
    /// A name or an address.
    public var host: String
    /// The port of the server: 6379 unless set.
    public var port: Int
    /// The user of the server's access control list; `nil` for the default user.
    public var user: String?
    /// The password of the user; `nil` for none.
    public var password: String?
    /// Where the server may be besides ``host``, as `host:port`, in a group without Sentinels. The
    /// one that says that it is the primary is used.
    public var otherAddresses: [String] = []
    /// Nodes of a cluster, as `host:port`, from which the others are learned: two or three suffice.
    /// Empty for a server that is in none.
    public var clusterNodes: [String] = []
    /// The Sentinels that know where the server is, as `host:port`; none if it is always at
    /// ``host``. They are asked at the same time.
    public var sentinels: [String] = []
    /// The name that the Sentinels give the server.
    public var primaryName = ""
    /// The user of the Sentinels' access control lists; `nil` for the default user.
    public var sentinelUser: String?
    /// The password of the Sentinels, which may differ from that of the server.
    public var sentinelPassword: String?
    /// How connections are encrypted, also those to Sentinels; `nil` if they are not. Needs the
    /// trait `ValkeyTLS`.
    public var tls: TLS?
    /// The number of the database. A cluster has only database 0.
    public var database = 0
    /// The prefix of this program's keys, on a server that several programs use. Any string, which
    /// stands before the name of a cache as it is: end it with a separator (`shop:`), so that `app`
    /// with a cache `1x` is not `app1` with a cache `x`.
    public var keyPrefix = ""
    /// How long a connection and its first commands may take.
    public var connectTimeout: Duration = .seconds(2)
    /// How long a call may take that reads. A server that is silent for two seconds, and for as
    /// long as a call may take, counts as lost.
    public var readTimeout: Duration = .milliseconds(250)
    /// How long a call may take that writes.
    public var writeTimeout: Duration = .seconds(1)
    /// How long values in memory may be returned without hearing from the server: 50 ms to 60 s;
    /// zero to ask the server each time, which works where CLIENT TRACKING is forbidden, too.
    public var trust: Duration = .seconds(1)
    /// After how long a loader that no longer answers is replaced by that of another process.
    public var lease: Duration = .seconds(2)
    /// After how long a caller stops waiting for the loader of another process, and runs its own,
    /// whose value is not stored. `nil`: a second after that loader must have ended by its
    /// `loadTimeout`. A load throws ``VellumError/Code/contradiction`` if this is shorter than
    /// that, or than ``lease``.
    public var longestWait: Duration?
    /// For how long a process returns again what it has loaded itself while the server was out of
    /// reach, at most for the age of the value; zero to call the loader each time. Forgotten when
    /// the server is back.
    public var outageMaxAge: Duration = .seconds(10)

    /// Encryption by TLS: whom to trust, and who we are. Files are read when the first connection
    /// is made.
    public struct TLS: Sendable {
        /// A PEM file of the authorities to trust; `nil` for those of the system.
        public var trustedCertificates: URL?
        /// The name that the server's certificate must have; `nil` for the host.
        public var serverName: String?
        /// A PEM file of the certificate by which the server knows us, and of those above it; `nil`
        /// for none.
        public var certificateChain: URL?
        /// A PEM file of its private key.
        public var privateKey: URL?

        /// Trusts the authorities of the system, and presents no certificate.
        public init() {}
    }

    /// Creates the configuration of a server.
    ///
    /// - Parameter user: `nil` for the default user.
    public init(
        host: String,
        port: Int = 6379,
        user: String? = nil,
        password: String? = nil
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    /// Creates the configuration of a server whose address is resolved by Sentinels.
    ///
    /// - Parameters:
    ///   - sentinels: As `host:port`, or `host` for the port 26379.
    ///   - primaryName: The name that they give the server.
    public init(
        sentinels: [String],
        primaryName: String,
        user: String? = nil,
        password: String? = nil
    ) {
        self.init(host: primaryName, user: user, password: password)
        self.sentinels = sentinels
        self.primaryName = primaryName
    }

    /// Creates the configuration of a cluster.
    ///
    /// ```swift
    /// let configuration = ValkeyConfiguration(
    ///     cluster: ["cache-1:6379", "cache-2:6379"], password: password)
    /// ```
    ///
    /// - Parameter nodes: Some of its nodes, as `host:port`, or `host` for the port 6379. The
    ///   others are learned from them.
    public init(cluster nodes: [String], user: String? = nil, password: String? = nil) {
        let (host, port) = Self.address(nodes.first ?? "", port: 6379)
        self.init(host: host, port: port, user: user, password: password)
        clusterNodes = nodes.isEmpty ? [""] : nodes
    }

    /// Reads a URL: `valkey://user:password@host:port/database`, or `valkeys` for TLS. `redis` and
    /// `rediss` are understood as well. That of a cluster names some nodes:
    /// `valkey-cluster://user:password@host:port?node=host:port`, or `valkeys-cluster`.
    ///
    /// - Throws: ``VellumError`` with the code `refused` if the URL is invalid.
    public init(url: String) throws(VellumError) {
        // No part of the URL is in an error: it contains the password.
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            throw VellumError(
                .refused,
                "A server URL must look like valkey://user:password@host:6379/0."
            )
        }
        var encrypts = false
        let isCluster = parts.scheme?.hasSuffix("-cluster") ?? false
        switch parts.scheme.map({ isCluster ? String($0.dropLast(8)) : $0 }) {
        case "valkey", "redis": break
        case "valkeys", "rediss": encrypts = true
        default:
            throw VellumError(
                .refused,
                "The URL of a server begins with valkey://, valkeys://, redis:// or rediss://."
            )
        }
        // One that is no `Int` is there, and not read.
        guard parts.port.map({ 1...65535 ~= $0 }) ?? parts.rangeOfPort?.isEmpty ?? true else {
            throw VellumError(.refused, "The port of a server's URL is a number from 1 to 65535.")
        }
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.init(
            host: name,
            port: parts.port ?? 6379,
            user: parts.user.flatMap { $0.isEmpty ? nil : $0 },
            password: parts.password
        )
        tls = encrypts ? TLS() : nil
        let path = parts.path.drop { $0 == "/" }
        guard let database = path.isEmpty ? 0 : Int(path), database >= 0 else {
            throw VellumError(
                .refused,
                "The path of a server's URL is the number of a database, like /0."
            )
        }
        self.database = database
        guard isCluster else { return }
        if database != 0 { throw VellumError(.refused, "A cluster has only database 0.") }
        clusterNodes = [
            host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
        ]
        for item in parts.queryItems ?? [] {
            guard item.name == "node", let node = item.value, !node.isEmpty else {
                throw VellumError(
                    .refused,
                    """
                    The URL of a cluster may name more nodes, as ?node=host:port, and nothing else.
                    """
                )
            }
            clusterNodes.append(node)
        }
    }
}

extension ValkeyConfiguration {
    /// Splits `host:port`, also `[::1]:26379`.
    fileprivate static func address(
        _ text: String,
        port usual: Int
    ) -> (host: String, port: Int) {
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        let port = Int(text[colon...].dropFirst())
        let host = port == nil ? text[...] : text[..<colon]
        return (
            host.hasPrefix("[")
                ? String(host.dropFirst().dropLast())
                : String(host), port ?? usual
        )
    }
}

extension ValkeyConfiguration: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The host and the port, without the password.
    public var description: String { "\(host):\(port)" }
    /// The host and the port, without the password.
    public var debugDescription: String { description }
    /// The host, the port and the database, without the password.
    public var customMirror: Mirror {
        Mirror(self, children: ["host": host, "port": port, "database": database])
    }
}

#if Valkey
    extension ValkeyConfiguration {
        var link: ServerConfiguration {
            var server = ServerConfiguration(
                host: host,
                port: port,
                user: user,
                password: password,
                database: database
            )
            server.connectTimeout = Self.milliseconds(connectTimeout)
            server.longestSilence = max(
                server.longestSilence,
                Self.milliseconds(readTimeout),
                Self.milliseconds(writeTimeout)
            )
            server.tls = tls.map(TLSClient.init)
            let places =
                [server]
                + otherAddresses.map {
                    server.at(Self.address($0, port: 6379))
                }
            server.places = otherAddresses.isEmpty ? [] : places
            server.sentinels = sentinels.map {
                var sentinel = server.at(Self.address($0, port: 26379))
                sentinel.user = sentinelUser
                sentinel.password = sentinelPassword
                return sentinel
            }
            server.primaryName = primaryName
            server.isInCluster = !clusterNodes.isEmpty
            server.mustTrack = trustMilliseconds > 0
            server.seeds = clusterNodes.map {
                server.at(Self.address($0, port: 6379))
            }
            return server
        }

        var times: ValkeyBackend.Times {
            var times = ValkeyBackend.Times()
            times.read = Self.milliseconds(readTimeout)
            times.write = Self.milliseconds(writeTimeout)
            times.lease = max(Self.milliseconds(lease), 100)
            return times
        }

        /// Between the bounds that the documentation names.
        var trustMilliseconds: Int64 {
            trust <= .zero ? 0 : min(max(Self.milliseconds(trust), 50), 60_000)
        }

        var outageMilliseconds: Int64 {
            outageMaxAge <= .zero ? 0 : Self.milliseconds(outageMaxAge)
        }

        /// At least one.
        static func milliseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = duration.components
            return max(
                1,
                max(0, min(seconds, 1 << 40)) * 1000 + attoseconds / 1_000_000_000_000_000
            )
        }
    }
#endif
