#if Valkey
    import FleetSupport
    import Foundation
    import Testing
    import VellumCore
    import VellumTestSupport
    import VellumValkey

    /// Eight processes that share a cache, while something goes wrong again and again. Each compares what it reads with an oracle.
    ///
    /// `VELLUM_FLEET` sets for how many seconds each trouble lasts; one by default. `VELLUM_SEED` selects another seed.
    @Suite(.timeLimit(.minutes(ProcessInfo.processInfo.environment["VELLUM_FLEET"] == nil ? 1 : 60)), .serialized)
    struct FleetTests {
        private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
        private static let ticks = 10 * (number("VELLUM_FLEET") ?? 1)

        @Test(arguments: Trouble.allCases) func nothingIsStaleForLongerThanMemoryIsTrusted(_ trouble: Trouble) async throws {
            let seed = UInt64(Self.number("VELLUM_SEED") ?? Int.random(in: 0..<1_000_000))
            let group = trouble == .failover ? try await RedisGroup() : nil
            // A thread of its own, because reading what the processes print blocks it.
            let ran = OnThread { Result { try Fleet(trouble, seed: seed, group).run(ticks: Self.ticks) } }
            let counts = try await Lane.visits.run { try ran.result().get() }
            print("\(trouble), seed \(seed): \(counts.text)")
            #expect(counts.nearHits > 0 && counts.writes > 0, "seed \(seed)")
            // The new primary may lack what the old one acknowledged.
            if trouble != .failover { #expect((counts.stale, counts.confirmedStale) == (0, 0), "seed \(seed)") }
            #expect(counts.diverged == 0, "seed \(seed)")
            if trouble != .failover { #expect(counts.unremoved == 0, "seed \(seed)") }
            // A process that is stopped may end its loader, and count the age seconds later.
            if trouble != .clientStopped { #expect(counts.tooOldInOutage == 0, "seed \(seed)") }
            if trouble == .serverStopped || trouble == .serverKilled { #expect(counts.inOutage > 0, "seed \(seed)") }
            if !trouble.losesValues { #expect(counts.lost == 0, "seed \(seed)") }
            if trouble == .nothing { #expect(counts.overlaps == 0, "seed \(seed)") }
        }
    }

    /// What goes wrong.
    enum Trouble: CaseIterable {
        case nothing, serverKilled, serverStopped, serverReadOnly, clientStopped, clientKilled, everythingFlushed, connectionsKilled,
            commandsPaused
        case outputLimited, evicted, failover, commandsLost, repliesLost, bothLost, delayed, dribbled, cut

        /// Whether the server may lose what it acknowledged.
        var losesValues: Bool { [.serverKilled, .everythingFlushed, .evicted, .failover].contains(self) }

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

    /// The processes, the server, and the trouble. Blocks the thread.
    private final class Fleet {
        private static let trust = 300
        private let trouble: Trouble
        private let folder: TemporaryDirectory
        private let oracle: Oracle
        private let group: RedisGroup?
        private let network: BadNetwork?
        private var server: RedisServer?
        private var clients: [Spawned] = []
        private let seed: UInt64

        init(_ trouble: Trouble, seed: UInt64, _ group: RedisGroup?) throws {
            (self.trouble, self.seed, self.group) = (trouble, seed, group)
            folder = try TemporaryDirectory()
            oracle = try Oracle(folder.file("oracle"))
            server = group == nil ? try RedisServer(trouble.settings) : nil
            network = try trouble.fault == nil ? nil : server.map { try BadNetwork(to: $0.port) }
            for number in 0..<Oracle.clients { clients.append(try client(number)) }
        }

        private func client(_ number: Int) throws -> Spawned {
            let place = group?.addresses ?? ["\(network?.port ?? server?.port ?? 0)"]
            let padding = trouble == .outputLimited ? 5000 : 10
            let own = ["\(number)", folder.file("oracle").path, "\(seed)", "\(Self.trust)", "\(padding)", trouble == .evicted ? "1" : "0"]
            return try Spawned(own + place, of: "FleetClient")
        }

        deinit { for client in clients { _ = kill(client.identifier, SIGKILL) } }

        struct EndedEarly: Error {
            let client: Int
        }

        /// Waits for a tenth of a second, as the first process counts it.
        private func tick() throws {
            guard clients[0].line() == "tick" else { throw EndedEarly(client: 0) }
        }

        func run(ticks: Int) throws -> FleetCounts {
            try waitForProgress()
            var passed = 0
            while passed < ticks { passed += try disturb() }
            try waitForProgress()
            oracle.isQuiet = true
            return try clients.enumerated().reduce(FleetCounts()) { sum, element in
                var last = ""
                while let line = element.element.line() { last = line == "tick" ? last : line }
                guard last.hasPrefix("end "), let counts = FleetCounts(last.dropFirst(4)) else { throw EndedEarly(client: element.offset) }
                return sum + counts
            }
        }

        /// Returns when the server has acknowledged something to each process anew.
        private func waitForProgress() throws {
            let before = (0..<Oracle.clients).map(oracle.progress)
            while (0..<Oracle.clients).contains(where: { oracle.progress(of: $0) < before[$0] + 100 }) { try tick() }
        }

        private func wait(_ ticks: Int) throws -> Int {
            for _ in 0..<ticks { try tick() }
            return ticks
        }

        /// Makes one trouble and ends it. Returns how many tenths of a second it took.
        private func disturb() throws -> Int {
            if let network, let fault = trouble.fault {
                network.fault = fault
                defer { network.fault = .none }
                // A connection that carries nothing counts as lost after two seconds.
                return try wait(10) + wait(trouble == .cut ? 0 : 20)
            }
            switch trouble {
            case .serverKilled:
                let port = server?.port
                server?.kill()
                let lost = oracle.acknowledged()
                oracle.lost(lost)
                let passed = try wait(5)
                server = try RedisServer(port: port)
                try waitForProgress()
                return try passed + wait(5)
            case .serverStopped:
                server?.stop()
                defer { server?.resume() }
                return try wait(30)
            case .serverReadOnly:
                // Writes fail, and no connection is lost.
                try command("REPLICAOF", "127.0.0.1", "1")
                let passed = try wait(5)
                try command("REPLICAOF", "NO", "ONE")
                return try passed + wait(5)
            case .clientStopped:
                kill(clients[1].identifier, SIGSTOP)
                defer { kill(clients[1].identifier, SIGCONT) }
                return try wait(30)
            case .clientKilled:
                _ = clients[2].kill()
                clients[2] = try client(2)
                return try wait(5)
            case .everythingFlushed:
                let lost = oracle.acknowledged()
                try command("FLUSHALL")
                oracle.lost(lost)
                return try wait(3)
            case .connectionsKilled:
                try command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                return try wait(2)
            case .commandsPaused:
                try command("CLIENT", "PAUSE", "400", "ALL")
                return try wait(8)
            case .outputLimited:
                try command("CONFIG", "SET", "client-output-buffer-limit", "normal 30000 0 0")
                let passed = try wait(5)
                try command("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
                return try passed + wait(3)
            case .failover:
                group?.primary.kill()
                try waitForProgress()
                return 10_000  // It has one replica.
            default: return try wait(5)
            }
        }

        private func command(_ words: String...) throws {
            guard let server else { return }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["redis-cli", "-p", "\(server.port)"] + words
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }
#endif
