internal import Tiers

/// Writes to archives of one factory that happen together or not at all. Made by ``ArchivesFactory/transaction(_:)``.
public struct ArchiveTransaction {
    private var writes = StoreTransaction()
    /// Whether a handle that was closed is among those written to.
    private var closedStore = false

    init() {}

    /// Adds the recording of an object, and of its archivable properties. Encodes now.
    ///
    /// - Throws: ``VellumError`` if the object cannot be encoded or is larger than every limit.
    public mutating func record<Archive>(_ object: Archive, in store: ArchiveStore<Archive>) throws {
        do throws(StoreError) {
            try store.add(object, to: &writes)
        } catch {
            throw VellumError(error)
        }
    }

    /// Adds the deletion of the object under the key, if there is one.
    public mutating func delete<Archive>(archiveWithKey key: String, in store: ArchiveStore<Archive>) {
        closedStore = closedStore || store.mark.isClosed
        writes.remove(EntryKey(key), in: store.engine)
    }

    /// Adds the deletion of every object of an archive.
    public mutating func deleteAll<Archive>(in store: ArchiveStore<Archive>) {
        closedStore = closedStore || store.mark.isClosed
        writes.removeAll(in: store.engine)
    }

    mutating func commit() throws(VellumError) {
        do throws(StoreError) {
            if closedStore { throw StoreError.closed }
            try writes.commit()
        } catch {
            throw VellumError(error)
        }
    }
}
