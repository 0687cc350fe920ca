public import VellumCore

/// An entry as a query meets it.
@usableFromInline package struct StoredEntry: Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var entry: Entry
    /// Changes whenever the entry does.
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

/// How much to read at once.
@usableFromInline package struct ReadLimit: Sendable {
    @usableFromInline package var entries: Int
    @usableFromInline package var bytes: Int

    @usableFromInline package init(entries: Int, bytes: Int = 4 << 20) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What an index covers at some instant.
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

/// A tier's answer to a query.
@usableFromInline package struct QueryAnswer: Sendable {
    /// The rows that match, in order.
    @usableFromInline package var rows: [Int64]
    /// Rows that have no place in the index, and that may match.
    @usableFromInline package var uncovered: [Int64]
    /// Those of them that could not be decoded when they were last looked at.
    @usableFromInline package var undecodable: [Int64]
    /// The rows after one and up to another that the index does not cover yet.
    @usableFromInline package var unbuilt: UnbuiltRows?
    /// The first of the rows' entries, at the same instant, and how many of the rows they are.
    @usableFromInline package var entries: [StoredEntry]
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

/// Rows that the builder of an index has not come to.
@usableFromInline package struct UnbuiltRows: Hashable, Sendable {
    @usableFromInline package var after: Int64
    @usableFromInline package var through: Int64

    @usableFromInline package init(after: Int64, through: Int64) {
        self.after = after
        self.through = through
    }
}

/// What an index is to hold of an entry.
@usableFromInline package enum IndexedOutcome: Sendable {
    case values(IndexedValues)
    /// A value of it has no certain place in the index: queries look at it one by one.
    case noPlace
    /// It cannot be decoded now: queries look at it one by one, too, in case that changes.
    case undecodable
}
