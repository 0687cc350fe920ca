package import Foundation
package import VellumCore
package import VellumEngine

// For a test kit.

extension MiniCache {
    /// The file and the archive.
    package var fileAndArchive: (file: DatabaseFile, archive: Archive) { get throws(MiniCacheError) { try openStore().fileAndArchive } }

    /// How many callers wait for loads.
    package var waitingCallers: Int { get throws(MiniCacheError) { try openStore().waitingCallers } }

    /// Makes everything durable that this process has written.
    package func flush() throws(MiniCacheError) { try withStore { (store) throws(VellumError) in try store.flush() } }

    /// Stores what a program encoded whose type had this version.
    package func store(encoded bytes: Data, version: Int64, _ key: Key) throws(MiniCacheError) {
        let entryKey = try entryKey(of: key)
        try withStore { (store) throws(VellumError) in
            var transaction = StoreTransaction()
            try transaction.record(encoded: bytes, version: version, forKey: entryKey, in: store)
            try transaction.commit()
        }
        core.didStore(entryKey)
    }

    /// The key as the file has it.
    package func storedKey(of key: Key) throws(MiniCacheError) -> EntryKey { try entryKey(of: key) }
}
