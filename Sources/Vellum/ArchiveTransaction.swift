internal import VellumCore
internal import VellumEngine

/// Writes to archives of one factory that are committed together or not at all. See ``ArchivesFactory/transaction(_:)``.
public struct ArchiveTransaction {
    private var writes = StoreTransaction()
    /// Returns whether a handle that is written to was closed.
    private var closedChecks: [() -> Bool] = []

    init() {}

    /// Adds the recording of an object and its archivable properties. Encodes them now, on the caller's thread.
    ///
    /// - Parameters:
    ///   - object: Replaces the object with the same key. Valid for the ``ArchiveStore/expiration`` of `store`.
    ///   - store: An archive of the factory that runs the transaction.
    /// - Throws: ``VellumError`` if the object cannot be encoded or is larger than both limits, or the archive is closed.
    public mutating func record<Archive>(_ object: Archive, in store: ArchiveStore<Archive>) throws {
        do throws(VellumError) {
            try store.add(object, to: &writes)
            closedChecks.append { store.mark.isClosed }
        } catch {
            throw store.store.located(error)
        }
    }

    /// Adds the deletion of the object with the key, if there is one.
    public mutating func delete<Archive>(archiveWithKey key: String, in store: ArchiveStore<Archive>) {
        closedChecks.append { store.mark.isClosed }
        writes.remove(EntryKey(key), in: store.store)
    }

    /// Adds the deletion of every object of an archive.
    public mutating func deleteAll<Archive>(in store: ArchiveStore<Archive>) {
        closedChecks.append { store.mark.isClosed }
        writes.removeAll(in: store.store)
    }

    mutating func commit() throws(VellumError) {
        guard !closedChecks.contains(where: { $0() }) else { throw VellumError.closed }
        try writes.commit()
    }
}
