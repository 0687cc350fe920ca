internal import Foundation
internal import VellumCore

// The index of the archive, which every write keeps up to date.
//
// Every entry up to `through` and after `until` has either columns or an unindexed row; those
// between await the builder. A transaction that does not know an entry's values, such as one of a
// program that declares another index, replaces the columns with an unindexed row, so that no query
// finds an outdated value.

extension ArchiveEdit {
    /// The index; `nil` if there is none.
    var index: IndexState? {
        get { state.contents.index }
        set { state.contents.index = newValue }
    }

    /// Whether the index is the one that this process declared.
    var isIndexOurs: Bool { state.isIndexOurs }

    /// Writes the state of the index if it changed.
    func storeIndex() throws(SQLiteError) {
        guard let index, index != state.contents.storedIndex else { return }
        try index.runStore(try statement(.storeIndex), id)
        CrashPoint.reached(.indexCoverageStored)
        state.contents.storedIndex = index
    }

    // MARK: Declaring

    /// Drops the index, if there is one.
    func dropIndex() throws(SQLiteError) {
        guard let old = index else { return }
        try connection.execute(IndexTables.dropIndex(id, collections: old.collections))
        CrashPoint.reached(.indexTablesDropped)
        try connection.prepare(IndexTables.delete, id).run()
        CrashPoint.reached(.indexDropped)
        index = nil
        state.contents.storedIndex = nil
        state.isIndexOurs = false
    }

    /// Makes the index the one that this process declared: keeps it if it is already, or begins it
    /// again.
    ///
    /// - Parameter anew: Whether to begin it again in any case.
    func declareIndex(anew: Bool = false) throws(SQLiteError) {
        guard let shape = archive.shape else { return }
        if isIndexOurs, !shape.isEmpty, !anew { return }
        tables.forgetIndexStatements()
        try dropIndex()
        tables.useIndexStatements(of: shape.isEmpty ? nil : shape.definition)
        guard !shape.isEmpty else { return }
        try connection.execute(IndexTables.createIndex(id, shape))
        CrashPoint.reached(.indexCreated)
        // Nothing need be built of an archive without entries.
        index = IndexState(
            definition: shape.definition,
            columns: shape.columns.count,
            collections: shape.collections.count,
            through: state.totals.entries == 0 ? .max : 0,
            until: state.totals.nextID - 1,
            built: 0,
            unindexedRows: 0
        )
        state.isIndexOurs = true
    }

    // MARK: Entries

    /// Indexes an entry that was written.
    ///
    /// - Parameter values: The entry's values, if its writer knows them.
    func indexStored(_ entryID: Int64, _ values: IndexedValues?, isNew: Bool) throws(SQLiteError) {
        guard let index, !index.awaitsBuilder(entryID) else { return }
        guard isIndexOurs else { return try putUnindexed(entryID, .unknown, isNew: isNew) }
        guard !index.isWithoutColumns else { return isNew ? () : try removeUnindexed(entryID) }
        guard let values else { return try putUnindexed(entryID, .noPlace, isNew: isNew) }
        try putColumns(entryID, values, isNew: isNew)
    }

    /// Removes an entry from the index.
    func indexRemoved(_ entryID: Int64) throws(SQLiteError) {
        guard let index, !index.awaitsBuilder(entryID) else { return }
        try removeColumns(entryID)
        try removeUnindexed(entryID)
    }

    func indexRemovedAll() throws(SQLiteError) {
        guard var index else { return }
        try connection.execute(IndexTables.emptyIndex(id, collections: index.collections))
        index.through = .max
        index.built = 0
        index.unindexedRows = 0
        self.index = index
    }

    private func putColumns(
        _ entryID: Int64,
        _ values: IndexedValues,
        isNew: Bool
    ) throws(SQLiteError) {
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
            let insert = try tables.statement(
                .insertElement(collection),
                IndexTables.insertElement(id, collection)
            )
            try IndexTables.run(insert, elements, of: entryID)
        }
    }

    private func removeColumns(_ entryID: Int64) throws(SQLiteError) {
        guard let index, !index.isWithoutColumns else { return }
        if index.collections > 0, let old = try columns(of: entryID) {
            for (collection, elements) in old.elements.enumerated() {
                let delete = try tables.statement(
                    .deleteElement(collection),
                    IndexTables.deleteElement(id, collection)
                )
                try IndexTables.run(delete, elements, of: entryID)
            }
        }
        try tables.statement(.deleteColumns, IndexTables.deleteColumns(id)).run(entryID)
    }

    /// The entry's values in the index.
    private func columns(of entryID: Int64) throws(SQLiteError) -> IndexedValues? {
        guard let index else { return nil }
        let select = try columnsStatement(.selectColumns, IndexTables.selectColumns)
        return try IndexTables.readColumns(
            select,
            entryID,
            columns: index.columns,
            collections: index.collections
        )
    }

    // MARK: Unindexed rows

    private func putUnindexed(
        _ entryID: Int64,
        _ kind: IndexTables.UnindexedKind,
        isNew: Bool
    ) throws(SQLiteError) {
        if !isNew {
            try removeColumns(entryID)
            try removeUnindexed(entryID)
        }
        try IndexTables.run(
            try tables.statement(.insertUnindexed, IndexTables.insertUnindexed(id)),
            entryID,
            kind
        )
        index?.unindexedRows += 1
    }

    private func removeUnindexed(_ entryID: Int64) throws(SQLiteError) {
        guard index?.unindexedRows ?? 0 > 0 else { return }
        try tables.statement(.deleteUnindexed, IndexTables.deleteUnindexed(id)).run(entryID)
        index?.unindexedRows -= connection.changesCount
    }

    /// Takes entries that cannot be decoded, of these revisions, out of the index.
    func takeOut(_ entries: [Int64: UInt32]) throws(SQLiteError) {
        guard isIndexOurs, let index else { return }
        for (id, revision) in entries where !index.awaitsBuilder(id) {
            guard try self.revision(of: id) == revision else { continue }
            try putUnindexed(id, .undecodable, isNew: false)
        }
    }

    /// Makes the builder read unindexed entries again, because they can be decoded now.
    func markUnknown(_ entryIDs: [Int64]) throws(SQLiteError) {
        guard isIndexOurs else { return }
        let update = try connection.prepare(IndexTables.updateUnindexed(id))
        for entryID in entryIDs { try IndexTables.run(update, entryID, .unknown) }
    }

    // MARK: Building

    /// How many entries the builder has yet to read because other programs have written them.
    func unknownEntries() throws(SQLiteError) -> Int {
        guard index?.unindexedRows ?? 0 > 0 else { return 0 }
        return try IndexTables.unindexedCount(.unknown, of: id, on: connection)
    }

    /// Inserts what the builder decoded, except for entries that have changed since it read them.
    ///
    /// - Parameters:
    ///   - after: The entry after which these come, if the builder reads all entries in order;
    ///     `nil` if it reads unindexed ones.
    ///   - isAtEnd: Whether there are no more of them.
    func insertBuilt(_ built: [BuiltEntry], after: Int64?, isAtEnd: Bool) throws(SQLiteError) {
        guard isIndexOurs, after == nil || index?.through == after else { return }
        // Without columns, only what could not be decoded has to be listed.
        let isListed = after != nil && index?.isWithoutColumns ?? false
        for entry in built {
            // The index was begun again, by another program of this version, since the builder read
            // the list.
            if after == nil, index?.awaitsBuilder(entry.id) ?? false { continue }
            // One that was replaced in this transaction cannot have changed since.
            if isListed, entry.old != nil, case .noPlace = entry.outcome { continue }
            let revision = try revision(of: entry.id)
            guard revision == entry.revision else {
                // It was overwritten or removed. If it was in the list, its writer has indexed it
                // or put it there again.
                if after != nil, revision != nil {
                    try putUnindexed(entry.id, .unknown, isNew: false)
                }
                continue
            }
            switch entry.outcome {
            case .values(let values): try putColumns(entry.id, values, isNew: after != nil)
            case .migrated, .removed: break  // Such an entry was replaced in this transaction.
            case .noPlace:
                if index?.isWithoutColumns ?? false {
                    if after == nil { try removeUnindexed(entry.id) }
                } else {
                    try putUnindexed(entry.id, .noPlace, isNew: after != nil)
                }
            case .undecodable: try putUnindexed(entry.id, .undecodable, isNew: after != nil)
            }
        }
        guard after != nil else { return }
        CrashPoint.reached(.indexRowsTaken)
        index?.built += Int64(built.count)
        if let last = built.last?.id { index?.through = last }
        if isAtEnd { index?.through = .max }
    }

    func revision(of entryID: Int64) throws(SQLiteError) -> UInt32? {
        let read = try statement(.revision)
        defer { read.reset() }
        read.bind(entryID, at: 1)
        return try EntryTable.readRevision(read)
    }

    private func columnsStatement(
        _ kind: IndexStatement,
        _ sql: (Int64, Int, Int) -> String
    ) throws(SQLiteError) -> Statement {
        try tables.statement(kind, sql(id, index?.columns ?? 0, index?.collections ?? 0))
    }
}

extension ArchiveTables {
    /// Reads what the row of the index says.
    ///
    /// - Parameter shape: The index that this process declared.
    func readIndexState(for shape: IndexShape?) throws(SQLiteError) -> IndexState? {
        let load = try statement(.loadIndex)
        defer { load.reset() }
        load.bind(id, at: 1)
        guard try load.step() else { return nil }
        let state = IndexState(load)
        guard state.isPossible(for: shape) else {
            throw .corrupt("Invalid description of an index.")
        }
        return state
    }
}
