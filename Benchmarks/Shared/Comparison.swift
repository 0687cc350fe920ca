#if Valkey
    import Foundation
    import MiniCacheValkey
    import VellumCore
    import VellumRemote
    import VellumValkey

    /// Times of one server and of the process beside each other. Values have 100 bytes.
    struct Comparison {
        private let port = Int.random(in: 20_000..<30_000)
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "SharedBenchmark-\(UUID().uuidString)"
        )
        private let value = Data(repeating: 7, count: 100)

        private func process(_ arguments: [String], output: Any?) throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
            process.standardOutput = output
            try process.run()
            return process
        }

        private func cache(
            _ trust: Duration = .seconds(1),
            cluster: [Int] = []
        ) throws -> SharedCache<String, Data> {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: port)
            configuration.clusterNodes = cluster.map { "127.0.0.1:\($0)" }
            (configuration.trust, configuration.readTimeout, configuration.writeTimeout) = (
                trust, .seconds(10), .seconds(10)
            )
            return try SharedCacheManager(name: "bench", server: ValkeyServer(configuration)).cache(
                cacheName: "values",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        func run() async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer {
                do { try FileManager.default.removeItem(at: folder) } catch {
                    print("The folder remains: \(folder.path)")
                }
            }
            var server = try startServer()
            defer { kill(server.processIdentifier, SIGKILL) }
            let link = Link(
                to: ServerConfiguration(host: "127.0.0.1", port: port),
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            while true {
                do {
                    _ = try await cache().value(forKey: "ready")
                    _ = try await link.call(RESPCommand("SET", "plain", value), within: 10_000)
                    break
                } catch { try await Task.sleep(for: .milliseconds(20)) }
            }
            print(
                """
                what                                             median       p99.9         max   \
                in its unit; ratios with their limits\n
                """
            )
            try await nearHits()
            if CommandLine.arguments.contains("near") { return }
            try await roundTrips(link)
            try await throughput()
            try await shards()
            try await visibility()
            try await silence(server)
            try await comeback(&server)
            print("\nvalkey-swift: not run (no package of it here).")
        }

        private func startServer() throws -> Process {
            try process(
                [
                    "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir",
                    folder.path, "--save", "",
                ],
                output: FileHandle.nullDevice
            )
        }

        // MARK: Figures

        private struct Times {
            let sorted: [Double]
            var median: Double { sorted[sorted.count / 2] }

            init(_ durations: [Duration], unit: Duration) {
                sorted = durations.map { $0 / unit }.sorted()
            }
        }

        private func say(_ name: String, _ times: Times, _ unit: String) {
            let figures = [
                times.median, times.sorted[times.sorted.count * 999 / 1000],
                times.sorted[times.sorted.count - 1],
            ]
            print(
                name.padding(toLength: 44, withPad: " ", startingAt: 0),
                figures.map { String(format: "%10.2f", $0) }.joined(separator: "  "),
                unit
            )
        }

        private func say(_ name: String, ratio: Double, _ limit: Double, atLeast: Bool = false) {
            let isMet = atLeast ? ratio >= limit : ratio <= limit
            print(
                "  … \(name)".padding(toLength: 44, withPad: " ", startingAt: 0),
                String(
                    format: "%10.2f × %@ %.2f%@",
                    ratio,
                    atLeast ? "≥" : "≤",
                    limit,
                    isMet ? "" : " NOT MET"
                )
            )
        }

        /// Rounds of so many calls each, so that the clock costs nothing.
        private func rounds(
            _ count: Int,
            of calls: Int,
            _ body: () async throws -> Void
        ) async throws -> [Duration] {
            var durations: [Duration] = []
            for _ in 0..<count {
                let start = ContinuousClock.now
                for _ in 0..<calls { try await body() }
                durations.append((ContinuousClock.now - start) / calls)
            }
            return durations
        }

        private func nearHits() async throws {
            let shared = try cache(.seconds(60))
            try await shared.set(value, forKey: "key")
            for _ in 0..<100 { _ = try await shared.value(forKey: "key") }
            let local: MiniCache<String, Data> = MiniCacheManager(name: "local", directory: folder)
                .cache(
                    cacheName: "values",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
            try local.set(value, forKey: "key")
            var (near, hits): ([Duration], [Duration]) = ([], [])
            for _ in 0..<20 {
                near += try await rounds(50, of: 1000) { _ = try await shared.value(forKey: "key") }
                hits += try await rounds(50, of: 1000) { _ = try local.value(forKey: "key") }
            }
            let (one, other) = (
                Times(near, unit: .nanoseconds(1)), Times(hits, unit: .nanoseconds(1))
            )
            say("Near hit of a shared cache", one, "ns")
            say("Hit in memory of a MiniCache", other, "ns")
            say("near hit to hit", ratio: one.median / other.median, 1.35)
        }

        private func roundTrips(_ link: Link) async throws {
            let shared = try cache()
            try await shared.set(value, forKey: "key")
            var (reads, bare, sets, bareSets, synchronous):
                ([Duration], [Duration], [Duration], [Duration], [Duration]) = (
                    [], [], [], [], []
                )
            // In turns, so that the machine treats all alike.
            for _ in 0..<20 {
                reads += try await rounds(200, of: 1) {
                    _ = try await shared.value(forKey: "key", freshness: .confirmed)
                }
                bare += try await rounds(200, of: 1) {
                    _ = try await link.call(RESPCommand("GET", "plain"), within: 10_000)
                }
                sets += try await rounds(200, of: 1) { try await shared.set(value, forKey: "key") }
                bareSets += try await rounds(200, of: 1) {
                    _ = try await link.call(RESPCommand("SET", "plain", value), within: 10_000)
                }
                synchronous += try hiredis(200)
            }
            let unit = Duration.microseconds(1)
            let times = (
                Times(reads, unit: unit), Times(bare, unit: unit), Times(sets, unit: unit),
                Times(bareSets, unit: unit)
            )
            say("Confirmed read", times.0, "µs")
            say("GET by the bare connection", times.1, "µs")
            say("confirmed read to GET", ratio: times.0.median / times.1.median, 1.15)
            if synchronous.isEmpty {
                print("hiredis: not run (no libhiredis here)")
            } else {
                let hiredis = Times(synchronous, unit: unit)
                say("GET by hiredis, synchronous", hiredis, "µs")
                say("confirmed read to hiredis", ratio: times.0.median / hiredis.median, 1.9)
            }
            say("set (a script)", times.2, "µs")
            say("SET by the bare connection", times.3, "µs")
            say("set to SET", ratio: times.2.median / times.3.median, 1.3)
        }

        /// Reads with hiredis, by a program of its own; nothing without it.
        private func hiredis(_ count: Int) throws -> [Duration] {
            guard let program = ProcessInfo.processInfo.environment["HIREDIS"],
                FileManager.default.isExecutableFile(atPath: program)
            else {
                return []
            }
            let output = Pipe()
            let reader = try process([program, "\(port)", "plain", "\(count)"], output: output)
            let text = String(
                decoding: try output.fileHandleForReading.readToEnd() ?? Data(),
                as: UTF8.self
            )
            reader.waitUntilExit()
            return text.split(separator: "\n").compactMap { Int($0) }.map { .nanoseconds($0) }
        }

        private func readsPerSecond(
            _ shared: SharedCache<String, Data>,
            tasks: Int
        ) async throws -> Double {
            let (each, start) = (60_000 / max(tasks, 4), ContinuousClock.now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in 0..<each {
                            _ = try await shared.value(
                                forKey: "key \((task + number) % 100)",
                                freshness: .confirmed
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            return Double(each * tasks) / ((ContinuousClock.now - start) / .seconds(1))
        }

        private func throughput() async throws {
            let shared = try cache()
            for key in 0..<100 { try await shared.set(value, forKey: "key \(key)") }
            let (one, many) = (
                try await readsPerSecond(shared, tasks: 1),
                try await readsPerSecond(shared, tasks: 64)
            )
            let output = Pipe()
            let benchmark = try process(
                [
                    "redis-benchmark", "-p", "\(port)", "-c", "16", "-P", "16", "-n", "200000",
                    "-d", "100", "-t", "set,get", "-q", "--csv",
                ],
                output: output
            )
            let text = String(
                decoding: try output.fileHandleForReading.readToEnd() ?? Data(),
                as: UTF8.self
            )
            benchmark.waitUntilExit()
            let rate = text.split(separator: "\n").last?.split(separator: ",").dropFirst().first
                .flatMap {
                    Double($0.filter { $0 != "\"" })
                }
            print(
                String(
                    format:
                        """
                        \nConfirmed reads, 1 task %26.0f a second\nConfirmed reads, 64 tasks \
                        %25.0f a second
                        """,
                    one,
                    many
                )
            )
            say("64 tasks to one", ratio: many / one, 8, atLeast: true)
            guard let rate else { return print("redis-benchmark: not run") }
            print(String(format: "redis-benchmark -c 16 -P 16 %23.0f a second", rate))
            say("64 tasks to redis-benchmark", ratio: many / rate, 0.5, atLeast: true)
        }

        /// What a confirmed read costs over three primaries, beside one server: in time of the
        /// processor, because two cores show no more.
        private func shards() async throws {
            let ports = (1...3).map { port + 10 * $0 }
            let nodes = try ports.map { port in
                let place = folder.appendingPathComponent("\(port)")
                try FileManager.default.createDirectory(
                    at: place,
                    withIntermediateDirectories: true
                )
                return try process(
                    [
                        "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir",
                        place.path, "--save", "",
                    ]
                        + ["--cluster-enabled", "yes", "--cluster-port", "\(port + 5)"],
                    output: FileHandle.nullDevice
                )
            }
            defer { for node in nodes { kill(node.processIdentifier, SIGKILL) } }
            var isMade = false
            for _ in 0..<50 where !isMade {
                let maker = try process(
                    ["redis-cli", "--cluster", "create"] + ports.map { "127.0.0.1:\($0)" } + [
                        "--cluster-yes"
                    ],
                    output: FileHandle.nullDevice
                )
                maker.waitUntilExit()
                isMade = maker.terminationStatus == 0
                if !isMade { try await Task.sleep(for: .milliseconds(100)) }
            }
            let (one, three) = (try cache(), try cache(cluster: ports))
            for key in 0..<100 {
                try await one.set(value, forKey: "key \(key)")
                // Its nodes take two seconds until they work.
                while true {
                    do {
                        try await three.set(value, forKey: "key \(key)")
                        break
                    } catch { try await Task.sleep(for: .milliseconds(100)) }
                }
            }
            func processorTime() -> Double {
                var usage = rusage()
                getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
                return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(
                    usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
                ) / 1e6
            }
            var costs: ([Double], [Double]) = ([], [])
            for _ in 0..<9 {
                let times = [
                    processorTime(),
                    try await {
                        _ = try await readsPerSecond(one, tasks: 64); return processorTime()
                    }(),
                ]
                _ = try await readsPerSecond(three, tasks: 64)
                costs.0.append(times[1] - times[0])
                costs.1.append(processorTime() - times[1])
            }
            let (single, cluster) = (costs.0.sorted()[4], costs.1.sorted()[4])
            print(
                String(
                    format:
                        """
                        \nA confirmed read of 64 tasks: %.1f µs of the processor, over three \
                        primaries %.1f µs
                        """,
                    single / 0.06,
                    cluster / 0.06
                )
            )
            say("over three primaries to one server", ratio: cluster / single, 1.15)
        }

        /// How long others return the old value after a set was acknowledged, and how many loaders
        /// run for many programs.
        private func visibility() async throws {
            let (writer, reader) = (try cache(), try cache())
            var durations: [Duration] = []
            for number in 0..<500 {
                let new = value + withUnsafeBytes(of: number) { Data($0) }
                _ = try await reader.value(forKey: "shown")
                try await writer.set(new, forKey: "shown")
                let start = ContinuousClock.now
                while try await reader.value(forKey: "shown") != new {}
                durations.append(ContinuousClock.now - start)
            }
            print("")
            let times = Times(durations, unit: .milliseconds(1))
            say("A set is seen by another program", times, "ms")
            say("its p99, in ms", ratio: times.sorted[times.sorted.count * 99 / 100], 5)
            let programs = try (0..<16).map { _ in try cache() }
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for program in programs {
                    group.addTask {
                        _ = try await program.value(forKey: "slow") {
                            try await Task.sleep(for: .milliseconds(100))
                            return Data()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let took = (ContinuousClock.now - start) / .milliseconds(1)
            say(
                "loaders of 16 programs",
                ratio: Double(programs.reduce(0) { $0 + $1.statistics.loading.loads }),
                1
            )
            print(
                String(format: "  … all have the value after %.1f ms of a loader of 100 ms", took)
            )
        }

        /// For how long near hits go on when the server says nothing any more.
        private func silence(_ server: Process) async throws {
            var longest = Duration.zero
            for _ in 0..<5 {
                let shared = try cache()
                try await shared.set(value, forKey: "silent")
                while shared.statistics.nearHits == 0 {
                    _ = try await shared.value(forKey: "silent")
                }
                let start = ContinuousClock.now
                kill(server.processIdentifier, SIGSTOP)
                var last = start
                while true {
                    let before = shared.statistics.nearHits
                    let reading = Task { try await shared.value(forKey: "silent") }
                    // A near hit takes less than a microsecond, and the server does not answer.
                    try await Task.sleep(for: .milliseconds(1))
                    guard shared.statistics.nearHits > before else {
                        reading.cancel()
                        break
                    }
                    last = ContinuousClock.now
                }
                kill(server.processIdentifier, SIGCONT)
                longest = max(longest, last - start)
            }
            print("")
            say("near hits of a silent server, in ms", ratio: longest / .milliseconds(1), 1000)
        }

        /// How soon a process reads again after the server was away for 300 ms.
        private func comeback(_ server: inout Process) async throws {
            let shared = try cache()
            _ = try await shared.value(forKey: "back")
            kill(server.processIdentifier, SIGKILL)
            server.waitUntilExit()
            try await Task.sleep(for: .milliseconds(300))
            server = try startServer()
            var answers = false
            while !answers {
                let ping = try process(
                    ["redis-cli", "-p", "\(port)", "ping"],
                    output: FileHandle.nullDevice
                )
                ping.waitUntilExit()
                answers = ping.terminationStatus == 0
            }
            let start = ContinuousClock.now
            while true {
                do {
                    _ = try await shared.value(forKey: "back")
                    break
                } catch { try await Task.sleep(for: .milliseconds(1)) }
            }
            // Four attempts to connect: the last one waits for 400 ms at most.
            say(
                "first answer of a server that is back, in ms",
                ratio: (ContinuousClock.now - start) / .milliseconds(1),
                500
            )
        }
    }
#endif
