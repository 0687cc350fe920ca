#if Metrics
    import Foundation
    import MetricsTestKit
    import MiniCache
    import TestThreads
    import Testing
    import Vellum
    import VellumCore
    import VellumEngine
    import VellumMetrics
    import VellumTestSupport

    private struct User: ArchiveCodable, Sendable {
        static var archiveName: String { "User" }
        var primaryKey: String { name }
        var name: String
    }

    /// What a backend gets of archives and caches that are opened, closed, opened again and
    /// released.
    @Suite(.ownThreads)
    struct ReporterTests {
        private let metrics = TestMetrics()
        private let reporter: MetricsReporter
        private let folder: TemporaryDirectory
        private let own = [("cache.kind", "archive"), ("cache.name", "User")]

        init() throws {
            folder = try TemporaryDirectory()
            reporter = MetricsReporter(factory: metrics)
        }

        private func open() throws -> ArchiveStore<User> {
            try ArchivesFactory(directory: folder.url).store(for: User.self, diskLimit: 1.megaByte)
        }

        private func hits(_ tier: String = "memory") -> Int64 {
            metrics.counterTotal(label: "cache.hits", dimensions: own + [("cache.tier", tier)])
        }

        private func gauge(_ label: String, _ tier: String) -> Double? {
            metrics.meters(label: label, dimensions: own + [("cache.tier", tier)]).first?.lastValue
        }

        @Test func aReportAddsWhatHasHappenedSinceTheLast() throws {
            let users = try open()
            reporter.add(users)
            try users.record(User(name: "secret"))
            for hits in [3, 0, 2] {
                for _ in 0..<hits { _ = try users.access(archiveWithKey: "secret") }
                reporter.report()
            }
            _ = try users.access(archiveWithKey: "hidden")
            reporter.report()
            #expect(
                hits() == 5 && metrics.counterTotal(label: "cache.misses", dimensions: own) == 1
            )
            #expect(
                gauge("cache.entries", "disk") == 1
                    && gauge("cache.limit", "disk") == Double(1.megaByte.bytes)
            )
            let size = try #require(metrics.meters(label: "vellum.file.size").first)
            #expect(
                try #require(size.lastValue) > 0 && size.dimensions.map(\.1) == ["Archives.sqlite"]
            )
            #expect(metrics.meters(label: "vellum.file.waiting_writers").first?.lastValue == 0)
            let texts =
                (metrics.counters.map { "\($0.label) \($0.dimensions)" }
                + metrics.meters.map { "\($0.label) \($0.dimensions)" })
                .joined()
            #expect(!texts.contains("secret") && !texts.contains("hidden"))
        }

        @Test func anArchiveThatIsAddedTwiceOrByTwoHandlesCountsOnce() throws {
            let factory = ArchivesFactory(directory: folder.url)
            let (first, second) = (
                try factory.store(for: User.self), try factory.store(for: User.self)
            )
            for handle in [first, first, second] { reporter.add(handle) }
            for handle in [first, second] { _ = try handle.access(archiveWithKey: "a") }
            reporter.report()
            #expect(metrics.counterTotal(label: "cache.misses", dimensions: own) == 2)
            #expect(metrics.meters(label: "vellum.file.size").count == 1)
        }

        @Test func twoArchivesOfOneNameAreOneSeries() throws {
            let other = try TemporaryDirectory()
            for directory in [folder.url, other.url] {
                let users = try ArchivesFactory(directory: directory).store(for: User.self)
                reporter.add(users)
                try users.record(User(name: "a"))
                reporter.report()
                _ = try users.access(archiveWithKey: "a")
                reporter.report()
                try users.close()
            }
            #expect(hits() == 2)
        }

        @Test func countersGoOnAndGaugesEndWhenAnArchiveIsClosedAndBeginAgainWhenItIsOpened() throws
        {
            for round in 1...3 {
                let users = try open()
                reporter.add(users)
                try users.record(User(name: "a"))
                for _ in 0..<3 { _ = try users.access(archiveWithKey: "a") }
                reporter.report()
                #expect(gauge("cache.entries", "disk") == 1)
                _ = try users.access(archiveWithKey: "a")
                let last = try #require(
                    metrics.meters(label: "cache.size", dimensions: own + [("cache.tier", "disk")])
                        .first
                )
                try users.close()
                reporter.report()
                #expect(hits() == 4 * Int64(round))
                #expect(metrics.meters.isEmpty && last.lastValue == 0)
            }
        }

        @Test func aReleasedArchiveIsReportedNoMoreAndItsFileIsClosed() throws {
            weak var released: ArchiveStore<User>?
            do {
                let users = try open()
                released = users
                reporter.add(users)
                reporter.report()
                #expect(!metrics.meters.isEmpty)
            }
            reporter.report()
            #expect(released == nil && metrics.meters.isEmpty)
            // The last handle that closes removes the log.
            blockUntil("the file is closed") {
                !FileManager.default.fileExists(atPath: folder.file("Archives.sqlite-wal").path)
            }
        }

        @Test func aSuspendedFileLeavesOutItsDiskAndComesBack() throws {
            let factory = ArchivesFactory(directory: folder.url)
            let users = try factory.store(for: User.self)
            reporter.add(users)
            try users.record(User(name: "a"))
            try factory.suspend()
            reporter.report()
            #expect(gauge("cache.entries", "disk") == nil && gauge("cache.entries", "memory") == 1)
            try factory.resume()
            reporter.report()
            #expect(gauge("cache.entries", "disk") == 1)
        }

        @Test func aCacheIsReportedThroughEveryHandle() throws {
            let manager = MiniCacheManager(name: "m", directory: folder.url)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "Counter",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            let same: MiniCache<String, Int> = manager.cache(
                cacheName: "Counter",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            reporter.add(cache)
            reporter.add(same)
            cache["a"] = 1
            _ = (cache["a"], same["a"])
            reporter.report()
            let dimensions = [("cache.kind", "cache"), ("cache.name", "Counter")]
            #expect(
                metrics.counterTotal(
                    label: "cache.hits",
                    dimensions: dimensions + [("cache.tier", "memory")]
                ) == 2
            )
            #expect(metrics.counterTotal(label: "cache.puts", dimensions: dimensions) == 1)
            try manager.close()
            reporter.report()
            #expect(metrics.meters.isEmpty)
        }
    }
#endif
