public import MiniCache
public import Vellum
internal import VellumCore
internal import VellumEngine

extension ArchiveStore {
    /// Removes every expired object now, which otherwise happens in the background.
    ///
    /// Blocks for the disk. Other archives of the file are swept as well.
    public func sweep() { place.file.sweepEverything() }

    /// Records an object as an older program did, whose type had another version.
    ///
    /// ```swift
    /// try store.record(StoredObject(
    ///     version: 0, key: "7", value: ["number": "7", "customer": "Ann"]))
    /// let migrated = try store.access(archiveWithKey: "7")
    /// ```
    ///
    /// Blocks for the disk. Memory does not keep it, so that the next access reads and migrates it.
    ///
    /// - Throws: `VellumError` if the key is too long, or the disk fails.
    public func record(_ object: StoredObject) throws {
        try withStore { (store) throws(VellumError) in
            var transaction = StoreTransaction()
            try transaction.record(
                encoded: object.data, version: Int64(object.version), forKey: EntryKey(object.key), in: store)
            try transaction.commit()
        }
    }
}

extension MiniCache {
    /// Removes every expired value now, which otherwise happens in the background.
    ///
    /// Blocks for the disk. Other caches of the file are swept as well.
    ///
    /// - Throws: `MiniCacheError` if the cache cannot be opened.
    public func sweep() throws { try place.file.sweepEverything() }
}
