#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import VellumCore
    import VellumTestSupport

    /// Writes its own keys, reads all, and compares what it reads with the oracle.
    final class Client: Sendable {
        struct Value: Codable {
            var version: UInt64
            var padding: Data
        }

        private let number: Int
        private let oracle: Oracle
        private let seed: UInt64
        private let trust: UInt64
        private let padding: Data
        private let fills: Bool
        private let options: LoadOptions
        private let values: SharedCache<Int, Value>
        private let loads: SharedCache<String, Int>
        private let removals: SharedCache<Int, Int>
        private let counts = Locked(FleetCounts())
        /// What was loaded last of each key, and when the call had returned that loaded it.
        private let loaded = Locked<[Int: (value: Int, returned: UInt64)]>([:])

        init(
            _ number: Int,
            _ oracle: String,
            seed: UInt64,
            trust: Int,
            padding: Int,
            fills: Bool,
            isCalm: Bool,
            server: [String]
        ) throws {
            (self.number, self.seed, self.trust, self.fills) = (
                number, seed &+ UInt64(number), UInt64(trust), fills
            )
            self.oracle = try Oracle(URL(fileURLWithPath: oracle))
            self.padding = Data(repeating: 7, count: padding)
            var configuration =
                server[0] == "cluster"
                ? ValkeyConfiguration(cluster: Array(server[1...]))
                : Int(server[0]).map { ValkeyConfiguration(host: "127.0.0.1", port: $0) }
                    ?? ValkeyConfiguration(sentinels: server, primaryName: "main")
            configuration.trust = .milliseconds(trust)
            configuration.outageMaxAge = .milliseconds(Oracle.outageMaxAge)
            if isCalm {
                let long = Duration.seconds(600)
                (configuration.connectTimeout, configuration.readTimeout) = (long, long)
                (configuration.writeTimeout, configuration.lease) = (long, long)
                configuration.longestWait = long
            }
            options = LoadOptions(loadTimeout: isCalm ? nil : .seconds(30))
            let manager = SharedCacheManager(name: "fleet", server: ValkeyServer(configuration))
            values = try manager.cache(
                cacheName: "values",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            loads = try manager.cache(
                cacheName: "loads",
                cacheVersion: .custom("1"),
                maxAge: .timeInterval(0.1)
            )
            removals = try manager.cache(
                cacheName: "removals",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        func run() async throws {
            let ticks = Task {
                while true {
                    try await Task.sleep(for: .milliseconds(100))
                    oracle.setNearHits(values.statistics.nearHits, of: number)
                    print("tick")
                    fflush(nil)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.write() }
                for task in 1...6 {
                    group.addTask {
                        await self.read(SeededGenerator(seed: self.seed &* 64 &+ UInt64(task)))
                    }
                }
                group.addTask { await self.load() }
                group.addTask { await self.remove() }
                if fills { group.addTask { await self.fill() } }
            }
            await compare()
            await compareRemovals()
            ticks.cancel()
            var all = counts.withLock { $0 }
            let (one, other) = (values.statistics, loads.statistics)
            all.nearHits = one.nearHits
            (all.loads, all.declined) = (other.loading.loads, other.declinedFills)
            print("end \(all.text)")
            fflush(nil)
        }

        /// Uses a server after the standard streams were closed. Returns which of them does not
        /// lead to `/dev/null` then, as bits.
        static func usesNoStream(port: Int) async -> Int32 {
            for stream: Int32 in 0...2 { close(stream) }
            do {
                let server = ValkeyServer(ValkeyConfiguration(host: "127.0.0.1", port: port))
                let cache: SharedCache<String, Int> = try SharedCacheManager(
                    name: "streams",
                    server: server
                ).cache(
                    cacheName: "numbers",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
                try await cache.set(1, forKey: "a")
                guard try await cache.value(forKey: "a", freshness: .confirmed) == 1 else {
                    return 8
                }
            } catch {
                return 16
            }
            var (null, status) = (stat(), stat())
            guard stat("/dev/null", &null) == 0 else { return 32 }
            return (0...2).reduce(0) {
                $0 | (fstat($1, &status) == 0 && status.st_rdev == null.st_rdev ? 0 : 1 << $1)
            }
        }

        private func pause(_ milliseconds: Int) async {
            // Nothing here is cancelled.
            do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch {}
        }

        private func count(_ change: (inout FleetCounts) -> Void) {
            counts.withLock { change(&$0) }
        }

        /// Measures a call, whose failures are expected while the fleet is disturbed.
        private func timed<Result: Sendable>(
            _ body: () async throws -> Result
        ) async -> Swift.Result<Result, VellumError> {
            let start = Oracle.now()
            let result: Swift.Result<Result, VellumError>
            do {
                result = .success(try await body())
                oracle.progressed(number)
            } catch {
                result = .failure(error as? VellumError ?? VellumError(.loadFailed, "\(error)"))
            }
            let took = Int(Oracle.now() - start)
            count { counts in
                counts.calls += 1
                counts.slowest = max(counts.slowest, took)
                if case .failure = result { counts.failures += 1 }
            }
            return result
        }

        // MARK: What it does

        private func write() async {
            var generator = SeededGenerator(seed: seed)
            let own = stride(from: number, to: Oracle.keys, by: Oracle.clients)
            for key in own { oracle.resume(key) }
            while !oracle.isQuiet {
                for key in own {
                    // The keys of the second half are removed now and then.
                    await write(
                        key,
                        removes: key >= Oracle.clients
                            && Int.random(in: 0..<10, using: &generator) == 0
                    )
                    await pause(3)
                }
            }
            oracle.writerStopped()
        }

        private func write(_ key: Int, removes: Bool) async {
            let version = oracle.issue(key)
            let outcome = await timed {
                if removes {
                    try await self.values.removeValue(forKey: key)
                } else {
                    try await self.values.set(
                        Value(version: version, padding: self.padding),
                        forKey: key
                    )
                }
            }
            if case .failure(let error) = outcome {
                // A set that was not sent is never executed.
                if removes || error.code != .unreachable { oracle.leaveOpen(key, version) }
                return
            }
            oracle.acknowledge(key, version, isRemoval: removes)
            count { $0.writes += 1 }
            let wasLoose = oracle.isLoose(key)
            guard
                case .success(let read) = await timed({ try await self.values.value(forKey: key) })
            else { return }
            if wasLoose || oracle.isLoose(key) { return }
            // Nobody else writes the key, so that this is what has to be there.
            if let read, read.version != version || removes, !oracle.isOpen(key, read.version) {
                count { $0.stale += 1 }
            }
            // A removal whose outcome is unknown may be executed later, so only keys that are never
            // removed show a loss.
            if read == nil, key < Oracle.clients { count { $0.lost += 1 } }
        }

        private func read(_ seeded: SeededGenerator) async {
            var generator = seeded
            while oracle.quietWriters < Oracle.clients {
                let key = Int.random(in: 0..<Oracle.keys, using: &generator)
                if Int.random(in: 0..<10, using: &generator) < 7 {
                    await readNear(key)
                } else {
                    await readConfirmed(key)
                }
                if Int.random(in: 0..<20, using: &generator) == 0 { await pause(1) }
            }
        }

        private func readNear(_ key: Int) async {
            let (floor, wasLoose) = (
                oracle.nearFloor(key, at: Oracle.now(), trust: trust), oracle.isLoose(key)
            )
            guard
                case .success(let read?) = await timed({ try await self.values.value(forKey: key) })
            else { return }
            if wasLoose || oracle.isLoose(key) { return }
            if read.version < floor, !oracle.isOpen(key, read.version) { count { $0.stale += 1 } }
        }

        private func readConfirmed(_ key: Int) async {
            let (floor, wasLoose) = (oracle.confirmedFloor(key), oracle.isLoose(key))
            guard
                case .success(let read?) = await timed({
                    try await self.values.value(forKey: key, freshness: .confirmed)
                })
            else {
                return
            }
            if wasLoose || oracle.isLoose(key) { return }
            if read.version < floor, !oracle.isOpen(key, read.version) {
                count { $0.confirmedStale += 1 }
            }
            oracle.confirmed(key, read.version)
        }

        /// Removes keys once each and never looks at them again, so that only the cache itself can
        /// send what failed.
        private func remove() async {
            var next = oracle.forgetRemovals(of: number)
            while next + 16 <= Oracle.removals, !oracle.isQuiet {
                let places = next..<next + 16
                next = places.upperBound
                // Many are set before, so that it is mostly a removal that fails. A set whose
                // outcome is unknown may be executed after it.
                var present: [Int] = []
                for place in places {
                    let key = number * Oracle.removals + place
                    if case .success = await timed({ try await self.removals.set(1, forKey: key) })
                    {
                        present.append(place)
                    }
                }
                for place in present {
                    let key = number * Oracle.removals + place
                    let outcome = await timed { try await self.removals.removeValue(forKey: key) }
                    oracle.removed(number, place)
                    // A later removal would send this one, too.
                    if case .failure = outcome { return }
                    await pause(5)
                }
            }
        }

        /// When the trouble is over, the removals of another process arrive.
        private func compareRemovals() async {
            let other = (number + 1) % Oracle.clients
            // Only on a busy machine they need more than seconds. What may be lost for good is not
            // waited for.
            let end = Oracle.now() + (oracle.losesRemovals ? 10_000 : 600_000)
            for place in 0..<Oracle.removals where oracle.isRemoved(other, place) {
                let key = other * Oracle.removals + place
                count { $0.removals += 1 }
                while true {
                    if case .success(nil) = await timed({
                        try await self.removals.value(forKey: key, freshness: .confirmed)
                    }) {
                        break
                    }
                    if Oracle.now() > end {
                        count { $0.unremoved += 1 }
                        break
                    }
                    await pause(20)
                }
            }
            oracle.compared()
            while oracle.clientsThatCompared < Oracle.clients, Oracle.now() < end + 20_000 {
                await pause(20)
            }
        }

        private func load() async {
            var generator = SeededGenerator(seed: seed &+ 1)
            while oracle.quietWriters < Oracle.clients {
                let key = Int.random(in: 0..<4, using: &generator)
                let begin = Oracle.now()
                let answer = await timed {
                    try await self.loads.load("\(key)", options: self.options) {
                        if self.oracle.loaderBegan(key) > 1 { self.count { $0.overlaps += 1 } }
                        await self.pause(20)
                        self.oracle.loaderEnded(key)
                        return Int(Oracle.now())
                    }
                }
                if case .success(let loaded) = answer, loaded.source == .loaded {
                    let returned = Oracle.now()
                    self.loaded.withLock { $0[key] = (loaded.value, returned) }
                }
                if case .success(let loaded) = answer, loaded.source == .loadedInOutage {
                    let last = self.loaded.withLock { $0[key] }
                    let isOld =
                        last?.value == loaded.value
                        && Oracle.isOlderThanOutagesAllow(last?.returned ?? begin, at: begin)
                    oracle.returnedInOutage()
                    count { counts in
                        counts.inOutage += 1
                        if isOld { counts.tooOldInOutage += 1 }
                    }
                }
                await pause(1)
            }
        }

        /// Sets what nobody reads, so that a full server has to evict.
        private func fill() async {
            var generator = SeededGenerator(seed: seed &+ 2)
            while !oracle.isQuiet {
                let key = Int.random(in: 1000..<1200, using: &generator)
                _ = await timed {
                    try await self.values.set(
                        Value(version: 0, padding: Data(count: 20_000)),
                        forKey: key
                    )
                }
                await pause(1)
            }
        }

        /// When nobody writes any more, what is remembered has to become what the server has.
        private func compare() async {
            for key in 0..<Oracle.keys {
                var attempts = 0
                while true {
                    let near = await timed { try await self.values.value(forKey: key) }
                    let confirmed = await timed {
                        try await self.values.value(forKey: key, freshness: .confirmed)
                    }
                    if case (.success(let one), .success(let other)) = (near, confirmed) {
                        if one?.version == other?.version { break }
                        attempts += 1
                        // Late writes are executed meanwhile. What is wrong for longer stays wrong.
                        if attempts == 20 {
                            count { $0.diverged += 1 }
                            break
                        }
                    }
                    await pause(Int(trust) / 2)
                }
            }
        }
    }
#endif
