package import Foundation
package import VellumCore
package import VellumEngine

// For metrics and a test kit.

extension MiniCache {
    /// What the handles of the cache share, and its store while it is open, which may be another
    /// one later.
    package var shared:
        (owner: any AnyObject & Sendable, store: @Sendable () -> Store<CachedValue>?)
    {
        (core, { [weak core] in core?.opened })
    }

    /// The file and the archive.
    package var fileAndArchive: (file: DatabaseFile, archive: Archive) {
        get throws(MiniCacheError) { try openStore().fileAndArchive }
    }

    /// How many callers wait for loads.
    package var waitingCallers: Int {
        get throws(MiniCacheError) { try openStore().waitingCallers }
    }

    /// Makes everything durable that this process has written.
    package func flush() throws(MiniCacheError) {
        try withStore { store throws(VellumError) in try store.flush() }
    }

    /// Stores what a program encoded whose type had this version.
    package func store(encoded bytes: Data, version: Int64, _ key: Key) throws(MiniCacheError) {
        let entryKey = try entryKey(of: key)
        try withStore { store throws(VellumError) in
            var transaction = StoreTransaction()
            try transaction.record(encoded: bytes, version: version, forKey: entryKey, in: store)
            try transaction.commit()
        }
        core.didStore(entryKey)
    }

    /// The key as the file has it.
    package func storedKey(of key: Key) throws(MiniCacheError) -> EntryKey { try entryKey(of: key) }
}
