package import Foundation
package import VellumCore

// Access to objects that cannot be decoded.

extension Store {
    /// Returns the keys of valid entries that cannot be decoded. Entries of a newer version are not among them, and neither are damaged ones.
    ///
    /// - Complexity: O(n), with one decode for each entry.
    package func undecodableKeys() throws(VellumError) -> [EntryKey] { try undecodableEntries().map(\.key) }

    /// Removes these entries, in one transaction.
    ///
    /// - Returns: How many were removed.
    package func removeUndecodable() throws(VellumError) -> Int {
        var transaction = StoreTransaction()
        for entry in try undecodableEntries() { transaction.remove(entry, in: self) }
        return try transaction.commit().count { $0 }
    }

    private func undecodableEntries() throws(VellumError) -> [QueryOrigin] {
        var found: [QueryOrigin] = []
        var (last, through, hasMore) = (Int64.min, Int64?.none, true)
        while hasMore {
            let read = try disk.scanned(after: last, through: through, ReadLimit(entries: 4096), QueryReads())
            (through, hasMore, last) = (read.through, read.hasMore, read.entries.last?.entry.id ?? last)
            for entry in read.entries where entry.isIntact {
                guard try isValid(entry.entry, of: entry.key, at: clock.now()), !isDecodable(entry) else { continue }
                found.append(QueryOrigin(key: entry.key, entryID: entry.entry.id, revision: entry.entry.revision))
            }
        }
        return found
    }

    /// Whether an entry can be decoded, by this program or a newer one.
    private func isDecodable(_ stored: StoredEntry) -> Bool {
        let entry = stored.entry
        if state.isKnownUndecodable(entry), entry.typeVersion <= version { return false }
        do throws(VellumError) {
            _ = try state.value(of: entry, stored.key)
            return true
        } catch {
            guard error.code != .newerVersion else { return true }
            state.rememberUndecodable(entry)
            return false
        }
    }

    /// Returns the encoded bytes of the valid entry under the key, and the version that they were recorded with. Decodes nothing, and does not
    /// affect the eviction order.
    package func encodedBytes(forKey key: EntryKey) throws(VellumError) -> (bytes: Data, version: Int64)? {
        if let item = memory.peek(key), item.entryID == 0 {
            guard item.isValid(at: clock.now(), key) else { return nil }
            switch item.payload {
            case .bytes(let bytes): return (bytes, version)
            case .value(let value): return (try encode(value), codec.version(of: value))
            }
        }
        guard let entry = try entryOnDisk(forKey: key), try isValid(entry, of: key, at: clock.now()) else { return nil }
        return (entry.bytes, entry.typeVersion)
    }

    /// Returns how far the entries were migrated to the version of the codec.
    package func migrationProgress() throws(VellumError) -> MigrationProgress {
        guard version > 0 else {
            let count = try count()
            return MigrationProgress(examined: count, total: count)
        }
        return MigrationProgress(try disk.indexProgress())
    }
}
