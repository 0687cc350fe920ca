internal import Foundation
internal import VellumCore

/// The index of one archive, as the writing connection keeps it up to date. Used inside the writer's lock, in a transaction.
///
/// Every entry up to `through` and after `until` has either columns or an unindexed row; those between await the builder. A writer that does
/// not know an entry's values, such as a program that declares another index, replaces the columns with an unindexed row, so that no query
/// finds an outdated value.
final class IndexWriter {
    /// The index that this process declared, if it did.
    var shape: IndexShape?
    /// The index in the open transaction; `nil` if there is none.
    private(set) var state: IndexState?

    private let archive: Int64
    private var connection: Connection
    private var storedState: IndexState?
    private var isLoaded = false
    private var statements: [Kind: Statement] = [:]

    private enum Kind: Hashable {
        case load, store, insertColumns, selectColumns, deleteColumns, insertElement(Int), deleteElement(Int)
        case insertUnindexed, deleteUnindexed, revision
    }

    init(archive: Int64, connection: Connection) {
        self.archive = archive
        self.connection = connection
    }

    /// Continues with another connection to the same file.
    func use(_ new: Connection) {
        connection = new
        statements = [:]
    }

    /// Whether the index is the one that this process declared.
    var isOurs: Bool { state != nil && state?.definition == shape?.definition }

    // MARK: State

    func load() throws(SQLiteError) {
        guard !isLoaded else { return }
        let load = try statement(.load) { IndexState.load }
        defer { load.reset() }
        load.bind(archive, at: 1)
        state = nil
        if try load.step() {
            let loaded = IndexState(load)
            guard loaded.isPossible(for: shape) else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid description of an index.")
            }
            state = loaded
        }
        if state?.definition != storedState?.definition { statements = statements.filter { $0.key == .load || $0.key == .store } }
        storedState = state
        isLoaded = true
    }

    /// Writes ``state`` if it changed, at the end of the transaction.
    func writeState() throws(SQLiteError) {
        guard isLoaded, let state, state != storedState else { return }
        try state.runStore(try statement(.store) { IndexState.store }, archive)
        CrashPoint.reached(.indexCoverageStored)
        storedState = state
    }

    /// Forgets what was loaded: another process wrote, or the transaction was rolled back.
    func invalidate() { isLoaded = false }

    // MARK: Declaring

    /// Drops the index, if there is one. It must be loaded.
    func drop() throws(SQLiteError) {
        guard let old = state else { return }
        try connection.execute(IndexTables.dropIndex(archive, collections: old.collections))
        CrashPoint.reached(.indexTablesDropped)
        let delete = try connection.prepare(IndexTables.delete)
        delete.bind(archive, at: 1)
        try delete.run()
        CrashPoint.reached(.indexDropped)
        state = nil
        storedState = nil
    }

    /// Makes the index the one that this process declared: keeps it if it is already, or begins it again.
    ///
    /// - Parameters:
    ///   - last: The last entry that there is.
    ///   - isEmpty: Whether the archive has no entries, so that nothing need be built.
    ///   - anew: Whether to begin it again in any case.
    func declare(last: Int64, isEmpty: Bool, anew: Bool = false) throws(SQLiteError) {
        guard let shape else { return }
        if isOurs, !shape.isEmpty, !anew { return }
        statements.removeAll()
        try drop()
        guard !shape.isEmpty else { return }
        try connection.execute(IndexTables.createIndex(archive, shape))
        CrashPoint.reached(.indexCreated)
        state = IndexState(
            definition: shape.definition, columns: shape.columns.count, collections: shape.collections.count,
            through: isEmpty ? .max : 0, until: last, built: 0, unindexedRows: 0)
    }

    // MARK: Entries

    /// Indexes an entry that was written.
    ///
    /// - Parameter values: The entry's values, if its writer knows them.
    func didStore(_ entryID: Int64, _ values: IndexedValues?, isNew: Bool) throws(SQLiteError) {
        guard let state, !state.awaitsBuilder(entryID) else { return }
        guard isOurs else { return try putUnindexed(entryID, .unknown, isNew: isNew) }
        guard !state.isWithoutColumns else { return isNew ? () : try removeUnindexed(entryID) }
        guard let values else { return try putUnindexed(entryID, .noPlace, isNew: isNew) }
        try put(entryID, values, isNew: isNew)
    }

    /// Removes an entry from the index.
    func didRemove(_ entryID: Int64) throws(SQLiteError) {
        guard let state, !state.awaitsBuilder(entryID) else { return }
        try removeColumns(entryID)
        try removeUnindexed(entryID)
    }

    func didRemoveAll() throws(SQLiteError) {
        guard let old = state else { return }
        try connection.execute(IndexTables.emptyIndex(archive, collections: old.collections))
        state?.through = .max
        state?.built = 0
        state?.unindexedRows = 0
    }

    private func put(_ entryID: Int64, _ values: IndexedValues, isNew: Bool) throws(SQLiteError) {
        if !isNew {
            try removeUnindexed(entryID)
            // Most overwritten entries keep their values.
            if let old = try columns(of: entryID) {
                guard old != values else { return }
                try removeColumns(entryID)
            }
        }
        let insert = try columnsStatement(.insertColumns, IndexTables.insertColumns)
        try IndexTables.runInsertColumns(insert, entryID, values)
        for (collection, elements) in values.elements.enumerated() where !elements.isEmpty {
            let insert = try statement(.insertElement(collection)) { IndexTables.insertElement(archive, collection) }
            try IndexTables.run(insert, elements, of: entryID)
        }
    }

    private func removeColumns(_ entryID: Int64) throws(SQLiteError) {
        guard let state, !state.isWithoutColumns else { return }
        if state.collections > 0, let old = try columns(of: entryID) {
            for (collection, elements) in old.elements.enumerated() {
                let delete = try statement(.deleteElement(collection)) { IndexTables.deleteElement(archive, collection) }
                try IndexTables.run(delete, elements, of: entryID)
            }
        }
        let delete = try statement(.deleteColumns) { IndexTables.deleteColumns(archive) }
        delete.bind(entryID, at: 1)
        try delete.run()
    }

    /// The entry's values in the index.
    private func columns(of entryID: Int64) throws(SQLiteError) -> IndexedValues? {
        guard let state else { return nil }
        let select = try columnsStatement(.selectColumns, IndexTables.selectColumns)
        return try IndexTables.readColumns(select, entryID, columns: state.columns, collections: state.collections)
    }

    // MARK: Unindexed rows

    private func putUnindexed(_ entryID: Int64, _ kind: IndexTables.UnindexedKind, isNew: Bool) throws(SQLiteError) {
        if !isNew {
            try removeColumns(entryID)
            try removeUnindexed(entryID)
        }
        try IndexTables.run(try statement(.insertUnindexed) { IndexTables.insertUnindexed(archive) }, entryID, kind)
        state?.unindexedRows += 1
    }

    private func removeUnindexed(_ entryID: Int64) throws(SQLiteError) {
        guard state?.unindexedRows ?? 0 > 0 else { return }
        let delete = try statement(.deleteUnindexed) { IndexTables.deleteUnindexed(archive) }
        delete.bind(entryID, at: 1)
        try delete.run()
        state?.unindexedRows -= connection.changesCount
    }

    /// Makes the builder read unindexed entries again, because they can be decoded now.
    func markUnknown(_ entryIDs: [Int64]) throws(SQLiteError) {
        guard isOurs else { return }
        let update = try connection.prepare(IndexTables.updateUnindexed(archive))
        for entryID in entryIDs { try IndexTables.run(update, entryID, .unknown) }
    }

    // MARK: Building

    /// How many entries the builder has yet to read because other programs have written them.
    func unknownEntries() throws(SQLiteError) -> Int {
        guard state?.unindexedRows ?? 0 > 0 else { return 0 }
        return try IndexTables.unindexedCount(.unknown, of: archive, on: connection)
    }

    /// Inserts what the builder decoded, except for entries that have changed since it read them.
    ///
    /// - Parameters:
    ///   - after: The entry after which these come, if the builder reads all entries in order; `nil` if it reads unindexed ones.
    ///   - isAtEnd: Whether there are no more of them.
    func insertBuilt(_ built: [BuiltEntry], after: Int64?, isAtEnd: Bool) throws(SQLiteError) {
        guard isOurs, after == nil || state?.through == after else { return }
        // Without columns, only what could not be decoded has to be listed.
        let isListed = after != nil && state?.isWithoutColumns ?? false
        for entry in built {
            // The index was begun again, by another program of this version, since the builder read the list.
            if after == nil, state?.awaitsBuilder(entry.id) ?? false { continue }
            // One that was replaced in this transaction cannot have changed since.
            if isListed, entry.old != nil, case .noPlace = entry.outcome { continue }
            let revision = try revision(of: entry.id)
            guard revision == entry.revision else {
                // It was overwritten or removed. If it was in the list, its writer has indexed it or put it there again.
                if after != nil, revision != nil { try putUnindexed(entry.id, .unknown, isNew: false) }
                continue
            }
            switch entry.outcome {
            case .values(let values): try put(entry.id, values, isNew: after != nil)
            case .migrated, .removed: break  // Such an entry was replaced in this transaction.
            case .noPlace:
                if state?.isWithoutColumns ?? false {
                    if after == nil { try removeUnindexed(entry.id) }
                } else {
                    try putUnindexed(entry.id, .noPlace, isNew: after != nil)
                }
            case .undecodable: try putUnindexed(entry.id, .undecodable, isNew: after != nil)
            }
        }
        guard after != nil else { return }
        CrashPoint.reached(.indexRowsTaken)
        state?.built += Int64(built.count)
        if let last = built.last?.id { state?.through = last }
        if isAtEnd { state?.through = .max }
    }

    func revision(of entryID: Int64) throws(SQLiteError) -> UInt32? {
        let read = try statement(.revision) { EntryTable.revision }
        defer { read.reset() }
        read.bind(entryID, at: 1)
        return try EntryTable.readRevision(read)
    }

    // MARK: Statements

    private func statement(_ kind: Kind, _ sql: () -> String) throws(SQLiteError) -> Statement {
        if let statement = statements[kind] { return statement }
        let statement = try connection.prepare(sql())
        statements[kind] = statement
        return statement
    }

    private func columnsStatement(_ kind: Kind, _ sql: (Int64, Int, Int) -> String) throws(SQLiteError) -> Statement {
        try statement(kind) { sql(archive, state?.columns ?? 0, state?.collections ?? 0) }
    }
}
