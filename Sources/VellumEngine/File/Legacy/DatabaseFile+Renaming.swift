internal import Foundation
package import VellumCore

// Entries of the original MiniCache are taken over before the type of their keys is known. They get their keys when a cache of that type
// opens.

extension DatabaseFile {
    /// Gives the entries of an open archive that were taken over their keys. Blocks for the disk.
    ///
    /// An entry keeps its value, its dates and its place in the order of use. If several entries get the same key, the one written last stays;
    /// an entry that already has the key always stays.
    ///
    /// Works in small transactions: after a crash, the next call renames the rest.
    ///
    /// - Parameters:
    ///   - name: The name of the archive.
    ///   - newKey: Returns the new key, or `nil` to leave the entry as it is. Called without a lock.
    /// - Complexity: O(log n) if there are no such entries, and O(k log n) for k of them.
    package func renameEntries(ofArchive name: String, to newKey: (EntryKey) -> EntryKey?) throws(VellumError) {
        var rest = try withUsableFile { () throws(SQLiteError) in try originalKeys(ofArchive: name) }[...]
        while !rest.isEmpty {
            let batch = rest.prefix(256).compactMap { old in newKey(old).map { (old: old, new: $0) } }
            rest = rest.dropFirst(256)
            guard !batch.isEmpty else { continue }
            try withUsableFile { () throws(SQLiteError) in try rename(batch, ofArchive: name) }
        }
    }

    /// Returns the keys of entries that were taken over, those of the entries written last first.
    private func originalKeys(ofArchive name: String) throws(SQLiteError) -> [EntryKey] {
        let keys = try withWriter { (writer) throws(SQLiteError) -> [EntryKey]? in
            guard let archive = writer.archive(named: name) else { return nil }
            return try OriginalKeyTable.entries(of: archive.id, on: writer.connection).compactMap(\.key)
        }
        guard let keys else { throw .closedArchive }
        return keys
    }

    private func rename(_ keys: [(old: EntryKey, new: EntryKey)], ofArchive name: String) throws(SQLiteError) {
        let state = try retryingWhenFull { () throws(SQLiteError) in
            try withWriter { (writer) throws(SQLiteError) -> WriteState? in
                guard let archive = writer.archive(named: name) else { return nil }
                try writer.transaction { () throws(SQLiteError) in
                    try archive.load()
                    try archive.rename(keys)
                }
                return WriteState(writer)
            }
        }
        guard let state else { throw .closedArchive }
        CrashPoint.reached(.originalKeysRenamed)
        scheduleMaintenance(state)
    }
}

extension WriteConnection {
    fileprivate func archive(named name: String) -> ArchiveWriter? {
        let name = EntryKey(name).normalized
        return allArchives.first { $0.name == name }
    }
}

extension ArchiveWriter {
    /// Gives entries other keys. Removes an entry if there is one under its new key already. In a transaction.
    fileprivate func rename(_ keys: [(old: EntryKey, new: EntryKey)]) throws(SQLiteError) {
        let reader = ArchiveReader(id: id, checksum: checksum, connection: connection)
        let rename = try connection.prepare(EntryTable.rename)
        for (old, new) in keys {
            // Another process may have been faster. A damaged entry stays where it is.
            guard case .entry(let entry)? = try reader.entry(forKey: old) else { continue }
            if try reader.lastUse(ofKey: new) != nil {
                try delete(entry.id, size: Int64(entry.bytes.count), key: old)
            } else {
                try new.withBytes { (key) throws(SQLiteError) in
                    try EntryTable.runRename(rename, entry.id, key, checksum.sums(of: entry, key: key))
                }
                noteChange(of: old)
                noteChange(of: new)
            }
            try OriginalKeyTable.delete(entry.id, on: connection)
            CrashPoint.reached(.originalKeyRenamed)
        }
    }
}
