internal import VellumCore
internal import VellumEngine

/// Writes to archives of one factory that happen together or not at all. Made by ``ArchivesFactory/transaction(_:)``.
public struct ArchiveTransaction {
    private var writes = StoreTransaction()
    /// Asks the handles that are written to whether they were closed.
    private var areClosed: [() -> Bool] = []

    init() {}

    /// Adds the recording of an object, and of its archivable properties. Encodes now.
    ///
    /// - Throws: ``VellumError`` if the object cannot be encoded or is larger than every limit.
    public mutating func record<Archive>(_ object: Archive, in store: ArchiveStore<Archive>) throws {
        do throws(StoreError) {
            try store.add(object, to: &writes)
            areClosed.append { store.mark.isClosed }
        } catch {
            throw VellumError(error)
        }
    }

    /// Adds the deletion of the object under the key, if there is one.
    public mutating func delete<Archive>(archiveWithKey key: String, in store: ArchiveStore<Archive>) {
        areClosed.append { store.mark.isClosed }
        writes.remove(EntryKey(key), in: store.engine)
    }

    /// Adds the deletion of every object of an archive.
    public mutating func deleteAll<Archive>(in store: ArchiveStore<Archive>) {
        areClosed.append { store.mark.isClosed }
        writes.removeAll(in: store.engine)
    }

    mutating func commit() throws(VellumError) {
        do throws(StoreError) {
            guard !areClosed.contains(where: { $0() }) else { throw StoreError.closed }
            try writes.commit()
        } catch {
            throw VellumError(error)
        }
    }
}
