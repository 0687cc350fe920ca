public import Foundation
public import VellumCore

/// An entry that a query has read.
@usableFromInline package struct StoredEntry: Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var entry: Entry
    /// Whether it matches its checksum.
    @usableFromInline package var isIntact: Bool

    @usableFromInline package init(key: EntryKey, entry: Entry, isIntact: Bool) {
        self.key = key
        self.entry = entry
        self.isIntact = isIntact
    }
}

/// The size of a batch of reads.
@usableFromInline package struct ReadLimit: Sendable {
    @usableFromInline package var entries: Int
    @usableFromInline package var bytes: Int

    @usableFromInline package init(entries: Int, bytes: Int = 4 << 20) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What an index covers in a snapshot.
@usableFromInline package struct IndexCoverage: Sendable {
    /// Whether there is an index of the declared shape.
    @usableFromInline package var isUsable: Bool
    /// Whether it covers every entry.
    @usableFromInline package var isWhole: Bool

    @usableFromInline package init(isUsable: Bool, isWhole: Bool) {
        self.isUsable = isUsable
        self.isWhole = isWhole
    }
}

/// What to ask the index, which depends on what it covers in the snapshot that is read.
@usableFromInline package struct IndexRequest: Sendable {
    /// The query if the index covers every entry.
    @usableFromInline package var whole: ColumnQuery
    /// The query if the index covers a part of the entries; `nil` if that part is of no use.
    @usableFromInline package var partial: ColumnQuery?

    @usableFromInline package init(whole: ColumnQuery, partial: ColumnQuery?) {
        self.whole = whole
        self.partial = partial
    }

    func query(for coverage: IndexCoverage) -> ColumnQuery? { coverage.isWhole ? whole : coverage.isUsable ? partial : nil }
}

/// The result of a query of the index.
@usableFromInline package struct QueryAnswer: Sendable {
    /// The query that was run.
    @usableFromInline package var query: ColumnQuery
    /// Whether the index covers every entry.
    @usableFromInline package var isWhole: Bool
    /// The ids of the entries that match, in order.
    @usableFromInline package var entryIDs: [Int64]
    /// Entries that are in the index's list of those without a place in it. They may match.
    @usableFromInline package var unindexed: [Int64]
    /// The unindexed entries that could not be decoded when they were last indexed.
    @usableFromInline package var undecodable: [Int64]
    /// The entries that are not indexed yet.
    @usableFromInline package var unbuilt: UnbuiltRows?
    /// The first entries, from the same snapshot.
    @usableFromInline package var entries: [StoredEntry]
    /// How many ids `entries` covers, including those without an entry.
    @usableFromInline package var looked: Int
}

/// A range of entries that are not indexed yet.
@usableFromInline package struct UnbuiltRows: Hashable, Sendable {
    @usableFromInline package var after: Int64
    @usableFromInline package var through: Int64

    @usableFromInline package init(after: Int64, through: Int64) {
        self.after = after
        self.through = through
    }
}

/// The result of indexing an entry.
@usableFromInline package enum IndexedOutcome: Sendable {
    case values(IndexedValues)
    /// One of its values cannot be indexed. Queries read the entry.
    case noPlace
    /// It cannot be decoded. Queries read the entry, in case it can be decoded later.
    case undecodable
    /// It is of an older version of its type: this is to take its place.
    case migrated(MigratedEntry)
    /// It is of an older version, and no longer needed.
    case removed
}

/// What a migration made of an entry.
@usableFromInline package struct MigratedEntry: Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var bytes: Data
    @usableFromInline package var version: Int64
    /// Its values for the index; `nil` if one of them cannot be indexed, or nothing is.
    @usableFromInline package var indexed: IndexedValues?

    @usableFromInline package init(key: EntryKey, bytes: Data, version: Int64, indexed: IndexedValues?) {
        self.key = key
        self.bytes = bytes
        self.version = version
        self.indexed = indexed
    }
}
