internal import VellumCore
internal import VellumRemote

/// A metric with its dimensions, which have no key and no value of a cache.
struct Metric: Hashable, Sendable {
    /// Timers and seconds are in nanoseconds.
    enum Kind { case counter, seconds, gauge, timer }

    var label: String
    var kind: Kind
    var dimensions: [String: String]
}

/// The figures of one moment, or what a report adds to counters and sets gauges to (decision 81).
struct Figures: Equatable, Sendable {
    var values: [Metric: Int64] = [:]

    /// Returns the present gauges, and by how much the counters grew. One that went back has begun
    /// again at zero.
    func changes(since earlier: Figures) -> Figures {
        var changes = self
        for (metric, value) in values where metric.kind != .gauge {
            let before = earlier.values[metric] ?? 0
            changes.values[metric] = value >= before ? value - before : value
        }
        return changes
    }

    /// Adds those of another source: archives of one name, in several files, are one series.
    mutating func add(_ other: Figures) {
        values.merge(other.values) {
            $0.addingReportingOverflow($1).overflow ? .max : $0 + $1
        }
    }

    mutating func add(
        _ label: String,
        _ value: Int,
        _ kind: Metric.Kind = .counter,
        _ dimensions: [String: String]...
    ) {
        values[
            Metric(
                label: label,
                kind: kind,
                dimensions: dimensions.reduce(into: [:]) {
                    $0.merge($1) { $1 }
                }
            )
        ] = Int64(value)
    }

    mutating func add(_ counters: StoreStatistics, of cache: [String: String]) {
        add("cache.hits", counters.memoryHits, .counter, cache, ["cache.tier": "memory"])
        add("cache.hits", counters.diskHits, .counter, cache, ["cache.tier": "disk"])
        add("cache.misses", counters.misses, .counter, cache)
        add("cache.puts", counters.puts, .counter, cache)
        add("cache.failures", counters.failures, .counter, cache)
        add("cache.memory.evictions", counters.memoryEvictions, .counter, cache)
        add("cache.evicted.size", counters.evictedSize.bytes, .counter, cache)
        for cause in RemovalCause.allCases {
            let reason = cause == .limitLowered ? "limit_lowered" : "\(cause)"
            add(
                "cache.removals",
                counters.removals[cause] ?? 0,
                .counter,
                cache,
                ["cache.reason": reason]
            )
        }
        add(counters.loading, of: cache)
    }

    mutating func add(_ shared: SharedCacheStatistics, of cache: [String: String]) {
        add("cache.hits", shared.nearHits, .counter, cache, ["cache.tier": "memory"])
        add("cache.server.reads", shared.serverReads, .counter, cache)
        add("cache.server.declined_fills", shared.declinedFills, .counter, cache)
        add("cache.server.loads_after_wait", shared.loadsAfterLongestWait, .counter, cache)
        add("cache.server.pending_removals", shared.pendingRemovals, .gauge, cache)
        add(shared.loading, of: cache)
        add(shared.memory, nil, in: "memory", of: cache)
    }

    private mutating func add(_ loads: LoadStatistics, of cache: [String: String]) {
        let results = [
            "loaded": loads.loads - loads.failures, "failed": loads.failures,
            "joined": loads.joined,
        ]
        for (result, count) in results {
            add("cache.loads", count, .counter, cache, ["cache.result": result])
        }
        let stale = [
            "revalidating": loads.staleWhileRevalidating, "error": loads.staleIfError,
            "slow": loads.staleIfSlow, "outage": loads.inOutage,
        ]
        for (reason, count) in stale {
            add("cache.stale", count, .counter, cache, ["cache.reason": reason])
        }
        add("cache.load.time", Int(loads.time.nanoseconds), .seconds, cache)
    }

    /// - Parameter limit: `.unlimited` is no metric.
    mutating func add(
        _ usage: StorageUsage,
        _ limit: Capacity?,
        in tier: String,
        of cache: [String: String]
    ) {
        add("cache.entries", usage.entries, .gauge, cache, ["cache.tier": tier])
        add("cache.size", usage.bytes, .gauge, cache, ["cache.tier": tier])
        if let limit, limit.bytes < .max {
            add("cache.limit", limit.bytes, .gauge, cache, ["cache.tier": tier])
        }
    }
}

extension Duration {
    /// Wraps after 292 years.
    var nanoseconds: Int64 {
        components.seconds &* 1_000_000_000 &+ components.attoseconds / 1_000_000_000
    }
}
