#if Valkey
    import FleetSupport
    import Foundation
    import TestThreads
    import Testing
    import VellumTestSupport
    import VellumValkey

    /// Eight processes that share a cache, while something goes wrong again and again. Each
    /// compares what it reads with an oracle.
    ///
    /// `VELLUM_FLEET` sets for how many seconds each trouble lasts; one by default. `VELLUM_SEED`
    /// selects another seed.
    @Suite(.ownThreads(.longSuite), .serialized)
    struct FleetTests {
        private static func number(_ name: String) -> Int? {
            ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
        }
        private static let ticks = 10 * (number("VELLUM_FLEET") ?? 1)

        @Test(arguments: Trouble.allCases) func nothingIsStaleForLongerThanMemoryIsTrusted(
            _ trouble: Trouble
        ) async throws {
            let seed = UInt64(Self.number("VELLUM_SEED") ?? Int.random(in: 0..<1_000_000))
            let group = trouble == .failover ? try await RedisGroup() : nil
            let counts = try ServerFleet(trouble, seed: seed, group).run(ticks: Self.ticks)
            print("\(trouble), seed \(seed): \(counts.text)")
            #expect(counts.nearHits > 0 && counts.writes > 0, "seed \(seed)")
            // The new primary may lack what the old one acknowledged.
            if trouble != .failover {
                #expect((counts.stale, counts.confirmedStale) == (0, 0), "seed \(seed)")
            }
            #expect(counts.diverged == 0, "seed \(seed)")
            if trouble != .failover { #expect(counts.unremoved == 0, "seed \(seed)") }
            #expect(counts.tooOldInOutage == 0, "seed \(seed)")
            if trouble == .serverStopped || trouble == .serverKilled {
                #expect(counts.inOutage > 0, "seed \(seed)")
            }
            if !trouble.losesValues { #expect(counts.lost == 0, "seed \(seed)") }
            if trouble == .nothing { #expect(counts.overlaps == 0, "seed \(seed)") }
        }
    }

    /// What goes wrong.
    enum Trouble: CaseIterable {
        case nothing, serverKilled, serverStopped, serverReadOnly, clientStopped, clientKilled,
            everythingFlushed, connectionsKilled,
            commandsPaused
        case outputLimited, evicted, failover, commandsLost, repliesLost, bothLost, delayed,
            dribbled, cut

        /// Whether the server may lose what it acknowledged.
        var losesValues: Bool {
            [.serverKilled, .everythingFlushed, .evicted, .failover].contains(self)
        }

        var settings: [String] {
            switch self {
            case .evicted: ["--maxmemory", "2mb", "--maxmemory-policy", "allkeys-lru"]
            default: []
            }
        }

        /// What the network does; `nil` if it is not the network.
        var fault: BadNetwork.Fault? {
            switch self {
            case .commandsLost: .lost(commands: true, replies: false)
            case .repliesLost: .lost(commands: false, replies: true)
            case .bothLost: .lost(commands: true, replies: true)
            case .delayed: .delayed(milliseconds: 50)
            case .dribbled: .dribbled
            case .cut: .cut
            default: nil
            }
        }
    }

    /// A server, and what goes wrong with it. Blocks the thread.
    private final class ServerFleet {
        private let trouble: Trouble
        private let group: RedisGroup?
        private let network: BadNetwork?
        private var server: RedisServer?
        private let fleet: Fleet

        init(_ trouble: Trouble, seed: UInt64, _ group: RedisGroup?) throws {
            (self.trouble, self.group) = (trouble, group)
            server = group == nil ? try RedisServer(trouble.settings) : nil
            network = try trouble.fault == nil ? nil : server.map { try BadNetwork(to: $0.port) }
            let place = group?.addresses ?? ["\(network?.port ?? server?.port ?? 0)"]
            fleet = try Fleet(
                place,
                seed: seed,
                padding: trouble == .outputLimited ? 5000 : 10,
                fills: trouble == .evicted,
                isCalm: trouble == .nothing,
                losesRemovals: trouble == .failover
            )
        }

        func run(ticks: Int) throws -> FleetCounts { try fleet.run(ticks: ticks, disturb) }

        /// Makes one trouble and ends it. Returns how many tenths of a second it took.
        private func disturb() throws -> Int {
            if let network, let fault = trouble.fault {
                network.fault = fault
                defer { network.fault = .none }
                // A connection that carries nothing counts as lost after two seconds.
                return try fleet.wait(10) + fleet.wait(trouble == .cut ? 0 : 20)
            }
            switch trouble {
            case .serverKilled:
                let port = server?.port
                server?.kill()
                let lost = fleet.oracle.acknowledged()
                fleet.oracle.lost(lost)
                let passed = try fleet.wait(5)
                try fleet.waitForOutage()
                server = try RedisServer(port: port)
                try fleet.waitForProgress()
                return try passed + fleet.wait(5)
            case .serverStopped:
                server?.stop()
                defer { server?.resume() }
                try fleet.waitForOutage()
                return try fleet.wait(30)
            case .serverReadOnly:
                // Writes fail, and no connection is lost.
                try command("REPLICAOF", "127.0.0.1", "1")
                let passed = try fleet.wait(5)
                try command("REPLICAOF", "NO", "ONE")
                return try passed + fleet.wait(5)
            case .clientStopped:
                kill(fleet.clients[1].identifier, SIGSTOP)
                defer { kill(fleet.clients[1].identifier, SIGCONT) }
                return try fleet.wait(30)
            case .clientKilled:
                try fleet.replace(2)
                return try fleet.wait(5)
            case .everythingFlushed:
                let lost = fleet.oracle.acknowledged()
                try command("FLUSHALL")
                fleet.oracle.lost(lost)
                return try fleet.wait(3)
            case .connectionsKilled:
                try command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                return try fleet.wait(2)
            case .commandsPaused:
                try command("CLIENT", "PAUSE", "400", "ALL")
                return try fleet.wait(8)
            case .outputLimited:
                try command("CONFIG", "SET", "client-output-buffer-limit", "normal 30000 0 0")
                let passed = try fleet.wait(5)
                try command("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
                return try passed + fleet.wait(3)
            case .failover:
                group?.primary.kill()
                try fleet.waitForProgress()
                return 10_000  // It has one replica.
            default: return try fleet.wait(5)
            }
        }

        private func command(_ words: String...) throws {
            guard let server else { return }
            let arguments = ["-p", "\(server.port)"] + words
            #expect(try Child.run("redis-cli", arguments).end == .exited(0))
        }
    }
#endif
