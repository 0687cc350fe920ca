#if Valkey
    import Foundation
    import MiniCacheValkey

    /// Three primaries with a replica each, of which one is killed while four processes ask for
    /// prices: which prices are affected, and for how long.
    struct Shards {
        private static let processes = 4
        private static let killed = 4
        private let ports = (0..<6).map { $0 * 7 + Int.random(in: 20_000..<22_000) }
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Fleet-\(UUID().uuidString)"
        )

        private func start(
            _ arguments: [String],
            in place: URL? = nil,
            output: Any = FileHandle.nullDevice
        ) throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            process.currentDirectoryURL = place
            (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
            try process.run()
            return process
        }

        private func startNode(_ port: Int) throws -> Process {
            let place = folder.appendingPathComponent("\(port)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            // Without the last but one, a primary that is lost stops the others, too.
            return try start(
                [
                    "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "",
                    "--cluster-enabled", "yes",
                ]
                    + [
                        "--cluster-port", "\(port + 3000)", "--cluster-node-timeout", "1000",
                        "--cluster-require-full-coverage", "no",
                    ]
                    + ["--repl-diskless-sync-delay", "0"],
                in: place
            )
        }

        /// A node takes two seconds until it works.
        private func waitUntilReady(_ port: Int) throws {
            while true {
                let output = Pipe()
                let asker = try start(
                    ["redis-cli", "-p", "\(port)", "CLUSTER", "INFO"],
                    output: output
                )
                let text = String(
                    decoding: try output.fileHandleForReading.readToEnd() ?? Data(),
                    as: UTF8.self
                )
                asker.waitUntilExit()
                if text.contains("cluster_state:ok") { return }
                usleep(100_000)
            }
        }

        private func startWorker(_ number: Int) throws -> (Process, FileHandle) {
            let (worker, output) = (Process(), Pipe())
            worker.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            worker.arguments = ["shards", "\(number)"] + ports.prefix(3).map { "127.0.0.1:\($0)" }
            worker.standardOutput = output
            try worker.run()
            return (worker, output.fileHandleForReading)
        }

        func run() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer {
                do { try FileManager.default.removeItem(at: folder) } catch {
                    print("The folder remains: \(folder.path)")
                }
            }
            let nodes = try ports.map(startNode)
            defer { for node in nodes { kill(node.processIdentifier, SIGKILL) } }
            var isMade = false
            for _ in 0..<20 where !isMade {
                let addresses = ports.map { "127.0.0.1:\($0)" }
                let maker = try start(
                    ["redis-cli", "--cluster", "create"] + addresses + [
                        "--cluster-replicas", "1", "--cluster-yes",
                    ]
                )
                maker.waitUntilExit()
                isMade = maker.terminationStatus == 0
                if !isMade { usleep(200_000) }
            }
            for port in ports { try waitUntilReady(port) }
            print(
                """
                \(Self.processes) processes ask a cluster of three primaries for 20 prices again \
                and again, each confirmed by the server.

                second     reads   near hits   prices that could not be confirmed
                """
            )
            let workers = try (1...Self.processes).map { try startWorker($0) }
            var lines = workers.map { Lines($0.1) }
            var longest: [Int: Int] = [:]
            for second in 1...ShardWorker.seconds {
                if second == Self.killed {
                    kill(nodes[0].processIdentifier, SIGKILL)
                    print("           One primary is killed; its replica is elected.")
                }
                var (reads, hits, failed) = (0, 0, Set<Int>())
                for number in lines.indices {
                    let fields =
                        lines[number].next()?.split(separator: " ").compactMap { Int($0) } ?? []
                    guard fields.count >= 2 else { continue }
                    (reads, hits) = (reads + fields[0], hits + fields[1])
                    failed.formUnion(fields[2...])
                }
                let columns = [(second, 6), (reads, 10), (hits, 12)].map {
                    String(repeating: " ", count: max(0, $0.1 - "\($0.0)".count)) + "\($0.0)"
                }
                print(
                    columns.joined() + "   "
                        + failed.sorted().map(String.init).joined(separator: " ")
                )
                fflush(nil)
            }
            for number in lines.indices {
                for pair in lines[number].next()?.split(separator: " ") ?? [] {
                    let parts = pair.split(separator: ":").compactMap { Int($0) }
                    if parts.count == 2 {
                        longest[parts[0]] = max(longest[parts[0], default: 0], parts[1])
                    }
                }
            }
            for (worker, _) in workers { worker.waitUntilExit() }
            print(
                """
                \nAffected: \(longest.count) of 20 prices, those of the killed primary. For how \
                long, in the process that saw it longest:
                """
            )
            for (article, time) in longest.sorted(by: { $0.key < $1.key }) {
                print("  price \(article): \(time) ms")
            }
            print("The other \(20 - longest.count) were confirmed all the time.")
        }
    }

    /// One process: it asks for each price, and notes which could not be confirmed.
    struct ShardWorker {
        static let seconds = 12
        private let cache: SharedCache<Int, Double>

        init(nodes: [String]) throws {
            var configuration = ValkeyConfiguration(cluster: nodes)
            configuration.trust = .milliseconds(200)
            cache = try SharedCacheManager(name: "Fleet", server: ValkeyServer(configuration))
                .cache(
                    cacheName: "prices",
                    cacheVersion: .custom("1"),
                    maxAge: .timeInterval(60)
                )
        }

        func run() async throws {
            // What was not confirmed since when, and for how long at most.
            var (since, longest): ([Int: ContinuousClock.Instant], [Int: Duration]) = ([:], [:])
            var hits = 0
            for _ in 1...Self.seconds {
                let end = ContinuousClock.now + .seconds(1)
                var (reads, failed) = (0, Set<Int>())
                while ContinuousClock.now < end {
                    for article in 0..<20 {
                        let start = ContinuousClock.now
                        do {
                            // The loader is the source of prices. A process that cannot reach the
                            // server loads by itself.
                            _ = try await cache.value(forKey: article) { Double(article) }
                            _ = try await cache.value(forKey: article, freshness: .confirmed)
                            if let began = since.removeValue(forKey: article) {
                                longest[article] = max(
                                    longest[article] ?? .zero,
                                    ContinuousClock.now - began
                                )
                            }
                        } catch {
                            failed.insert(article)
                            since[article] = since[article] ?? start
                        }
                        reads += 2
                    }
                    try await Task.sleep(for: .milliseconds(10))
                }
                let all = cache.statistics.nearHits
                print(
                    ([reads, all - hits] + failed.sorted()).map(String.init).joined(separator: " ")
                )
                fflush(nil)
                hits = all
            }
            print(
                longest.map { "\($0.key):\(Int($0.value / .milliseconds(1)))" }.joined(
                    separator: " "
                )
            )
            fflush(nil)
        }
    }
#endif
