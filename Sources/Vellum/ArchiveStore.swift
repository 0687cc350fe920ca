public import Foundation
public import VellumCore
public import VellumEngine

/// An archive of objects, told strictly: a miss is `nil`, a failure is an error.
///
/// ```swift
/// let users = try ArchivesFactory.shared.store(for: User.self)
/// try users.record(ann)
/// let found = try users.access(archiveWithKey: "ann")
/// ```
///
/// Objects lie in memory over a file on disk, both bounded, the least recently used leaving first. An ``ArchiveManager``
/// is the same archive told forgivingly. Works from any thread. A `Sendable` struct or enum is remembered as it is; any
/// other object is remembered as data, so that whoever accesses it gets one of their own: changing an object after
/// recording it, or one that was accessed, changes nothing inside.
///
/// - Note: Every verb is synchronous and blocks for the disk for some microseconds, or for a sync of it under
///   ``Durability/powerSafe``. From an `async` function that must not wait, use ``perform(_:)``.
public final class ArchiveStore<Archive: Archivable>: Sendable {
    private let hold: StoreHold<Archive>
    /// Whether this handle was closed.
    @usableFromInline let mark: ClosedMark
    @usableFromInline let engine: Store<Archive>
    /// The same, for reading.
    @usableFromInline let uncounted: UnretainedStore<Archive>
    @usableFromInline let factory: ArchivesFactory
    @usableFromInline let nesting = NestedArchives<Archive>()

    /// How long an object is valid that is recorded through this handle without an age of its own; `nil` is for ever.
    public let expiration: Expiration?

    init(_ hold: StoreHold<Archive>, factory: ArchivesFactory, expiration: Expiration?) {
        self.hold = hold
        mark = hold.mark
        engine = hold.store
        uncounted = UnretainedStore(engine)
        self.factory = factory
        self.expiration = expiration
    }

    // MARK: Recording

    /// Records the object under its key, over what is there. A use of it.
    ///
    /// Objects that are properties of it are recorded in their own archives, in the same transaction, as their types'
    /// ``Archivable/archivePropertyBehavior`` says.
    ///
    /// - Parameters:
    ///   - object: Encoded once, on this thread.
    ///   - expiration: How long it is valid; `nil` is as the handle says.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the object cannot be encoded, is larger than every limit, or the disk fails. Then what was
    ///   recorded before is still there.
    @inlinable
    public func record(_ object: Archive, expiration: Expiration? = nil) throws {
        try strictly { () throws(StoreError) in
            var transaction = StoreTransaction()
            try add(object, to: &transaction, expiration: expiration)
            try transaction.commit()
        }
    }

    /// Records all the objects in one transaction: all of them, or none.
    ///
    /// - Complexity: O(m log n) for m objects, which are all encoded in memory first.
    @inlinable
    public func record(contentsOf objects: some Sequence<Archive>, expiration: Expiration? = nil) throws {
        try strictly { () throws(StoreError) in
            var transaction = StoreTransaction()
            for object in objects { try add(object, to: &transaction, expiration: expiration) }
            try transaction.commit()
        }
    }

    @inlinable
    func add(_ object: Archive, to transaction: inout StoreTransaction, expiration: Expiration? = nil) throws(StoreError) {
        guard !mark.isClosed else { throw .closed }
        try transaction.record(object, forKey: EntryKey(object.primaryKey), in: engine, expiration: expiration ?? self.expiration)
        try nesting.add(propertiesOf: object, to: &transaction, factory)
    }

    // MARK: Accessing

    /// The object under the key, or `nil`. A use of it, in memory and for the disk.
    ///
    /// - Complexity: O(1) from memory, O(log n) from disk.
    /// - Throws: ``VellumError`` if the disk fails, the entry is damaged, or its data cannot be decoded.
    @inlinable
    public func access(archiveWithKey key: String) throws -> Archive? {
        do throws(StoreError) {
            guard !mark.isClosed else { throw .closed }
            return try uncounted.value(forKey: EntryKey(key))
        } catch {
            throw VellumError(error)
        }
    }

    /// All objects, or the `limit` that were used last, most recently used first. Not a use.
    ///
    /// An object that cannot be read or decoded is reported as ``StoreEvent/damagedEntry(_:_:)`` and hides no other.
    ///
    /// - Complexity: O(limit × log n), and one decode for each object that memory does not keep as such.
    public func accessAll(limitedBy limit: Int = .max) throws -> [Archive] {
        try strictly { () throws(StoreError) in try engine.values(limit: limit) }
    }

    /// Whether an object is recorded under the key. Not a use, and decodes nothing.
    public func contains(archiveWithKey key: String) throws -> Bool {
        try strictly { () throws(StoreError) in try engine.contains(EntryKey(key)) }
    }

    /// Size and dates of the object under the key. Not a use, and decodes nothing.
    public func metadata(forKey key: String) throws -> EntryMetadata? {
        try strictly { () throws(StoreError) in try engine.metadata(forKey: EntryKey(key)) }
    }

    /// The keys, most recently used first; at most `limit` of them. Not a use.
    public func keys(limitedBy limit: Int = .max) throws -> [String] {
        try strictly { () throws(StoreError) in try engine.keys(limit: limit).map(\.normalized) }
    }

    /// Returns how many objects are stored, including expired objects that were not removed yet and objects that cannot be decoded.
    ///
    /// ``count(where:)`` counts only valid objects that can be decoded. Counting does not affect the eviction order.
    ///
    /// - Complexity: O(1).
    public func count() throws -> Int {
        try strictly { () throws(StoreError) in try engine.count() }
    }

    // MARK: Deleting

    /// Deletes the object under the key. Returns whether there was one.
    @discardableResult
    public func delete(archiveWithKey key: String) throws -> Bool {
        try strictly { () throws(StoreError) in try engine.remove(EntryKey(key)) }
    }

    /// Deletes what is under the keys in one transaction. Returns how many objects there were.
    @discardableResult
    public func delete(archivesWithKeys keys: some Sequence<String>) throws -> Int {
        try strictly { () throws(StoreError) in
            var transaction = StoreTransaction()
            for key in keys { transaction.remove(EntryKey(key), in: engine) }
            return try transaction.commit().count { $0 }
        }
    }

    /// Deletes every object.
    public func deleteAll() throws {
        try strictly { () throws(StoreError) in try engine.removeAll() }
    }

    /// Deletes every object that was last recorded or accessed before `date`. Returns how many there were.
    @discardableResult
    public func deleteAll(lastUsedBefore date: Date) throws -> Int {
        try strictly { () throws(StoreError) in try engine.removeUnused(since: date) }
    }

    // MARK: Looking after it

    /// What the store did since it was opened, and what it holds.
    public func statistics() throws -> StoreStatistics {
        try strictly { () throws(StoreError) in try engine.statistics() }
    }

    /// How many bytes of encoded objects memory and the disk may hold.
    public var limits: (memory: DataSize, disk: DataSize) {
        (DataSize(bytes: engine.capacities.memory.bytes), DataSize(bytes: engine.capacities.disk.bytes))
    }

    /// What happens from now on. An observer that is slow misses the oldest of more than a thousand events.
    public var events: AsyncStream<StoreEvent> { engine.events.events() }

    /// Gives memory back until at most `size` is held there. What left is still on disk.
    public func trimMemory(to size: DataSize) { engine.trimMemory(to: size) }

    /// Makes everything acknowledged before it survive power loss, the order of use included. Blocks for the disk.
    public func flush() throws {
        try strictly { () throws(StoreError) in try engine.flush() }
    }

    /// Closes this handle: every later call of it throws ``StoreError/Code/closed``. Other handles on the archive go on, and with the last
    /// one the archive is closed. Everything acknowledged survives power loss then. Blocks for the disk. Closing twice is closing once.
    ///
    /// - Throws: ``VellumError`` if it cannot be flushed; then the handle is not closed.
    public func close() throws {
        do throws(StoreError) {
            try hold.close()
        } catch {
            throw VellumError(error)
        }
        factory.forget(engine, of: Archive.self)
    }

    /// Runs `work` on a thread that may wait, for callers that may not.
    ///
    /// ```swift
    /// try await users.perform { try $0.record(ann) }
    /// ```
    ///
    /// Runs to its end even if the caller is cancelled: a write is never left half done.
    public func perform<Value: Sendable>(
        _ work: @escaping @Sendable (ArchiveStore<Archive>) throws -> Value
    ) async throws -> Value {
        try await Offload.run { try work(self) }
    }

    @inlinable
    func strictly<Value>(_ body: () throws(StoreError) -> Value) throws(VellumError) -> Value {
        do throws(StoreError) {
            guard !mark.isClosed else { throw .closed }
            return try body()
        } catch {
            throw VellumError(error)
        }
    }
}

// MARK: For the forgiving face

extension ArchiveStore {
    /// Whether neither the handle nor its file was closed.
    var isOpen: Bool { !mark.isClosed && !engine.isClosed }

    var now: Date { engine.now }

    /// Tells observers of a failure that no caller was told. Damaged entries told them by themselves.
    func tell(_ error: VellumError) {
        guard error.code != .damagedEntry, error.code != .notDecodable else { return }
        engine.report(StoreError(error.code, error.message, cause: error.cause))
    }
}
