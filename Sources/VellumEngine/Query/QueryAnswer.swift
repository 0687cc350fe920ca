internal import VellumCore

/// The reads of one query. One thread at a time uses it.
final class QueryReads {
    /// How many snapshots were read so far.
    var snapshots = 0
    /// Returns whether the caller has cancelled the query; `nil` if it cannot be cancelled.
    @exclusivity(unchecked) var isCancelled: (() -> Bool)?

    init(isCancelled: (() -> Bool)? = nil) { self.isCancelled = isCancelled ?? Lane.cancellation }
}

/// What to ask the index, which depends on what it covers in the snapshot that is read.
///
/// A class, because generic calls between the query and the snapshot copy a structure again and
/// again.
final class IndexRequest: Sendable {
    /// The query if the index covers every entry.
    let whole: ColumnQuery
    /// The query if the index covers a part of the entries; `nil` if that part is of no use.
    let partial: ColumnQuery?
    /// Whether entries are of no use unless all are read at once.
    let isAtOnce: Bool

    init(whole: ColumnQuery, partial: ColumnQuery?, isAtOnce: Bool = false) {
        self.whole = whole
        self.partial = partial
        self.isAtOnce = isAtOnce
    }
}

/// The result of a query of the index.
struct QueryAnswer: Sendable {
    /// Whether the index covers every entry.
    var isWhole: Bool
    /// The ids of the entries that match, in order.
    var entryIDs: [Int64]
    /// Entries that are in the index's list of those without a place in it. They may match.
    var unindexed: [Int64]
    /// The unindexed entries that could not be decoded when they were last indexed.
    var undecodable: [Int64]
    /// The entries that are not indexed yet.
    var unbuilt: EntryScan?
    /// The first entries, from the same snapshot.
    var entries: [StoredEntry]
    /// How many ids `entries` covers, including those without an entry.
    var looked: Int
}
