public import VellumCore

/// An entry that a query has read.
@usableFromInline package struct StoredEntry: Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var entry: Entry
    /// A number that changes with each write of the entry.
    @usableFromInline package var revision: UInt32
    /// Whether it matches its checksum.
    @usableFromInline package var isIntact: Bool

    @usableFromInline package init(key: EntryKey, entry: Entry, revision: UInt32, isIntact: Bool) {
        self.key = key
        self.entry = entry
        self.revision = revision
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

/// The result of a query of the index.
@usableFromInline package struct QueryAnswer: Sendable {
    /// The rows that match, in order.
    @usableFromInline package var rows: [Int64]
    /// Rows that the index has no values for. They may match.
    @usableFromInline package var uncovered: [Int64]
    /// The uncovered rows that could not be decoded when they were last indexed.
    @usableFromInline package var undecodable: [Int64]
    /// The rows that are not indexed yet.
    @usableFromInline package var unbuilt: UnbuiltRows?
    /// The entries of the first rows, from the same snapshot.
    @usableFromInline package var entries: [StoredEntry]
    /// How many rows `entries` covers, including rows whose entry was not found.
    @usableFromInline package var looked: Int

    @usableFromInline package init(
        rows: [Int64], uncovered: [Int64], undecodable: [Int64], unbuilt: UnbuiltRows?, entries: [StoredEntry], looked: Int
    ) {
        self.rows = rows
        self.uncovered = uncovered
        self.undecodable = undecodable
        self.unbuilt = unbuilt
        self.entries = entries
        self.looked = looked
    }
}

/// A range of rows that are not indexed yet.
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
}
