internal import VellumCore
internal import VellumEngine

/// Reads by key and writes to archives of one factory, which are committed together or not at all. See ``ArchivesFactory/transaction(_:)``.
public struct ArchiveTransaction {
    private var writes = StoreTransaction()
    private var reads = TransactionReads()
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

    /// Returns the object with the key, or `nil` if there is none or it has expired, as it will be after the writes of this transaction so far.
    ///
    /// What it returns is required when the transaction is committed: if somebody has written the object by then, nothing is committed and
    /// the closure of the transaction runs again. Blocks for a read of the disk. The object becomes the most recently used.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - store: An archive of the factory that runs the transaction.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the archive is closed, the disk fails, or the object is damaged, cannot be decoded or is of a newer version.
    public mutating func access<Archive>(archiveWithKey key: String, in store: ArchiveStore<Archive>) throws -> Archive? {
        do throws(VellumError) {
            guard !store.mark.isClosed else { throw .closed }
            return try reads.value(forKey: EntryKey(key), in: store.store, after: writes)
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

    /// Whether some of what was read is not there any more.
    func isOutdated() -> Bool { reads.areOutdated() }

    /// - Returns: Whether everything that was read was still there; otherwise nothing was changed.
    func commit() throws(VellumError) -> Bool {
        guard !closedChecks.contains(where: { $0() }) else { throw VellumError.closed }
        return try reads.commit(writes)
    }
}
