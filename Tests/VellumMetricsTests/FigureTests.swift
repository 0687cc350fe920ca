import TestThreads
import Testing
import VellumCore

@testable import VellumMetrics
@testable import VellumRemote

/// What two moments become: the pure part, which needs no trait.
@Suite(.ownThreads)
struct FigureTests {
    @Test(
        arguments: [
            (Metric.Kind.counter, nil, 5, 5), (.counter, 5, 5, 0), (.counter, 5, 7, 2),
            (.counter, 7, 2, 2), (.counter, 7, 0, 0),
            (.seconds, 1_000, 3_000, 2_000), (.seconds, 3_000, 1_000, 1_000), (.gauge, nil, 5, 5),
            (.gauge, 7, 5, 5), (.gauge, 5, 0, 0),
            (.counter, 0, .max, .max), (.counter, .max, 1, 1),
        ] as [(Metric.Kind, Int?, Int, Int64)]
    )
    func countersReportTheirGrowthAndNeverGoBackAndGaugesArePresent(
        kind: Metric.Kind,
        before: Int?,
        now: Int,
        expected: Int64
    ) {
        var (earlier, later) = (Figures(), Figures())
        if let before { earlier.add("a", before, kind) }
        later.add("a", now, kind)
        #expect(later.changes(since: earlier).values.map(\.value) == [expected])
    }

    @Test func whatIsGoneIsNotReported() {
        var earlier = Figures()
        earlier.add("a", 5, .gauge)
        #expect(Figures().changes(since: earlier) == Figures())
    }

    @Test(
        arguments: [(1, 2, 3), (0, 0, 0), (.max, 1, .max), (.max, .max, .max)]
            as [(Int, Int, Int64)]
    )
    func sourcesOfOneNameAreAddedUp(first: Int, second: Int, sum: Int64) {
        var (all, other) = (Figures(), Figures())
        all.add("a", first)
        other.add("a", second)
        all.add(other)
        #expect(all.values.map(\.value) == [sum])
    }

    /// The metric that a counter of the statistics becomes.
    struct Case: Sendable {
        var name: String
        var dimension: String?
        var set: @Sendable (inout StoreStatistics) -> Void
    }

    static let cases: [Case] = [
        Case(name: "cache.hits", dimension: "memory") { $0.memoryHits = 7 },
        Case(name: "cache.hits", dimension: "disk") { $0.diskHits = 7 },
        Case(name: "cache.misses") { $0.misses = 7 },
        Case(name: "cache.puts") { $0.puts = 7 },
        Case(name: "cache.failures") { $0.failures = 7 },
        Case(name: "cache.memory.evictions") { $0.memoryEvictions = 7 },
        Case(name: "cache.evicted.size") { $0.evictedSize = DataSize(bytes: 7) },
        Case(name: "cache.removals", dimension: "evicted") { $0.removals[.evicted] = 7 },
        Case(name: "cache.removals", dimension: "limit_lowered") { $0.removals[.limitLowered] = 7 },
        Case(name: "cache.loads", dimension: "loaded") {
            ($0.loading.loads, $0.loading.failures) = (7, 0)
        },
        Case(name: "cache.loads", dimension: "failed") {
            ($0.loading.loads, $0.loading.failures) = (7, 7)
        },
        Case(name: "cache.loads", dimension: "joined") { $0.loading.joined = 7 },
        Case(name: "cache.load.time") { $0.loading.time = .nanoseconds(7) },
        Case(name: "cache.stale", dimension: "revalidating") {
            $0.loading.staleWhileRevalidating = 7
        },
        Case(name: "cache.stale", dimension: "error") { $0.loading.staleIfError = 7 },
        Case(name: "cache.stale", dimension: "slow") { $0.loading.staleIfSlow = 7 },
        Case(name: "cache.stale", dimension: "outage") { $0.loading.inOutage = 7 },
    ]

    @Test(arguments: cases.indices)
    func eachCounterIsOneMetricAndNoOther(index: Int) throws {
        let test = Self.cases[index]
        var (statistics, figures) = (StoreStatistics(), Figures())
        test.set(&statistics)
        figures.add(statistics, of: ["cache.name": "c"])
        let changed = figures.values.filter { $0.value != 0 }
        let metric = try #require(changed.keys.first)
        #expect(
            changed.count == 1 && changed[metric] == 7 && metric.label == test.name
                && metric.kind != .gauge
        )
        #expect(
            metric.dimensions.values.sorted()
                == (["c"] + [test.dimension].compactMap { $0 }).sorted()
        )
    }

    /// Prometheus asks for it, and a client of it ends the process otherwise.
    @Test func aMetricHasTheSameDimensionsWhereverItComesFrom() {
        let usage = StorageUsage(entries: 1, bytes: 2)
        let shared = SharedCacheStatistics(
            nearHits: 1,
            serverReads: 1,
            loading: LoadStatistics(),
            declinedFills: 1,
            loadsAfterLongestWait: 1,
            pendingRemovals: 1,
            memory: usage
        )
        var (figures, cache) = (Figures(), ["cache.name": "a", "cache.kind": "cache"])
        figures.add(StoreStatistics(), of: cache)
        figures.add(usage, Capacity(bytes: 9, entries: .max), in: "disk", of: cache)
        cache["cache.name"] = "b"
        figures.add(shared, of: cache)
        for (label, metrics) in Dictionary(grouping: figures.values.keys, by: \.label) {
            #expect(Set(metrics.map { $0.dimensions.keys.sorted() }).count == 1, "\(label)")
            #expect(Set(metrics.map(\.kind)).count == 1, "\(label)")
        }
    }

    @Test func anUnlimitedTierHasNoLimit() {
        var figures = Figures()
        figures.add(StorageUsage(entries: 1, bytes: 2), .unlimited, in: "disk", of: [:])
        #expect(Set(figures.values.keys.map(\.label)) == ["cache.entries", "cache.size"])
        figures.add(
            StorageUsage(entries: 1, bytes: 2),
            Capacity(bytes: 9, entries: .max),
            in: "disk",
            of: [:]
        )
        #expect(figures.values.first { $0.key.label == "cache.limit" }?.value == 9)
    }
}
