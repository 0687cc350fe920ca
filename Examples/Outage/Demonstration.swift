#if Metrics
    import CoreMetrics
    import Foundation
    import MiniCache
    import Synchronization
    import VellumMetrics

    /// What the source does for ten seconds.
    enum Phase: String, CaseIterable {
        case works, hangs, fails, recovered
    }

    /// The source of the cache: 20 to 60 milliseconds for an answer, if there is one.
    final class Source: Sendable {
        struct Down: Error {}

        private let phase = Mutex(Phase.works)
        func set(_ new: Phase) { phase.withLock { $0 = new } }

        func price(of item: Int) async throws -> Int {
            switch phase.withLock({ $0 }) {
            case .works, .recovered: try await Task.sleep(for: .milliseconds(20 + item % 41))
            case .hangs: try await Task.sleep(for: .seconds(3600))
            case .fails:
                try await Task.sleep(for: .milliseconds(5))
                throw Down()
            }
            return item
        }
    }

    /// What the metrics showed for half a second, a second.
    struct Sample {
        var time: Double
        var requests = 0.0
        var loaded = 0.0
        var failed = 0.0
        var revalidating = 0.0
        var slow = 0.0
        var error = 0.0
        /// In milliseconds.
        var p50 = 0.0
        var p99 = 0.0
        var errors = 0.0
    }

    struct Demonstration: Sendable {
        let folder: URL
        private let source = Source()
        private let metrics = MemoryMetrics()
        static let secondsOfPhase = 10.0
        private let clock = ContinuousClock()

        init(folder: URL) { self.folder = folder }

        func run() async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            MetricsSystem.bootstrap(metrics)
            let manager = MiniCacheManager.inMemory()
            let prices: MiniCache<Int, Int> = manager.cache(
                cacheName: "prices",
                cacheVersion: .custom("1"),
                maxAge: .seconds(3)
            )
            let reporter = MetricsReporter()
            reporter.add(prices)
            // Not all end together.
            let age = try Expiration(validating: .seconds(3), jitter: 0.6)
            let requests = Task { await sendRequests(to: prices, age) }
            let samples = try await samples(reporter)
            requests.cancel()
            await requests.value
            for (name, theme) in [("outage.svg", Chart.Theme.light), ("outage~dark.svg", .dark)] {
                try Data(Chart(samples: samples, theme: theme).svg.utf8).write(
                    to: folder.appending(path: name)
                )
            }
            printTable(samples)
            try manager.close()
        }

        /// 200 requests a second for 60 items in turn, whatever the answers take.
        private func sendRequests(to prices: MiniCache<Int, Int>, _ age: Expiration) async {
            let (timer, errors) = (
                CoreMetrics.Timer(label: "http.server.request.duration"), Counter(label: "errors")
            )
            let options = LoadOptions(
                expiration: age,
                errorMaxAge: .seconds(1),
                softTimeout: .milliseconds(150),
                timeout: .seconds(2),
                loadTimeout: .seconds(2)
            )
            await withDiscardingTaskGroup { group in
                let start = clock.now
                for number in 0... {
                    do { try await clock.sleep(until: start + .milliseconds(5) * number) } catch {
                        return group.cancelAll()
                    }
                    group.addTask { [source, clock] in
                        let (item, begin) = (number * 7 % 60, clock.now)
                        do {
                            _ = try await prices.value(
                                forKey: item,
                                staleWhileRevalidate: .seconds(2),
                                staleIfError: .seconds(60),
                                options: options
                            ) { try await source.price(of: item) }
                        } catch {
                            errors.increment()
                        }
                        let (seconds, attoseconds) = (clock.now - begin).components
                        timer.recordNanoseconds(
                            seconds * 1_000_000_000 + attoseconds / 1_000_000_000
                        )
                    }
                }
            }
        }

        private func samples(_ reporter: MetricsReporter) async throws -> [Sample] {
            let names = [
                "cache.loads loaded", "cache.loads failed", "cache.stale revalidating",
                "cache.stale slow", "cache.stale error", "errors",
            ]
            var (samples, last, start) = ([Sample](), names.map { _ in 0.0 }, clock.now)
            // The first values are there before the picture begins.
            try await Task.sleep(for: .seconds(6))
            (start, last) = (clock.now, totals(names, reporter))
            _ = metrics.takeDurations()
            let count = Int(Self.secondsOfPhase * 2) * Phase.allCases.count
            for number in 1...count {
                let time = Double(number) / 2
                source.set(Phase.allCases[min(3, Int((time - 0.25) / Self.secondsOfPhase))])
                try await clock.sleep(until: start + .milliseconds(500) * number)
                let (now, durations) = (totals(names, reporter), metrics.takeDurations().sorted())
                let each = zip(now, last).map { ($0 - $1) * 2 }
                func quantile(_ part: Double) -> Double {
                    durations.isEmpty
                        ? 0 : Double(durations[Int(Double(durations.count - 1) * part)]) / 1e6
                }
                samples.append(
                    Sample(
                        time: time,
                        requests: Double(durations.count) * 2,
                        loaded: each[0],
                        failed: each[1],
                        revalidating: each[2],
                        slow: each[3],
                        error: each[4],
                        p50: quantile(0.5),
                        p99: quantile(0.99),
                        errors: each[5]
                    )
                )
                last = now
            }
            return samples
        }

        private func totals(_ names: [String], _ reporter: MetricsReporter) -> [Double] {
            reporter.report()
            return names.map(metrics.total)
        }

        private func printTable(_ samples: [Sample]) {
            print("source       requests/s  loads/s  failed/s  stale/s  p50 ms  p99 ms  errors")
            for (index, phase) in Phase.allCases.enumerated() {
                let own = samples.filter { Int(($0.time - 0.25) / Self.secondsOfPhase) == index }
                func mean(_ value: (Sample) -> Double) -> Double {
                    own.map(value).reduce(0, +) / Double(own.count)
                }
                let row = [
                    mean(\.requests), mean { $0.loaded + $0.failed }, mean(\.failed),
                    mean { $0.revalidating + $0.slow + $0.error },
                ]
                let cells =
                    row.map { String(format: "%9.1f", $0) } + [
                        String(format: "%7.2f", own.map(\.p50).sorted()[own.count / 2]),
                        String(format: "%7.1f", own.map(\.p99).max() ?? 0),
                        String(format: "%7.0f", own.map(\.errors).reduce(0, +) / 2),
                    ]
                print(
                    phase.rawValue.padding(toLength: 13, withPad: " ", startingAt: 0)
                        + cells.joined(separator: " ")
                )
            }
        }
    }
#endif
