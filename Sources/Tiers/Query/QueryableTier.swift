/// A tier that keeps an index beside its entries, in step with them, and answers queries from it.
///
/// Nothing here is a use of an entry. Every call works from any thread, blocks it for the tier's own work alone, and sees one
/// instant; two calls may see two.
public protocol QueryableTier: Tier {
    /// Says what the index holds from now on. One that held something else is dropped and begun anew: built from the stored
    /// entries behind the callers' backs, by asking the owner what to hold of each. An empty shape drops it.
    ///
    /// - Complexity: O(1), but for the dropping.
    func declareIndex(_ shape: IndexShape) throws(StoreError)

    /// How far the index is built.
    func indexProgress() throws(StoreError) -> IndexProgress

    /// Answers a query.
    ///
    /// - Parameters:
    ///   - now: Only entries that are valid at this moment count.
    ///   - limit: How many of the entries to return at once.
    ///   - planning: Told what the index covers at that instant, says what to ask; `nil` to ask nothing.
    func answer(
        validAt now: WallInstant, reading limit: ReadLimit, _ planning: (IndexCoverage) -> TierQuery?
    ) throws(StoreError) -> TierAnswer?

    /// How many rows match. Returns `nil` where `planning` says so.
    func count(validAt now: WallInstant, _ planning: (IndexCoverage) -> TierQuery?) throws(StoreError) -> Int?

    /// The entries of the rows that are still there, in the order asked for, and how many of the rows were looked at.
    func entries(of rows: ArraySlice<Int64>, _ limit: ReadLimit) throws(StoreError) -> (entries: [StoredEntry], looked: Int)

    /// The entries after a row and up to another, by row: as they were first recorded.
    func entries(after row: Int64, through last: Int64, _ limit: ReadLimit) throws(StoreError) -> [StoredEntry]

    /// The row that was given out last.
    func lastRow() throws(StoreError) -> Int64

    /// These rows could not be decoded when the index was built, and can be now: they have a place in it.
    func indexAgain(_ rows: [Int64]) throws(StoreError)

    /// The tier's own words for a query, and for how it would answer it; `nil` if there is no index any more.
    func describe(_ query: TierQuery) throws(StoreError) -> (statement: String, access: [String])?
}

/// An entry as a query meets it.
public struct StoredEntry: Sendable {
    public var key: EntryKey
    public var entry: Entry
    /// Changes whenever the entry does.
    public var revision: UInt32
    /// Whether it matches its checksum.
    public var isSound: Bool

    public init(key: EntryKey, entry: Entry, revision: UInt32, isSound: Bool) {
        self.key = key
        self.entry = entry
        self.revision = revision
        self.isSound = isSound
    }
}

/// How much to read at once.
public struct ReadLimit: Sendable {
    public var entries: Int
    public var bytes: Int

    public init(entries: Int, bytes: Int = 4 << 20) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What an index covers at some instant.
public struct IndexCoverage: Sendable {
    /// Whether there is an index of the declared shape.
    public var isUsable: Bool
    /// Whether it covers every entry.
    public var isWhole: Bool

    public init(isUsable: Bool, isWhole: Bool) {
        self.isUsable = isUsable
        self.isWhole = isWhole
    }
}

/// A tier's answer to a query.
public struct TierAnswer: Sendable {
    /// The rows that match, in order.
    public var rows: [Int64]
    /// Rows that have no place in the index, and that may match.
    public var uncovered: [Int64]
    /// Those of them that could not be decoded when they were last looked at.
    public var undecodable: [Int64]
    /// The rows after one and up to another that the index does not cover yet.
    public var unbuilt: UnbuiltRows?
    /// The first of the rows' entries, at the same instant, and how many of the rows they are.
    public var entries: [StoredEntry]
    public var looked: Int

    public init(
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
public struct UnbuiltRows: Hashable, Sendable {
    public var after: Int64
    public var through: Int64

    public init(after: Int64, through: Int64) {
        self.after = after
        self.through = through
    }
}

/// How far an index is built.
public struct IndexProgress: Hashable, Sendable {
    /// Objects that the index covers, or that it was found to have no place for.
    public var indexed: Int
    /// Objects that there are.
    public var total: Int
    /// Whether every object is covered, and queries need look at no other.
    public var isComplete: Bool

    public init(indexed: Int, total: Int, isComplete: Bool) {
        self.indexed = indexed
        self.total = total
        self.isComplete = isComplete
    }
}

/// What an index is to hold of an entry.
public enum IndexedOutcome: Sendable {
    case values(IndexedValues)
    /// A value of it has no certain place in the index: queries look at it one by one.
    case noPlace
    /// It cannot be decoded now: queries look at it one by one, too, in case that changes.
    case undecodable
}
