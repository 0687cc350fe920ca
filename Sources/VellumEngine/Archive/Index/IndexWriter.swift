internal import Foundation
internal import VellumCore

/// The index of one archive, as the writing connection keeps it in step with the rows. Used inside the writer's lock, in a
/// transaction.
///
/// Every row up to `through` and after `until` is in the table of columns or in the list of strays; those between wait for the
/// builder.
/// Whoever writes a row without knowing what the index holds of it, such as a program that declares another index, takes the
/// row out of the columns and puts it in the list, so that no query finds what is no longer so.
final class IndexWriter {
    /// What this process says that the index holds; nothing if it did not say.
    var shape: IndexShape?
    private(set) var row: Row?

    private let archive: Int64
    private var connection: Connection
    private var storedRow: Row?
    private var isLoaded = false
    private var statements: [Kind: Statement] = [:]

    /// The archive's row in `indexes`.
    struct Row: Equatable {
        var definition: String
        var columns: Int
        var collections: Int
        /// Rows up to here are dealt with; `Int64.max` once all are.
        var through: Int64
        /// The last row that there was when the index was begun: later ones are indexed by whoever writes them.
        var until: Int64
        /// How many rows the builder looked at.
        var built: Int64
        var unindexedRows: Int64

        func isPossible(for shape: IndexShape?) -> Bool {
            if let shape, shape.definition == definition, (shape.columns.count, shape.collections.count) != (columns, collections) {
                return false
            }
            let possible = 0...Int64(1) << 48
            return 0...2000 ~= columns && 0...2000 ~= collections && [until, built, unindexedRows].allSatisfy(possible.contains)
                && (through == .max || possible.contains(through))
        }

        /// Whether the builder has still to come to the row.
        func awaitsBuilder(_ number: Int64) -> Bool { number > through && number <= until }
    }

    /// Why a row is a stray.
    enum UnindexedKind: Int64 {
        /// The builder must look at it.
        case unknown = 0
        /// A value of it has no certain place.
        case noPlace = 1
        /// It could not be decoded.
        case undecodable = 2
    }

    private enum Kind: Hashable {
        case load, store, insertColumns, readColumns, deleteColumns, addElement(Int), deleteElement(Int)
        case addUnindexed, deleteUnindexed, revision
    }

    init(archive: Int64, connection: Connection) {
        self.archive = archive
        self.connection = connection
    }

    /// Goes on with another connection to the same file.
    func use(_ new: Connection) {
        connection = new
        statements = [:]
    }

    /// Whether the index holds what this process says.
    var isOurs: Bool { row != nil && row?.definition == shape?.definition }

    // MARK: Its own row

    func load() throws(SQLiteError) {
        guard !isLoaded else { return }
        let load = try statement(.load) { SQL.loadIndex }
        defer { load.reset() }
        load.bind(archive, at: 1)
        row = nil
        if try load.step() {
            row = Row(
                definition: load.text(0) ?? "", columns: Int(load.int(1)), collections: Int(load.int(2)), through: load.int(3),
                until: load.int(4), built: load.int(5), unindexedRows: load.int(6))
            // Statements and sums are made of these.
            guard let row, row.isPossible(for: shape) else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "The description of an index is none.")
            }
        }
        if row?.definition != storedRow?.definition { statements = statements.filter { $0.key == .load || $0.key == .store } }
        storedRow = row
        isLoaded = true
    }

    /// Writes the row if it changed, at the end of the transaction.
    func store() throws(SQLiteError) {
        guard isLoaded, let row, row != storedRow else { return }
        let store = try statement(.store) { SQL.storeIndex }
        store.bind(archive, at: 1)
        store.bind(row.definition, at: 2)
        store.bind(Int64(row.columns), at: 3)
        store.bind(Int64(row.collections), at: 4)
        store.bind(row.through, at: 5)
        store.bind(row.until, at: 6)
        store.bind(row.built, at: 7)
        store.bind(row.unindexedRows, at: 8)
        try store.run()
        CrashPoint.reached(.indexCoverageStored)
        storedRow = row
    }

    /// Forgets what was loaded: another process wrote, or the transaction was rolled back.
    func invalidate() { isLoaded = false }

    // MARK: Declaring

    /// Drops the index, if there is one. It must be loaded.
    func drop() throws(SQLiteError) {
        guard let old = row else { return }
        try connection.execute(SQL.dropIndexTables(archive, collections: old.collections))
        CrashPoint.reached(.indexTablesDropped)
        let delete = try connection.prepare(SQL.deleteIndex)
        delete.bind(archive, at: 1)
        try delete.run()
        CrashPoint.reached(.indexDropped)
        row = nil
        storedRow = nil
    }

    /// Makes the index hold what this process says: keeps it where it does already, or begins it anew.
    ///
    /// - Parameters:
    ///   - last: The last row that there is.
    ///   - isEmpty: Whether the archive has no entries, and nothing need be built.
    func declare(last: Int64, isEmpty: Bool, anew: Bool = false) throws(SQLiteError) {
        guard let shape else { return }
        if isOurs, !shape.isEmpty, !anew { return }
        statements.removeAll()
        try drop()
        guard !shape.isEmpty else { return }
        try connection.execute(
            SQL.createIndexTables(archive, columns: shape.columns.count, collections: shape.collections.count, indexes: shape.indexes))
        CrashPoint.reached(.indexCreated)
        row = Row(
            definition: shape.definition, columns: shape.columns.count, collections: shape.collections.count,
            through: isEmpty ? .max : 0, until: last, built: 0, unindexedRows: 0)
    }

    // MARK: Rows

    /// A row was written.
    ///
    /// - Parameter values: What the index is to hold of it, where whoever wrote it knows.
    func didStore(_ number: Int64, _ values: IndexedValues?, isNew: Bool) throws(SQLiteError) {
        guard let row, !row.awaitsBuilder(number) else { return }
        guard isOurs else { return try makeStray(number, .unknown, isNew: isNew) }
        guard let values else { return try makeStray(number, .noPlace, isNew: isNew) }
        try put(number, values, isNew: isNew)
    }

    /// A row was removed.
    func didRemove(_ number: Int64) throws(SQLiteError) {
        guard let row, !row.awaitsBuilder(number) else { return }
        try removeColumns(number)
        try removeStray(number)
    }

    func didRemoveAll() throws(SQLiteError) {
        guard let old = row else { return }
        try connection.execute(SQL.emptyIndexTables(archive, collections: old.collections))
        row?.through = .max
        row?.built = 0
        row?.unindexedRows = 0
    }

    private func put(_ number: Int64, _ values: IndexedValues, isNew: Bool) throws(SQLiteError) {
        if !isNew {
            try removeStray(number)
            // Most often an overwritten object is where it was.
            if let old = try columns(of: number) {
                guard old != values else { return }
                try removeColumns(number)
            }
        }
        let insert = try columnsStatement(.insertColumns, SQL.insertColumns)
        insert.bind(number, at: 1)
        for (index, value) in values.columns.enumerated() { insert.bind(value, at: Int32(index + 2)) }
        for (index, elements) in values.elements.enumerated() {
            insert.bind(IndexValue.bytes(ElementList.encode(elements)), at: Int32(values.columns.count + index + 2))
        }
        try insert.run()
        for (collection, elements) in values.elements.enumerated() where !elements.isEmpty {
            let add = try statement(.addElement(collection)) { SQL.addElement(archive, collection) }
            for element in elements {
                add.bind(element, at: 1)
                add.bind(number, at: 2)
                try add.run()
            }
        }
    }

    private func removeColumns(_ number: Int64) throws(SQLiteError) {
        guard let row else { return }
        if row.collections > 0, let old = try columns(of: number) {
            for (collection, elements) in old.elements.enumerated() {
                let delete = try statement(.deleteElement(collection)) { SQL.deleteElement(archive, collection) }
                for element in elements {
                    delete.bind(element, at: 1)
                    delete.bind(number, at: 2)
                    try delete.run()
                }
            }
        }
        let delete = try statement(.deleteColumns) { SQL.deleteColumns(archive) }
        delete.bind(number, at: 1)
        try delete.run()
    }

    /// What the index holds of a row.
    private func columns(of number: Int64) throws(SQLiteError) -> IndexedValues? {
        guard let row else { return nil }
        let read = try columnsStatement(.readColumns, SQL.readColumns)
        defer { read.reset() }
        read.bind(number, at: 1)
        guard try read.step() else { return nil }
        return read.indexedValues(columns: row.columns, collections: row.collections)
    }

    // MARK: Strays

    private func makeStray(_ number: Int64, _ kind: UnindexedKind, isNew: Bool) throws(SQLiteError) {
        if !isNew {
            try removeColumns(number)
            try removeStray(number)
        }
        let add = try statement(.addUnindexed) { SQL.addUnindexed(archive) }
        add.bind(number, at: 1)
        add.bind(kind.rawValue, at: 2)
        try add.run()
        row?.unindexedRows += 1
    }

    private func removeStray(_ number: Int64) throws(SQLiteError) {
        guard row?.unindexedRows ?? 0 > 0 else { return }
        let delete = try statement(.deleteUnindexed) { SQL.deleteUnindexed(archive) }
        delete.bind(number, at: 1)
        try delete.run()
        row?.unindexedRows -= connection.changes
    }

    /// The rows can be decoded after all: the builder looks at them again.
    func lookAgain(at rows: [Int64]) throws(SQLiteError) {
        guard isOurs else { return }
        let change = try connection.prepare(SQL.changeUnindexed(archive))
        for number in rows {
            change.bind(number, at: 1)
            change.bind(UnindexedKind.unknown.rawValue, at: 2)
            try change.run()
        }
    }

    // MARK: Building

    /// Takes in what the builder found out about rows, as far as they are still as it read them.
    ///
    /// - Parameters:
    ///   - after: The row after which these come, where the builder goes through the rows in order; nothing for strays.
    ///   - isAtEnd: Whether there are no more of them.
    func take(_ found: [BuiltRow], after: Int64?, isAtEnd: Bool) throws(SQLiteError) {
        guard isOurs, after == nil || row?.through == after else { return }
        for built in found {
            let number = built.row
            guard try revision(of: number) == built.revision else {
                // It changed or left meanwhile. A stray that changed is no stray any more, or is one for its writer's reasons.
                if after != nil, try revision(of: number) != nil { try makeStray(number, .unknown, isNew: false) }
                continue
            }
            switch built.outcome {
            case .values(let values): try put(number, values, isNew: after != nil)
            case .noPlace: try makeStray(number, .noPlace, isNew: after != nil)
            case .undecodable: try makeStray(number, .undecodable, isNew: after != nil)
            }
        }
        guard after != nil else { return }
        CrashPoint.reached(.indexRowsTaken)
        row?.built += Int64(found.count)
        if let last = found.last?.row { row?.through = last }
        if isAtEnd { row?.through = .max }
    }

    private func revision(of number: Int64) throws(SQLiteError) -> UInt32? {
        let read = try statement(.revision) { SQL.revisionOfRow(archive) }
        defer { read.reset() }
        read.bind(number, at: 1)
        return try read.step() ? UInt32(truncatingIfNeeded: read.int(0)) : nil
    }

    // MARK: Statements

    private func statement(_ kind: Kind, _ sql: () -> String) throws(SQLiteError) -> Statement {
        if let statement = statements[kind] { return statement }
        let statement = try connection.prepare(sql())
        statements[kind] = statement
        return statement
    }

    private func columnsStatement(_ kind: Kind, _ sql: (Int64, Int, Int) -> String) throws(SQLiteError) -> Statement {
        try statement(kind) { sql(archive, row?.columns ?? 0, row?.collections ?? 0) }
    }
}
