public import VellumCore

/// Counters of a shared cache in this process since it was made.
public struct SharedCacheStatistics: Hashable, Sendable {
    /// Reads that were answered from memory, without asking the server.
    public let nearHits: Int
    /// Answers of the server to reads and loads.
    public let serverReads: Int
    /// What loading has cost in this process.
    public let loading: LoadStatistics
    /// Loaded values that were not stored, because another caller set or removed the key, or took
    /// the lease.
    public let declinedFills: Int
    /// How many times the loader ran beside that of another process, because a caller had waited
    /// for `longestWait`. What it returned was not stored.
    public let loadsAfterLongestWait: Int
    /// Removals that the server may not have executed yet, now. They are sent again until it has.
    /// That of all values is one.
    public let pendingRemovals: Int
    /// How many values are remembered, and the sum of their bytes.
    public let memory: StorageUsage
}
