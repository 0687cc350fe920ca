#if Valkey
    import Foundation
    import MiniCacheValkey

    /// One process of the fleet: eight tasks that ask for prices, which take the shop 200 ms.
    struct Worker {
        static let seconds = 16
        private let number: Int
        private let cache: SharedCache<String, Double>
        private let counts = Counts()

        /// What happened in one second.
        actor Counts {
            private var (reads, slowest, failures) = (0, Duration.zero, 0)

            func add(_ duration: Duration, failed: Bool) {
                reads += 1
                slowest = max(slowest, duration)
                if failed { failures += 1 }
            }

            func next() -> (reads: Int, slowest: Duration, failures: Int) {
                defer { (reads, slowest, failures) = (0, .zero, 0) }
                return (reads, slowest, failures)
            }
        }

        init(number: Int, port: Int) throws {
            self.number = number
            let manager = SharedCacheManager(
                name: "Fleet",
                server: ValkeyServer(ValkeyConfiguration(host: "127.0.0.1", port: port))
            )
            cache = try manager.cache(
                cacheName: "prices",
                cacheVersion: .custom("1"),
                maxAge: .timeInterval(3)
            )
        }

        /// The slow source.
        private static func price(of article: String) async throws -> Double {
            try await Task.sleep(for: .milliseconds(200))
            return Double(article.count)
        }

        func run() async throws {
            let asking = (0..<8).map { _ in
                Task {
                    while !Task.isCancelled {
                        let article = "article \(Int.random(in: 0..<20))"
                        let start = ContinuousClock.now
                        var failed = false
                        do {
                            _ = try await cache.value(forKey: article) {
                                try await Self.price(of: article)
                            }
                        } catch {
                            failed = true
                        }
                        await counts.add(ContinuousClock.now - start, failed: failed)
                        try await Task.sleep(for: .microseconds(200))
                    }
                }
            }
            var before = cache.statistics
            for second in 1...Self.seconds {
                try await Task.sleep(for: .seconds(1))
                let (count, now) = (await counts.next(), cache.statistics)
                // A line for the conductor: second, process, reads, near hits, answers of the
                // server, loads, failures, slowest in ms.
                let fields = [
                    second, number, count.reads, now.nearHits - before.nearHits,
                    now.serverReads - before.serverReads,
                    now.loading.loads - before.loading.loads, count.failures,
                    Int(count.slowest / .milliseconds(1)),
                ]
                print(fields.map(String.init).joined(separator: " "))
                fflush(nil)
                before = now
            }
            for task in asking { task.cancel() }
        }
    }
#endif
