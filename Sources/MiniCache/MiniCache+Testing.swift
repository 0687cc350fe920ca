package import VellumCore
package import VellumEngine

// For a test kit.

extension MiniCache {
    /// The file and the archive.
    package var place: (file: DatabaseFile, archive: Archive) { get throws(MiniCacheError) { try openStore().place } }

    /// How many callers wait for loads.
    package var waitingCallers: Int { get throws(MiniCacheError) { try openStore().waitingCallers } }

    /// Makes everything durable that this process has written.
    package func flush() throws(MiniCacheError) { try withStore { (store) throws(VellumError) in try store.flush() } }

    /// The key as the file has it.
    package func storedKey(of key: Key) throws(MiniCacheError) -> EntryKey { try entryKey(of: key) }
}
