internal import Foundation
internal import VellumCore

// Replaces entries of older versions of their type. An entry keeps its id, its dates and its place in the eviction order.

extension ArchiveWriter {
    /// Puts what migrations made of entries in their places, and evicts what exceeds the limit then. In a transaction.
    func replaceMigrated(_ built: [BuiltEntry]) throws(SQLiteError) -> ReplacedEntries {
        var replaced = ReplacedEntries()
        for var entry in built {
            if let old = entry.old {
                // Otherwise it was written or removed since it was read, and the builder looks at it again.
                guard let present = try find(old.key), present.id == entry.id, present.revision == entry.revision else {
                    entry.revision = ~entry.revision
                    replaced.built.append(entry)
                    continue
                }
                switch entry.outcome {
                case .migrated(let new): try replace(old, present, by: new, &entry, &replaced.removed)
                case .removed: try drop(old, present, &replaced.removed)
                case .values, .noPlace, .undecodable: break
                }
                CrashPoint.reached(.entryMigrated)
            }
            replaced.built.append(entry)
        }
        replaced.evicted = try evict().removed
        return replaced
    }

    private func drop(_ old: StoredEntry, _ present: EntryHead, _ removed: inout [RemovedEntry]) throws(SQLiteError) {
        try delete(present.id, size: present.size, key: old.key)
        removed.append(RemovedEntry(key: old.key, id: present.id))
    }

    private func replace(
        _ old: StoredEntry, _ present: EntryHead, by new: MigratedEntry, _ entry: inout BuiltEntry, _ removed: inout [RemovedEntry]
    ) throws(SQLiteError) {
        var content = old.entry
        (content.bytes, content.flags, content.typeVersion) = (new.bytes, 0, new.version)
        guard content.size <= capacity.bytes else {
            // It stays as it is, and is migrated whenever it is read.
            entry.outcome = .noPlace
            return
        }
        if new.key != old.key {
            if let other = try find(new.key) {
                guard other.validity.written < content.written else { return try drop(old, present, &removed) }
                try delete(other.id, size: other.size, key: new.key)
                removed.append(RemovedEntry(key: new.key, id: other.id))
            }
            let rename = try connection.prepare(EntryTable.rename)
            try new.key.withBytes { (key) throws(SQLiteError) in
                try EntryTable.runRename(rename, present.id, key, checksum.sums(of: content, key: key))
            }
            removed.append(RemovedEntry(key: old.key, id: present.id))
            changed.insert(new.key)
        }
        changed.insert(old.key)
        try noteFile(of: present.id, size: present.size)
        try update(present.id, new.key, content)
        totals.bytes += Int64(content.size) - present.size
        if Int64(content.size) != present.size { hasChangedEntries = true }
        entry.revision = new.key.withBytes { checksum.of(content, key: $0) }
        entry.outcome = new.indexed.map(IndexedOutcome.values) ?? .noPlace
    }
}

/// What was done with the entries that the builder has read.
struct ReplacedEntries {
    /// The entries as they are now.
    var built: [BuiltEntry] = []
    /// Entries that the migration dropped or that have another key now.
    var removed: [RemovedEntry] = []
    var evicted: [RemovedEntry] = []
}

extension MigrationProgress {
    init(_ progress: IndexProgress) {
        self.init(examined: progress.indexed, total: progress.total, isComplete: progress.isComplete)
    }
}
