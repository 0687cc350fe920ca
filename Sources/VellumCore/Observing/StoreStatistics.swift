/// What a store did since it was opened, and what it holds.
public struct StoreStatistics: Hashable, Sendable {
    /// Reads answered from memory.
    public var memoryHits = 0
    /// Reads answered from the disk.
    public var diskHits = 0
    /// Reads that found nothing, or nothing valid.
    public var misses = 0
    /// Entries that left memory to keep its limit. They are still on disk, unless they lived in memory alone.
    public var memoryEvictions = 0
    /// Entries that left the store, by cause.
    public var removals: [RemovalCause: Int] = [:]
    /// Failures of which observers were told.
    public var failures = 0

    public var memory = StorageUsage()
    public var disk = StorageUsage()

    public init() {}

    /// The part of reads that were hits; 0 if there were none.
    public var hitRatio: Double {
        let hits = memoryHits + diskHits
        return hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
    }
}
