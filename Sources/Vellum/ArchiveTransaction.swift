internal import VellumCore
internal import VellumEngine

/// Reads by key and writes to archives of one factory, which are committed together or not at all.
/// See ``ArchivesFactory/transaction(_:)``.
public struct ArchiveTransaction {
    private var writes = StoreTransaction()
    private var reads = TransactionReads()
    /// What is wrong with an archive that is written to, when the transaction is committed.
    private var problems: [() -> VellumError?] = []
    private let factory: ArchivesFactory
    private let file: DatabaseFile

    init(of factory: ArchivesFactory, on file: DatabaseFile) {
        self.factory = factory
        self.file = file
    }

    /// Adds the recording of an object and its archivable properties. Encodes them now, on the
    /// caller's thread.
    ///
    /// - Parameters:
    ///   - object: Replaces the object with the same key. Valid for the ``ArchiveStore/expiration``
    ///     of `store`.
    ///   - store: An archive of the factory that runs the transaction.
    /// - Throws: ``VellumError`` if the object cannot be encoded or is larger than both limits, or
    ///   the archive is closed or in another file.
    public mutating func record<Archive>(_ object: Archive, in store: ArchiveStore<Archive>) throws
    {
        try store.withOpenHandle { () throws(VellumError) in
            if let problem = store.problem(in: file, of: factory) { throw problem }
            try store.add(object, to: &writes)
            problems.append { [factory, file] in store.problem(in: file, of: factory) }
        }
    }

    /// Returns the object with the key, or `nil` if there is none or it has expired, as it will be
    /// after the writes of this transaction so far.
    ///
    /// What it returns is required when the transaction is committed: if somebody has written the
    /// object by then, nothing is committed and the closure of the transaction runs again. Blocks
    /// for a read of the disk. The object becomes the most recently used.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - store: An archive of the factory that runs the transaction.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the archive is closed or in another file, the disk fails, or
    ///   the object is damaged, cannot be decoded or is of a newer version.
    public mutating func access<Archive>(
        archiveWithKey key: String,
        in store: ArchiveStore<Archive>
    ) throws -> Archive? {
        try store.withOpenHandle { () throws(VellumError) in
            if let problem = store.problem(in: file, of: factory) { throw problem }
            return try reads.value(forKey: EntryKey(key), in: store.store, after: writes)
        }
    }

    /// Adds the deletion of the object with the key, if there is one.
    public mutating func delete<Archive>(
        archiveWithKey key: String,
        in store: ArchiveStore<Archive>
    ) {
        problems.append { [factory, file] in store.problem(in: file, of: factory) }
        writes.remove(EntryKey(key), in: store.store)
    }

    /// Adds the deletion of every object of an archive.
    public mutating func deleteAll<Archive>(in store: ArchiveStore<Archive>) {
        problems.append { [factory, file] in store.problem(in: file, of: factory) }
        writes.removeAll(in: store.store)
    }

    /// Whether some of what was read is not there any more.
    func isOutdated() -> Bool { reads.areOutdated() }

    /// - Returns: Whether everything that was read was still there; otherwise nothing was changed.
    func commit() throws(VellumError) -> Bool {
        for problem in problems { if let problem = problem() { throw problem } }
        return try reads.commit(writes)
    }
}

extension ArchiveStore {
    /// The error if this handle was closed or is on another file. Factories on one folder share
    /// their file.
    fileprivate func problem(in file: DatabaseFile, of other: ArchivesFactory) -> VellumError? {
        if mark.isClosed { return located(.closed) }
        return factory === other || factory.state.withLock { $0.file?.file } === file
            ? nil : located(.differentFiles)
    }
}
