public import Foundation
public import VellumCore
internal import VellumEngine

// Decision 86.

/// An archive of objects whose methods are awaited: ``ArchiveStore/async``.
///
/// ```swift
/// try await users.async.record(ann)
/// let found = try await users.async.access(archiveWithKey: "ann")
/// ```
///
/// Each method does what the method of ``ArchiveStore`` does that has its name, and throws what it
/// throws.
///
/// - An object in memory is returned in place. Everything else is read by other threads: at most
///   eight work at a time for all files, some of them at short reads. Those that wait for a sync or
///   for others come on top: at most 64 of short reads, and 64 of the rest.
/// - Objects are encoded in the caller's task. Records and deletions by key that wait are then
///   committed together, and synced together under ``Durability/powerSafe``; an error of one leaves
///   the others as they are.
/// - A method whose task is cancelled before its turn throws `CancellationError`, and has done
///   nothing. A query also ends while it runs. A write that has begun ends, and its result is
///   returned.
/// - Calls that are awaited one after another take effect in that order. Nothing else is promised.
/// - Nothing limits how many wait. ``StoreStatistics/waitingCalls`` and
///   ``StoreStatistics/waitingWrites`` say how many do, and for how long.
public struct AsyncArchiveStore<Archive: Archivable>: Sendable {
    let store: ArchiveStore<Archive>

    // MARK: Recording

    /// Records an object under its key: ``ArchiveStore/record(_:expiration:)``.
    public func record(_ object: Archive, expiration: Expiration? = nil) async throws {
        try await write { transaction in
            try store.add(object, to: &transaction, expiration: expiration)
        }
    }

    /// Records the objects, all or none: ``ArchiveStore/record(contentsOf:expiration:)``.
    public func record(
        contentsOf objects: some Sequence<Archive>,
        expiration: Expiration? = nil
    ) async throws {
        try await write { transaction in
            for object in objects {
                try store.add(object, to: &transaction, expiration: expiration)
            }
        }
    }

    /// Lets a closure change the object with the key:
    /// ``ArchiveStore/update(archiveWithKey:expiration:_:)``.
    @discardableResult
    public func update<Result: Sendable>(
        archiveWithKey key: String,
        expiration: Expiration? = nil,
        _ body: @escaping @Sendable (inout Archive?) throws -> Result
    ) async throws -> Result {
        try await visit { try $0.update(archiveWithKey: key, expiration: expiration, body) }
    }

    /// Records an object unless there is a valid one with its key:
    /// ``ArchiveStore/recordIfAbsent(_:expiration:)``.
    @discardableResult
    public func recordIfAbsent(
        _ object: Archive,
        expiration: Expiration? = nil
    ) async throws -> Bool where Archive: Sendable {
        try await visit { try $0.recordIfAbsent(object, expiration: expiration) }
    }

    /// Reads and writes archives of one factory in one transaction:
    /// ``ArchiveStore/transaction(_:)``.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (inout ArchiveTransaction) throws -> Result
    ) async throws -> Result {
        try await visit { try $0.transaction(body) }
    }

    // MARK: Accessing

    /// Returns the object with the key: ``ArchiveStore/access(archiveWithKey:)``.
    public func access(archiveWithKey key: String) async throws -> Archive? {
        if let object = try store.whileOpen(
            store.store.valueInMemory(forKey: EntryKey(key), under: .never)
        ) {
            return object
        }
        return try await read { try $0.access(archiveWithKey: key) }
    }

    /// Returns the objects with the keys: ``ArchiveStore/access(allKeys:undecodable:)``.
    public func access(
        allKeys keys: some Sequence<String>,
        undecodable: UndecodableObjects = .fail
    ) async throws -> [String: Archive] {
        let keys = Array(keys)
        return try await read { try $0.access(allKeys: keys, undecodable: undecodable) }
    }

    /// Returns the most recently used objects: ``ArchiveStore/accessAll(limit:undecodable:)``.
    public func accessAll(
        limit: Int = .max,
        undecodable: UndecodableObjects = .fail
    ) async throws -> [Archive] {
        try await query { try $0.accessAll(limit: limit, undecodable: undecodable) }
    }

    /// Returns whether there is a valid object with the key:
    /// ``ArchiveStore/contains(archiveWithKey:)``.
    public func contains(archiveWithKey key: String) async throws -> Bool {
        try await read { try $0.contains(archiveWithKey: key) }
    }

    /// Returns the size and dates of the object with the key: ``ArchiveStore/metadata(forKey:)``.
    public func metadata(forKey key: String) async throws -> EntryMetadata? {
        try await read { try $0.metadata(forKey: key) }
    }

    /// Returns the most recently used keys: ``ArchiveStore/keys(limit:)``.
    public func keys(limit: Int = .max) async throws -> [String] {
        try await query { try $0.keys(limit: limit) }
    }

    /// Returns the keys that begin with a text: ``ArchiveStore/keys(prefix:limit:)``.
    public func keys(prefix: String, limit: Int = .max) async throws -> [String] {
        try await query { try $0.keys(prefix: prefix, limit: limit) }
    }

    /// Returns how many objects are stored: ``ArchiveStore/count()``.
    public func count() async throws -> Int { try await read { try $0.count() } }

    // MARK: Deleting

    /// Deletes the object with the key: ``ArchiveStore/delete(archiveWithKey:)``.
    @discardableResult
    public func delete(archiveWithKey key: String) async throws -> Bool {
        try await delete(allKeys: [key]) > 0
    }

    /// Deletes the objects with the keys: ``ArchiveStore/delete(allKeys:)``.
    @discardableResult
    public func delete(allKeys keys: some Sequence<String>) async throws -> Int {
        try await write { transaction in
            for key in keys { transaction.remove(EntryKey(key), in: store.store) }
        }.count { $0 }
    }

    /// Deletes every object: ``ArchiveStore/deleteAll()``.
    public func deleteAll() async throws {
        try await write { transaction in
            transaction.removeAll(in: store.store)
        }
    }

    /// Deletes every object whose key begins with a text: ``ArchiveStore/deleteAll(prefix:)``.
    @discardableResult
    public func deleteAll(prefix: String) async throws -> Int {
        try await visit { try $0.deleteAll(prefix: prefix) }
    }

    /// Deletes every object that was last used before the date:
    /// ``ArchiveStore/deleteAll(lastUsedBefore:)``.
    @discardableResult
    public func deleteAll(lastUsedBefore date: Date) async throws -> Int {
        try await visit { try $0.deleteAll(lastUsedBefore: date) }
    }

    /// Deletes the objects that satisfy the predicate:
    /// ``ArchiveStore/deleteAll(where:undecodable:)``.
    @discardableResult
    public func deleteAll(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) async throws -> Int {
        try await visit { try $0.deleteAll(where: predicate, undecodable: undecodable) }
    }

    /// Deletes the objects that cannot be decoded: ``ArchiveStore/deleteUndecodable()``.
    @discardableResult
    public func deleteUndecodable() async throws -> Int {
        try await visit { try $0.deleteUndecodable() }
    }

    // MARK: Maintaining

    /// Returns counters since the archive was opened: ``ArchiveStore/statistics()``.
    public func statistics() async throws -> StoreStatistics {
        try await read { try $0.statistics() }
    }

    /// Makes every acknowledged write survive power loss: ``ArchiveStore/flush()``.
    public func flush() async throws { try await visit { try $0.flush() } }

    /// Closes the handle of which this is a face: ``ArchiveStore/close()``. Calls that wait throw
    /// ``VellumError/Code/closed`` if it was the last handle.
    public func close() async throws { try await visit { try $0.close() } }

    /// Returns the keys of objects that cannot be decoded: ``ArchiveStore/undecodableKeys()``.
    public func undecodableKeys() async throws -> [String] {
        try await query { try $0.undecodableKeys() }
    }

    /// Returns the data of the object with the key: ``ArchiveStore/encodedData(forKey:)``.
    public func encodedData(forKey key: String) async throws -> Data? {
        try await read { try $0.encodedData(forKey: key) }
    }

    /// Returns the content of the object with the key: ``ArchiveStore/cborValue(forKey:)``.
    public func cborValue(forKey key: String) async throws -> CBORValue? {
        try await read { try $0.cborValue(forKey: key) }
    }

    /// Returns how many objects of older versions are left: ``ArchiveStore/migrationProgress()``.
    public func migrationProgress() async throws -> MigrationProgress {
        try await read { try $0.migrationProgress() }
    }

    /// Returns the progress of building the index: ``ArchiveStore/indexProgress()``.
    public func indexProgress() async throws -> IndexProgress {
        try await read { try $0.indexProgress() }
    }

    // MARK: Steps

    /// Runs a read that may take long on a thread that may block.
    func query<Value>(
        _ work: @escaping @Sendable (ArchiveStore<Archive>) throws -> Value
    ) async throws -> Value {
        try await store.store.lanes.query { [store] in try work(store) }
    }

    private func read<Value>(
        _ work: @escaping @Sendable (ArchiveStore<Archive>) throws -> Value
    ) async throws -> Value {
        try await store.store.lanes.read { [store] in try work(store) }
    }

    private func visit<Value>(
        _ work: @escaping @Sendable (ArchiveStore<Archive>) throws -> Value
    ) async throws -> Value {
        try await store.store.lanes.visit { [store] in try work(store) }
    }

    @discardableResult
    private func write(
        _ add: (inout StoreTransaction) throws -> Void
    ) async throws -> [Bool] {
        try Task.checkCancellation()
        do {
            var transaction = StoreTransaction()
            if store.mark.isClosed { throw VellumError.closed }
            try add(&transaction)
            return try await transaction.commitInTurn()
        } catch let error as VellumError {
            throw store.located(error)
        }
    }
}
