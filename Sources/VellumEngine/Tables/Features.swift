internal import VellumCore

/// The table `features`: what a file has beyond this version of format 1, in three words, as file
/// systems say it (decision 73).
///
/// Each bit stands for a feature, of which this version knows ``groups``, ``sizing`` and those of
/// ``RemovedTable``.
/// `bits_check` is the complement: a damaged bit must not keep the file from being opened.
struct Features {
    /// The bit of the second word for groups of entries (``MemberTable``).
    static let groups: Int64 = 1

    /// The bit of the first word for what is known of other limits (``SizingTable``).
    static let sizing: Int64 = 1

    static let addSizing =
        """
        UPDATE features SET bits = bits | \(sizing), bits_check = ~(bits | \(sizing)) WHERE word = 0
        """
    static let addGroups =
        """
        UPDATE features SET bits = bits | \(groups), bits_check = ~(bits | \(groups)) WHERE word = 1
        """

    /// The bit of the first word for the table ``RemovedTable``.
    private static let removedTable: Int64 = 2
    /// The bit of the third word for entries in it: whoever does not know it would read them.
    private static let removals: Int64 = 1

    static let addRemovedTable =
        """
        UPDATE features SET bits = bits | \(removedTable), bits_check = ~(bits | \(removedTable)) \
        WHERE word = 0
        """
    static let beginRemovals =
        """
        UPDATE features SET bits = bits | \(removals), bits_check = ~(bits | \(removals)) \
        WHERE word = 2
        """
    static let endRemovals =
        """
        UPDATE features SET bits = bits & ~\(removals), bits_check = ~(bits & ~\(removals)) \
        WHERE word = 2
        """
    /// Whether there are removed entries.
    static let hasRemovals = "SELECT count(*) FROM features WHERE \(areRemoved)"
    /// The same, of a row in a statement.
    static let areRemoved = "word = 2 AND features.bits & \(removals)"

    /// The bits of the second word, in a statement.
    static let bitsForWriting = "(SELECT bits FROM features WHERE word = 1)"

    static let create = """
        CREATE TABLE features(
            word INTEGER PRIMARY KEY,
            bits INTEGER NOT NULL,
            bits_check INTEGER NOT NULL
        )
        """

    static let insertNone =
        "INSERT INTO features(word, bits, bits_check) VALUES (0, 0, -1), (1, 0, -1), (2, 0, -1)"

    private enum Column: Int32 { case word, bits, check }

    /// Those of which a program may know nothing, and this one does not.
    private(set) var ignored: Int64 = 0
    /// Those that a program must know to write the file, and this one does not.
    private(set) var forWriting: Int64 = 0
    private(set) var hasGroups = false
    /// Those that a program must know to open the file.
    private(set) var forOpening: Int64 = 0

    /// - Throws: An error of damage if the words are not those of a file of this format.
    init(of connection: Connection) throws(SQLiteError) {
        let read = try connection.prepare(
            "SELECT word, bits, bits_check FROM features ORDER BY word"
        )
        var words: [Int64] = []
        while try read.step(), read.int(Column.word).int == words.count,
            read.int(Column.check).isComplement(of: read.int(Column.bits))
        {
            words.append(read.int(Column.bits).value)
        }
        guard words.count == 3 else { throw .corrupt("The words of features are damaged.") }
        ignored = words[0] & ~(Self.sizing | Self.removedTable)
        forWriting = words[1] & ~Self.groups
        forOpening = words[2] & ~Self.removals
        hasGroups = words[1] & Self.groups != 0
    }

    /// Whether a later version may have added tables, which this one ignores.
    var mayHaveMoreTables: Bool { ignored != 0 || forWriting != 0 }

    /// Keeps the connection from writing, if the file has features that a program must know for it.
    func apply(to connection: Connection) throws(SQLiteError) {
        guard forWriting != 0 else { return }
        connection.writeRefusal = connection.writeRefusal ?? .unknownFeatures
        try connection.execute(SQL.refuseWrites)
    }
}
