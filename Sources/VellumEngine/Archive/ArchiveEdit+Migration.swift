internal import Foundation
internal import VellumCore

// Replaces entries of older versions of their type. An entry keeps its id, its dates and its place
// in the eviction order.

extension ArchiveEdit {
    /// Puts what migrations made of entries in their places, and evicts what exceeds the limit
    /// then.
    ///
    /// - Returns: The entries as they are now, and how many the migration dropped or gave another
    ///   key.
    func replaceMigrated(
        _ built: [BuiltEntry]
    ) throws(SQLiteError) -> (built: [BuiltEntry], removedKeys: Int) {
        var replaced = [BuiltEntry]()
        var removed = [RemovedEntry]()
        for var entry in built {
            // By its id: the index of keys would be read at a random place. Another revision was
            // written since, and the builder looks at it again.
            if let old = entry.old, try revision(of: entry.id) == entry.revision {
                try put(&entry, inPlaceOf: old, &removed)
                CrashPoint.reached(.entryMigrated)
            }
            replaced.append(entry)
        }
        noteRemoval(of: removed, .migrated)
        noteRemoval(of: try evict(), .evicted)
        return (replaced, removed.count)
    }

    private func put(
        _ entry: inout BuiltEntry,
        inPlaceOf old: StoredEntry,
        _ removed: inout [RemovedEntry]
    ) throws(SQLiteError) {
        switch entry.outcome {
        case .migrated(let new): try replace(old, by: new, &entry, &removed)
        case .removed: try drop(old, &removed)
        case .values, .noPlace, .undecodable: break
        }
    }

    private func drop(_ old: StoredEntry, _ removed: inout [RemovedEntry]) throws(SQLiteError) {
        try delete(
            old.entry.id,
            size: Int64(old.entry.size),
            key: old.key,
            .evicted
        )
        removed.append(RemovedEntry(key: old.key, id: old.entry.id))
    }

    private func replace(
        _ old: StoredEntry,
        by new: MigratedEntry,
        _ entry: inout BuiltEntry,
        _ removed: inout [RemovedEntry]
    ) throws(SQLiteError) {
        let size = Int64(old.entry.size)
        var content = old.entry
        content.bytes = new.bytes
        content.typeVersion = new.version
        guard content.size <= capacity.bytes else {
            // It stays as it is, and is migrated whenever it is read.
            entry.outcome = .noPlace
            return
        }
        if new.key != old.key {
            if let other = try find(new.key) {
                guard other.validity.written < content.written else {
                    return try drop(old, &removed)
                }
                try delete(other.id, size: other.size, key: new.key, .evicted)
                removed.append(RemovedEntry(key: new.key, id: other.id))
            }
            let rename = try connection.prepare(EntryTable.rename)
            try EntryTable.runRename(
                rename,
                entry.id,
                new.key,
                checksum.sums(of: content, key: new.key)
            )
            removed.append(RemovedEntry(key: old.key, id: entry.id))
            // Under an unchanged key other processes keep what they have in memory: it is the same
            // object.
            noteChange(of: old.key, .evicted)
            noteChange(of: new.key, .written)
        }
        try update(entry.id, new.key, content)
        try keepMembers(
            entry.id,
            from: old.entry.revision,
            checksum.sums(of: content, key: new.key)
        )
        state.totals.bytes += Int64(content.size) - size
        if Int64(content.size) != size { state.contents.hasChangedEntries = true }
        entry.revision = checksum.sums(of: content, key: new.key).checksum
        entry.outcome = new.indexed.map(IndexedOutcome.values) ?? .noPlace
    }
}

extension MigrationProgress {
    init(_ progress: IndexProgress, removedKeys: Int = 0) {
        self.init(examined: progress.indexed, total: progress.total, removedKeys: removedKeys)
    }
}
