/// What an index is made of, without the type that it is of: columns by number, and which of them make an index together.
public struct IndexShape: Hashable, Sendable {
    /// A property, or a collection, by its name and by how its values are kept.
    public struct Column: Hashable, Sendable {
        public var name: String
        public var encoding: String

        public init(name: String, encoding: String) {
            self.name = name
            self.encoding = encoding
        }
    }

    /// The columns; a property that stands in several indexes has one.
    public var columns: [Column] = [] { didSet { define() } }
    /// The columns of each index, most significant first.
    public var indexes: [[Int]] = [] { didSet { define() } }
    /// The collections that have an entry for each element.
    public var collections: [Column] = [] { didSet { define() } }
    /// Everything that would make an index another one, as text.
    public private(set) var definition = ""

    public init() { define() }

    /// Whether nothing is indexed.
    public var isEmpty: Bool { indexes.isEmpty && collections.isEmpty }

    private mutating func define() {
        let indexes = indexes.map { "(" + $0.map(String.init).joined(separator: ",") + ")" }.joined()
        func list(_ columns: [Column]) -> String { columns.map { "\($0.name):\($0.encoding)" }.joined(separator: ";") }
        definition = "1;\(list(columns));\(indexes);each;\(list(collections))"
    }
}

/// What the index holds of one object: a value for each column, and the elements of each collection.
public struct IndexedValues: Hashable, Sendable {
    public var columns: [IndexValue]
    /// Each element once.
    public var elements: [[IndexValue]]

    public init(columns: [IndexValue] = [], elements: [[IndexValue]] = []) {
        self.columns = columns
        self.elements = elements
    }
}
