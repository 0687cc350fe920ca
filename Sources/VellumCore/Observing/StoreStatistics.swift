/// Counters of a store since it was opened, and its present size.
public struct StoreStatistics: Hashable, Sendable {
    /// Reads answered from memory.
    public var memoryHits = 0
    /// Reads answered from the disk.
    public var diskHits = 0
    /// Reads that found no entry, or no valid entry.
    public var misses = 0
    /// Entries that memory evicted to keep its limit. They are still on disk, unless they were
    /// memory-only.
    public var memoryEvictions = 0
    /// Entries that were removed from the store, by reason.
    public var removals: [RemovalCause: Int] = [:]
    /// Values that were recorded, or given a new date because a loader said that they are
    /// unchanged.
    public var puts = 0
    /// Encoded bytes of the entries that this process evicted from the disk to keep its limit.
    public var evictedSize = DataSize(bytes: 0)
    /// Failures that were reported to observers.
    public var failures = 0
    /// What loading missing values has cost.
    public var loading = LoadStatistics()

    /// What the hit ratio would be with other limits; `nil` before about a thousand reads. Not a
    /// counter.
    public var sizing: Sizing?

    /// What memory holds now.
    public var memory = StorageUsage()
    /// What the disk holds now.
    public var disk = StorageUsage()

    /// Awaited calls that wait for a thread, of all archives of the process: reads, queries and
    /// closures. Not counters.
    public var waitingCalls = WaitingCalls()
    /// Awaited calls that wait for their turn to write to the file of the archive. Not counters.
    public var waitingWrites = WaitingCalls()

    /// Creates counters that are all zero.
    public init() {}

    /// The fraction of reads that were hits, from 0 to 1; 0 if there were no reads.
    public var hitRatio: Double {
        let hits = Double(memoryHits) + Double(diskHits)
        let reads = Double(memoryHits) + Double(diskHits) + Double(misses)
        return reads == 0 ? 0 : hits / reads
    }
}

extension StoreStatistics: CustomStringConvertible {
    /// The counters in one line to read.
    public var description: String {
        let removed = RemovalCause.allCases.compactMap { cause in
            removals[cause].map { "\($0) \(cause)" }
        }
        let parts = [
            "memory: \(memory)", "disk: \(disk)", "\(memoryHits) memory hits",
            "\(diskHits) disk hits", "\(misses) misses",
            "\(memoryEvictions) evicted from memory",
            "removed: \(removed.isEmpty ? "none" : removed.joined(separator: ", "))",
            "\(puts) puts", "\(evictedSize) evicted from the disk", "\(failures) failures",
            "\(loading)",
        ]
        return parts.joined(separator: "; ")
    }
}
