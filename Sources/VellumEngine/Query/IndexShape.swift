public import VellumCore

/// What an index is made of, without the type that it is of: columns by number, and which of them make an index together.
@usableFromInline package struct IndexShape: Hashable, Sendable {
    /// A property, or a collection, by its name and by how its values are kept.
    @usableFromInline package struct Column: Hashable, Sendable {
        @usableFromInline package var name: String
        @usableFromInline package var encoding: String

        @usableFromInline package init(name: String, encoding: String) {
            self.name = name
            self.encoding = encoding
        }
    }

    /// The columns; a property that stands in several indexes has one.
    @usableFromInline package var columns: [Column] = [] { didSet { define() } }
    /// The columns of each index, most significant first.
    @usableFromInline package var indexes: [[Int]] = [] { didSet { define() } }
    /// The collections that have an entry for each element.
    @usableFromInline package var collections: [Column] = [] { didSet { define() } }
    /// Everything that would make an index another one, as text.
    package private(set) var definition = ""

    @usableFromInline package init() { define() }

    /// Whether nothing is indexed.
    @usableFromInline package var isEmpty: Bool { indexes.isEmpty && collections.isEmpty }

    private mutating func define() {
        let indexes = indexes.map { "(" + $0.map(String.init).joined(separator: ",") + ")" }.joined()
        func list(_ columns: [Column]) -> String { columns.map { "\($0.name):\($0.encoding)" }.joined(separator: ";") }
        definition = "1;\(list(columns));\(indexes);each;\(list(collections))"
    }
}

/// What the index holds of one object: a value for each column, and the elements of each collection.
@usableFromInline package struct IndexedValues: Hashable, Sendable {
    @usableFromInline package var columns: [IndexValue]
    /// Each element once.
    @usableFromInline package var elements: [[IndexValue]]

    @usableFromInline package init(columns: [IndexValue] = [], elements: [[IndexValue]] = []) {
        self.columns = columns
        self.elements = elements
    }
}
