#if Valkey
    internal import Foundation
    internal import TestThreads
    internal import Testing
    internal import VellumCore
    package import VellumTestSupport
    package import VellumValkey

    /// A server of its own for a test: `redis-server` in a temporary folder, on a free port, killed
    /// with the last reference.
    package final class RedisServer: Sendable {
        package let port: Int
        private let folder: TemporaryDirectory
        private let process: pid_t
        private let life = Life()

        private final class Life: Sendable {
            let hasEnded = Locked(false)
        }

        /// - Parameters:
        ///   - port: The port of a server that was killed, to take its place.
        ///   - settings: As in a configuration file, name and value in turn.
        package convenience init(port: Int? = nil, _ settings: [String] = []) throws {
            let folder = try TemporaryDirectory()
            try self.init(port, folder, ready: "Ready to accept connections") { port in
                [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.url.path, "--save",
                    "", "--appendonly", "no",
                ]
                    + ["--repl-diskless-sync-delay", "0"] + settings
            }
        }

        /// A node of a cluster, which has no slots and knows no other node yet.
        ///
        /// - Parameter ports: Those of a node that was killed, to take its place.
        package convenience init(
            inCluster folder: TemporaryDirectory,
            ports: (Int, bus: Int)? = nil
        ) throws {
            let bus = try ports?.bus ?? Self.freePort()
            try self.init(ports?.0, folder, ready: "Ready to accept connections") { port in
                [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.url.path, "--save",
                    "", "--appendonly", "no",
                ]
                    + [
                        "--cluster-enabled", "yes", "--cluster-port", "\(bus)",
                        "--cluster-node-timeout", "1000",
                    ]
                    + [
                        "--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0",
                        "--cluster-replica-validity-factor",
                        "0",
                    ]
            }
            self.bus.withLock { $0 = bus }
        }

        /// The port by which the nodes of a cluster speak to each other.
        private let bus = Locked(0)
        package var ports: (Int, bus: Int) { (port, bus.withLock { $0 }) }

        /// A server that speaks TLS only.
        ///
        /// - Parameter asksClients: Whether clients must have a certificate, too.
        package convenience init(_ certificates: Certificates, asksClients: Bool) throws {
            let folder = try TemporaryDirectory()
            try self.init(nil, folder, ready: "Ready to accept connections") { port in
                [
                    "--port", "0", "--tls-port", "\(port)", "--bind", "127.0.0.1", "--dir",
                    folder.url.path, "--save", "",
                    "--tls-cert-file", certificates.certificate.path, "--tls-key-file",
                    certificates.key.path,
                    "--tls-ca-cert-file", certificates.authority.path, "--tls-auth-clients",
                    asksClients ? "yes" : "no",
                ]
            }
        }

        /// The line of a Sentinel that says after how many milliseconds of silence `main` is down.
        package static func down(after milliseconds: Int) -> String {
            "sentinel down-after-milliseconds main \(milliseconds)"
        }

        /// A Sentinel that watches a server under the name `main`. Two have to agree that it is
        /// down.
        ///
        /// - Parameter lines: More of its configuration.
        package convenience init(sentinelOf primary: RedisServer, _ lines: [String] = []) throws {
            let folder = try TemporaryDirectory()
            let file = folder.url.appendingPathComponent("sentinel.conf")
            try self.init(nil, folder, ready: "+monitor master") { port in
                let text = """
                    port \(port)
                    bind 127.0.0.1
                    dir \(folder.url.path)
                    sentinel monitor main 127.0.0.1 \(primary.port) 2
                    \(Self.down(after: 500))
                    sentinel failover-timeout main 5000
                    """
                try Data((text + "\n" + lines.joined(separator: "\n")).utf8).write(to: file)
                return [file.path, "--sentinel"]
            }
        }

        /// - Parameter fixed: The port; `nil` for one that is free. Another program may take that
        ///   first: then another one is tried.
        private init(
            _ fixed: Int?,
            _ folder: TemporaryDirectory,
            ready: String,
            arguments: (Int) throws -> [String]
        ) throws {
            self.folder = folder
            var triesLeft = fixed == nil ? 5 : 1
            while true {
                triesLeft -= 1
                let port = try fixed ?? Self.freePort()
                do {
                    let child = try Self.start(try arguments(port), ready: ready)
                    process = child.identifier
                    self.port = port
                    Thread.detachNewThread { [life, folder] in
                        Self.end(child)
                        life.hasEnded.withLock { $0 = true }
                        withExtendedLifetime(folder) {}
                    }
                    return
                } catch let error as StartError {
                    guard triesLeft > 0, error.output.contains("already in use") else {
                        throw error
                    }
                }
            }
        }

        private static func start(_ arguments: [String], ready: String) throws -> Child.Running {
            let child = try Child.start("redis-server", arguments, errors: .dropped)
            running.withLock { _ = $0.insert(child.identifier) }
            close(child.input)
            var text = ""
            while !text.contains(ready) {
                let more = Child.read(child.output)
                guard !more.isEmpty else {
                    end(child)
                    throw StartError(output: text)
                }
                text += String(decoding: more, as: UTF8.self)
            }
            return child
        }

        /// Reads what a server prints until it ends: one whose pipe is full stops.
        private static func end(_ child: Child.Running) {
            while !Child.read(child.output).isEmpty {}
            close(child.output)
            _ = Child.wait(for: child.identifier)
            running.withLock { _ = $0.remove(child.identifier) }
        }

        /// The servers that are killed when the tests end: a test's last reference may still be
        /// held by a connection then.
        private static let running: Locked<Set<pid_t>> = {
            atexit { RedisServer.killAll() }
            return Locked([])
        }()

        private static func killAll() {
            for server in running.withLock({ $0 }) { Foundation.kill(server, SIGKILL) }
        }

        struct StartError: Error {
            let output: String
        }

        deinit { signal(SIGKILL) }

        private func signal(_ signal: Int32) {
            life.hasEnded.withLock { if !$0 { Foundation.kill(process, signal) } }
        }

        /// With times that only a server that hangs reaches.
        package var configuration: ServerConfiguration {
            var configuration = ServerConfiguration(host: "127.0.0.1", port: port)
            (configuration.connectTimeout, configuration.longestSilence) = (600_000, 600_000)
            return configuration
        }

        /// Ends the server as a crash would.
        package func kill() {
            signal(SIGKILL)
            blockUntil("the server has ended") { life.hasEnded.withLock { $0 } }
        }

        /// Freezes the server: connections stay, and nothing is answered.
        package func stop() { signal(SIGSTOP) }

        package func resume() { signal(SIGCONT) }

        /// The ports of this process's servers, which may not have begun to listen.
        private static let used = Locked<Set<Int>>([])

        /// A port that nobody has, below those that the system gives to clients.
        private static func freePort() throws -> Int {
            for _ in 0..<100 {
                let port = Int.random(in: 20_000..<30_000)
                guard used.withLock({ $0.insert(port).inserted }) else { continue }
                let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(socket) }
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = in_port_t(port).bigEndian
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                let code = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                if code == 0 { return port }
            }
            throw StartError(output: "No port is free.")
        }
    }
#endif
