public import Foundation
public import VellumCore
public import VellumEngine

/// An archive of objects with throwing methods: a miss is `nil`, a failure is an error.
///
/// ```swift
/// let users = try ArchivesFactory.shared.store(for: User.self)
/// try users.record(ann)
/// let found = try users.access(archiveWithKey: "ann")
/// ```
///
/// Objects are stored in a file and cached in memory. Both have a limit; the least recently used
/// objects are evicted first. ``ArchiveManager`` is the same archive with methods that do not
/// throw. All methods may be called from any thread.
///
/// Memory keeps the value of a `Sendable` struct or enum. Of any other object, memory keeps the
/// data, and each access decodes a new object: changing an object after recording or accessing it
/// does not change the archive.
///
/// Queries, streams and the next launch see what decodes from the data of an object. If a type does
/// not encode all that it has, a value in memory, which accesses and updates see, differs from
/// that. A debug build logs a warning, once for each type, that names the first property that
/// differs.
///
/// - Note: Methods are synchronous. A read from disk or a write blocks the caller for some
///   microseconds; a write with ``Durability/powerSafe`` blocks until the disk is synced. A task
///   awaits them by ``async``, and blocks no thread that runs tasks.
public final class ArchiveStore<Archive: Archivable>: Sendable {
    private let hold: StoreHold<Archive>
    /// Whether this handle was closed.
    @usableFromInline let mark: ClosedMark
    @usableFromInline let store: Store<Archive>
    /// The same store, for reads on the memory-hit path.
    @usableFromInline let unretained: UnretainedStore<Archive>
    /// The factory that opened the archive.
    public let factory: ArchivesFactory
    @usableFromInline let nestedArchives = NestedArchives<Archive>()

    /// How long an object is valid that is recorded through this handle without an expiration.
    /// `nil`: forever.
    public let expiration: Expiration?

    init(_ hold: StoreHold<Archive>, factory: ArchivesFactory, expiration: Expiration?) {
        self.hold = hold
        mark = hold.mark
        store = hold.store
        unretained = UnretainedStore(store)
        self.factory = factory
        self.expiration = expiration
    }

    // MARK: Recording

    /// Records an object under its key and replaces the object that was there. The object becomes
    /// the most recently used.
    ///
    /// Archivable properties of the object are recorded in the archives of their types, in the same
    /// transaction, according to ``Archivable/archivePropertyBehavior``. The write is as durable as
    /// the ``ArchivesFactory/durability`` of the factory says.
    ///
    /// - Parameters:
    ///   - object: Encoded once, on the caller's thread.
    ///   - expiration: How long the object is valid. `nil`: the ``expiration`` of this handle.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the object cannot be encoded, it is larger than both limits, or
    ///   the disk fails. The object that was recorded before is kept.
    @inlinable
    public func record(_ object: Archive, expiration: Expiration? = nil) throws {
        try withOpenHandle { () throws(VellumError) in
            var transaction = StoreTransaction()
            try add(object, to: &transaction, expiration: expiration)
            try transaction.commit()
        }
    }

    /// Records the objects in one transaction: all of them, or none.
    ///
    /// - Parameters:
    ///   - objects: All are encoded before the first is written.
    ///   - expiration: How long the objects are valid. `nil`: the ``expiration`` of this handle.
    /// - Complexity: O(m log n) for m objects; the data of all of them is in memory.
    /// - Throws: ``VellumError`` as ``record(_:expiration:)`` does. No object is recorded.
    @inlinable
    public func record(
        contentsOf objects: some Sequence<Archive>,
        expiration: Expiration? = nil
    ) throws {
        try withOpenHandle { () throws(VellumError) in
            var transaction = StoreTransaction()
            for object in objects { try add(object, to: &transaction, expiration: expiration) }
            try transaction.commit()
        }
    }

    @inlinable
    func add(
        _ object: Archive,
        to transaction: inout StoreTransaction,
        expiration: Expiration? = nil
    ) throws(VellumError) {
        guard !mark.isClosed else { throw .closed }
        try transaction.record(
            object,
            forKey: EntryKey(object.primaryKey),
            in: store,
            expiration: expiration ?? self.expiration
        )
        try nestedArchives.add(propertiesOf: object, to: &transaction, factory)
    }

    // MARK: Accessing

    /// Returns the object with the key, or `nil` if there is none or it has expired. The object
    /// becomes the most recently used.
    ///
    /// - Complexity: O(1) if memory has the object, else O(log n).
    /// - Throws: ``VellumError`` if the disk fails, the entry is damaged, or its data cannot be
    ///   decoded.
    @inlinable
    public func access(archiveWithKey key: String) throws -> Archive? {
        do throws(VellumError) {
            guard !mark.isClosed else { throw .closed }
            return try unretained.value(forKey: EntryKey(key))
        } catch {
            throw located(error)
        }
    }

    /// The error with the names of the archive and the file. Out of line, so that a hit retains
    /// nothing for it.
    @usableFromInline
    @inline(never)
    func located(_ error: VellumError) -> VellumError { store.located(error) }

    /// Returns the most recently used objects, most recently used first. Does not affect the
    /// eviction order.
    ///
    /// A damaged object is left out and reported as ``StoreEvent/damagedEntry(key:_:)``. The result
    /// is not a consistent snapshot if other callers write at the same time.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of objects. Zero or a negative number returns none.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, because its type has
    ///     changed, or to skip it: a screen that lists things should pass `.skip`.
    /// - Complexity: O(limit × log n), and one decode for each object whose value memory does not
    ///   keep.
    /// - Throws: ``VellumError`` if an object cannot be decoded or the disk fails.
    public func accessAll(
        limit: Int = .max,
        undecodable: UndecodableObjects = .fail
    ) throws -> [Archive] {
        try whileOpen(store.values(limit: limit, undecodable: undecodable))
    }

    /// Returns the objects with the keys, by key. Keys without a valid object are left out. The
    /// objects become the most recently used.
    ///
    /// ```swift
    /// let rows = try users.access(allKeys: page.map(\.id))
    /// ```
    ///
    /// All are of one moment. Reads what memory does not have from one snapshot of the file, and
    /// blocks for that; again if a transaction becomes visible meanwhile, and after three times
    /// while no other thread commits. It takes about as long as a call for each key.
    ///
    /// - Parameters:
    ///   - keys: The keys. One that is there twice is read twice.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, because its type has
    ///     changed, or to skip it.
    /// - Complexity: O(m log n) for m keys; the data of all objects that are read is in memory.
    /// - Throws: ``VellumError`` as ``access(archiveWithKey:)`` does.
    @inlinable
    public func access(
        allKeys keys: some Sequence<String>,
        undecodable: UndecodableObjects = .fail
    ) throws -> [String: Archive] {
        try withOpenHandle { () throws(VellumError) in
            let keys = Array(keys)
            let objects = try store.values(
                forKeys: keys.map { EntryKey($0) },
                undecodable: undecodable
            )
            var found: [String: Archive] = [:]
            found.reserveCapacity(keys.count)
            for (key, object) in zip(keys, objects) {
                if let object { found[key] = object }
            }
            return found
        }
    }

    /// Returns whether there is a valid object with the key. Does not affect the eviction order and
    /// decodes nothing.
    ///
    /// - Complexity: O(log n), and reads the object's data to verify its checksum.
    /// - Throws: ``VellumError`` if the disk fails.
    public func contains(archiveWithKey key: String) throws -> Bool {
        try whileOpen(store.contains(EntryKey(key)))
    }

    /// Returns the size and dates of the object with the key, or `nil`. Does not affect the
    /// eviction order and decodes nothing.
    ///
    /// - Complexity: O(log n), and reads the object's data to verify its checksum.
    /// - Throws: ``VellumError`` if the disk fails.
    public func metadata(forKey key: String) throws -> EntryMetadata? {
        try whileOpen(store.metadata(forKey: EntryKey(key)))
    }

    /// Returns the most recently used keys, most recently used first. Does not affect the eviction
    /// order.
    ///
    /// - Parameter limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(limit × log n).
    /// - Throws: ``VellumError`` if the disk fails.
    public func keys(limit: Int = .max) throws -> [String] {
        try whileOpen(store.keys(limit: limit).map(\.normalized))
    }

    /// Returns the keys that begin with a text, most recently used first. Does not affect the
    /// eviction order.
    ///
    /// - Parameters:
    ///   - prefix: Compared by its normal form: as `é` does not begin with `e`, no key does whose
    ///     next mark is composed with the last letter, or `=`, `<` or `>`, of the prefix. End it
    ///     with `:` or `/`. Every key begins with the empty one.
    ///   - limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(n log n), whatever is found, because nothing orders keys. Where it is needed
    ///   often, declare an index of a property.
    /// - Throws: ``VellumError`` if the disk fails.
    public func keys(prefix: String, limit: Int = .max) throws -> [String] {
        try whileOpen(store.keys(prefix: prefix, limit: limit).map(\.normalized))
    }

    /// Returns how many objects are stored, including expired objects that were not removed yet and
    /// objects that cannot be decoded.
    ///
    /// ``count(where:undecodable:)`` counts only valid objects that can be decoded. Counting does
    /// not affect the eviction order.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``VellumError`` if the disk fails.
    public func count() throws -> Int {
        try whileOpen(store.count())
    }

    // MARK: Deleting

    /// Deletes the object with the key.
    ///
    /// - Returns: Whether there was one.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the disk fails. The object is kept.
    @discardableResult
    public func delete(archiveWithKey key: String) throws -> Bool {
        try whileOpen(store.remove(EntryKey(key)))
    }

    /// Deletes the objects with the keys in one transaction. Keys without an object are ignored.
    ///
    /// - Returns: How many objects were deleted.
    /// - Complexity: O(m log n) for m keys.
    /// - Throws: ``VellumError`` if the disk fails. No object is deleted.
    @discardableResult
    public func delete(allKeys keys: some Sequence<String>) throws -> Int {
        try withOpenHandle { () throws(VellumError) in
            var transaction = StoreTransaction()
            for key in keys { transaction.remove(EntryKey(key), in: store) }
            return try transaction.commit().count { $0 }
        }
    }

    /// Deletes every object, in one transaction.
    ///
    /// - Throws: ``VellumError`` if the disk fails. No object is deleted.
    public func deleteAll() throws {
        try whileOpen(store.removeAll())
    }

    /// Deletes every object whose key begins with a text, in transactions of at most 256 objects,
    /// also expired ones.
    ///
    /// A load of such a key that runs stores nothing, and remembered absences and failures end. An
    /// object that is recorded meanwhile may stay.
    ///
    /// - Parameter prefix: Compared as by ``keys(prefix:limit:)``. The empty one deletes every
    ///   object.
    /// - Returns: How many valid objects were deleted.
    /// - Complexity: O(n log n), because nothing orders keys.
    /// - Throws: ``VellumError`` if the disk fails. Objects of earlier transactions stay deleted.
    @discardableResult
    public func deleteAll(prefix: String) throws -> Int {
        try whileOpen(store.removeAll(prefix: EntryKey(prefix)))
    }

    /// Deletes every object that was last recorded or accessed before the date, in transactions of
    /// at most 256 objects.
    ///
    /// Loads that run record their objects: these are newer.
    ///
    /// - Returns: How many objects were deleted.
    /// - Complexity: O(m log n) for m deleted objects.
    /// - Throws: ``VellumError`` if the disk fails. Objects of earlier transactions stay deleted.
    @discardableResult
    public func deleteAll(lastUsedBefore date: Date) throws -> Int {
        try whileOpen(store.removeUnused(since: date))
    }

    // MARK: Observing and maintaining

    /// Returns counters since the archive was opened, and the current sizes.
    ///
    /// - Throws: ``VellumError`` if the disk fails.
    public func statistics() throws -> StoreStatistics {
        try whileOpen(store.statistics())
    }

    /// The limits of memory and the disk, in bytes of encoded objects.
    public var limits: StorageLimits {
        StorageLimits(
            memory: DataSize(bytes: store.capacities.memory.bytes),
            disk: DataSize(bytes: store.capacities.disk.bytes)
        )
    }

    /// The events from now on. Each stream buffers 1024 events; a slow observer loses the oldest.
    public var events: AsyncStream<StoreEvent> { store.events.events() }

    /// Evicts objects from memory, least recently used first, until at most `size` is left. They
    /// remain on disk.
    ///
    /// - Parameter size: In bytes of encoded objects.
    public func trimMemory(to size: DataSize) { store.trimMemory(to: size) }

    /// Makes every acknowledged write, and the eviction order, survive power loss. Blocks until the
    /// disk is synced.
    ///
    /// - Throws: ``VellumError`` if the disk fails.
    public func flush() throws {
        try whileOpen(store.flush())
    }

    /// Closes this handle: every later call throws ``VellumError/Code/closed``. Other handles on
    /// the archive stay open; closing the last one closes the archive.
    ///
    /// Blocks until every acknowledged write survives power loss. Closing a closed handle has no
    /// effect.
    ///
    /// - Throws: ``VellumError`` if the disk fails. The handle stays open.
    public func close() throws {
        do throws(VellumError) {
            try hold.close()
        } catch {
            throw store.located(error)
        }
        factory.forget(store, of: Archive.self)
    }

    /// The methods of this archive to be awaited, which block no thread that runs tasks.
    ///
    /// ```swift
    /// try await users.async.record(ann)
    /// ```
    public var async: AsyncArchiveStore<Archive> { AsyncArchiveStore(store: self) }

    /// Runs `work` on a thread that may block, for callers that must not: several calls in one
    /// visit.
    ///
    /// ```swift
    /// try await users.perform { users in
    ///     for user in try users.accessAll() { try check(user, users) }
    /// }
    /// ```
    ///
    /// `work` runs to its end even if the caller's task is cancelled.
    ///
    /// - Throws: The error of `work`.
    public func perform<Value: Sendable>(
        _ work: @escaping @Sendable (ArchiveStore<Archive>) throws -> Value
    ) async throws -> Value {
        try await store.lanes.visits.run { try work(self) }
    }

    /// Returns the value of an expression.
    ///
    /// - Throws: ``VellumError`` if this handle was closed or the expression throws.
    func whileOpen<Value>(
        _ value: @autoclosure () throws(VellumError) -> Value
    ) throws(VellumError) -> Value {
        try withOpenHandle(value)
    }

    /// Returns the result of `body`.
    ///
    /// - Throws: ``VellumError`` if this handle was closed or `body` throws.
    @inlinable
    func withOpenHandle<Value>(_ body: () throws(VellumError) -> Value) throws(VellumError) -> Value
    {
        do throws(VellumError) {
            guard !mark.isClosed else { throw .closed }
            return try body()
        } catch {
            throw store.located(error)
        }
    }
}

// MARK: For the methods that do not throw

extension ArchiveStore {
    /// Whether neither the handle nor its file was closed.
    var isOpen: Bool { !mark.isClosed && !store.isClosed }
}

// MARK: For metrics and a test kit

extension ArchiveStore {
    package var engineStore: Store<Archive> { store }

    /// The file and the archive.
    package var fileAndArchive: (file: DatabaseFile, archive: VellumEngine.Archive) {
        store.fileAndArchive
    }

    /// How many callers wait for loads.
    package var waitingCallers: Int { store.waitingCallers }

    /// Runs `body` with the store of the engine, if the archive is open.
    package func withStore<Result>(
        _ body: (Store<Archive>) throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        try whileOpen(body(store))
    }
}
