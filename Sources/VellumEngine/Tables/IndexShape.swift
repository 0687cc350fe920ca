public import VellumCore

/// The columns and indexes of an archive, without its type. Columns are identified by number.
@usableFromInline package struct IndexShape: Hashable, Sendable {
    /// The name of a property or collection, and the encoding of its values.
    @usableFromInline package struct Column: Hashable, Sendable {
        @usableFromInline package var name: String
        @usableFromInline package var encoding: String

        package init(name: String, encoding: String) {
            self.name = name
            self.encoding = encoding
        }
    }

    /// The columns. A property in several indexes has one column.
    @usableFromInline package var columns: [Column] = [] { didSet { define() } }
    /// The columns of each index, most significant first.
    @usableFromInline package var indexes: [[Int]] = [] { didSet { define() } }
    /// The collections with an entry for each element.
    @usableFromInline package var collections: [Column] = [] { didSet { define() } }
    /// The version of the type. The builder migrates the entries of older ones, and reads every
    /// entry again when it changes.
    @usableFromInline package var version: Int64 = 0 { didSet { define() } }
    /// Whether the builder replaces these entries. Otherwise it indexes what they would become.
    @usableFromInline package var rewrites = true { didSet { define() } }
    /// All of this as text. The index is built again when the text changes.
    package private(set) var definition = ""

    @usableFromInline package init() { define() }

    /// Whether nothing is indexed.
    @usableFromInline package var hasNoIndexes: Bool { indexes.isEmpty && collections.isEmpty }

    /// Whether there is nothing to keep up to date.
    @usableFromInline package var isEmpty: Bool { hasNoIndexes && (version == 0 || !rewrites) }

    private mutating func define() {
        let indexes = indexes.map {
            "(" + $0.map(String.init).joined(separator: ",") + ")"
        }
        .joined()
        func list(_ columns: [Column]) -> String {
            columns.map { "\($0.name):\($0.encoding)" }.joined(separator: ";")
        }
        definition =
            "1;\(list(columns));\(indexes);each;\(list(collections))"
            + (version == 0 ? "" : ";version \(version)")
            + (version == 0 || rewrites ? "" : ";as recorded")
    }
}

/// The index values of one object: a value for each column, and the elements of each collection.
@usableFromInline package struct IndexedValues: Hashable, Sendable {
    @usableFromInline package var columns: [IndexValue] = []
    /// Each element once.
    @usableFromInline package var elements: [[IndexValue]] = []
}

/// A range of entries that is read in batches. Rows that are added later are left out, so that no
/// key is returned twice.
package struct EntryScan: Sendable {
    /// The entry after which the next batch begins.
    package var after = Int64.min
    /// The last entry of the range; `nil` for the last one when the first batch is read.
    var through: Int64?
    /// Whether there may be more.
    package var hasMore = true

    package init(after: Int64 = .min) { self.after = after }

    init(after: Int64 = .min, through: Int64?, hasMore: Bool = true) {
        self.after = after
        self.through = through
        self.hasMore = hasMore
    }
}
