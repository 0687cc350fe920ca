public import Foundation
public import VellumCore
internal import VellumEngine

/// An archive of objects with methods that do not throw.
///
/// ```swift
/// let archives = try ArchivesFactory.shared.archives(for: User.self)
/// archives.record(user)
/// let object = archives.access(archiveWithKey: "user_name")
/// ```
///
/// If an operation fails, it returns `nil` or an empty result, and the error is logged and sent to
/// ``failures``. A failure never loses an object that was recorded before. ``store`` is the same
/// archive with throwing methods.
///
/// All methods are synchronous and may be called from any thread. See ``ArchiveStore`` for what
/// they block and how durable a write is.
public final class ArchiveManager<Archive: Archivable>: Archivist, Sendable {
    /// The same archive, with throwing methods.
    public let store: ArchiveStore<Archive>

    init(_ store: ArchiveStore<Archive>) {
        self.store = store
    }

    /// Opens the archive of the type in ``ArchivesFactory/shared``. Memory keeps encoded objects.
    ///
    /// - Parameters:
    ///   - maxMemorySize: The limit of memory, in bytes of encoded objects.
    ///   - maxDiskSize: The limit of the disk, in bytes of encoded objects.
    /// - Throws: ``VellumError`` if a size is zero or negative, the type is private or local and
    ///   has no ``Archivable/archiveName``, or the file cannot be opened.
    public init(maxMemorySize: DataSize, maxDiskSize: DataSize) throws {
        store = try ArchivesFactory.shared.makeStore(
            maxMemorySize,
            maxDiskSize,
            nil,
            .bytes,
            .nonThrowing
        )
    }

    /// Opens the archive of the type in ``ArchivesFactory/shared``. Memory keeps decoded values,
    /// unless the type is a class.
    ///
    /// - Parameters:
    ///   - maxMemorySize: The limit of memory, in bytes of encoded objects.
    ///   - maxDiskSize: The limit of the disk, in bytes of encoded objects.
    /// - Throws: ``VellumError`` if a size is zero or negative, the type is private or local and
    ///   has no ``Archivable/archiveName``, or the file cannot be opened.
    public init(maxMemorySize: DataSize, maxDiskSize: DataSize) throws where Archive: Sendable {
        store = try ArchivesFactory.shared.makeStore(
            maxMemorySize,
            maxDiskSize,
            nil,
            .values,
            .nonThrowing
        )
    }

    // MARK: Recording and accessing

    /// Records an object under its key and replaces the object that was there. The object becomes
    /// the most recently used.
    ///
    /// If recording fails, the object that was recorded before is kept and the failure is reported
    /// to ``failures``.
    ///
    /// - Complexity: O(log n).
    @inlinable
    public func record(_ object: Archive) {
        reportingFailure(of: "record", default: ()) {
            try store.record(object)
            didRecord()
        }
    }

    /// Records the objects in one transaction: all of them, or none if one fails.
    ///
    /// - Complexity: O(m log n) for m objects.
    @inlinable
    public func insert(all objects: [Archive]) {
        reportingFailure(of: "insert(all:)", default: ()) {
            try store.record(contentsOf: objects)
            didRecord()
        }
    }

    /// Returns the object with the key, or `nil`. The object becomes the most recently used.
    ///
    /// - Complexity: O(1) if memory has the object, else O(log n).
    @inlinable
    public func access(archiveWithKey key: String) -> Archive? {
        do {
            return try store.access(archiveWithKey: key)
        } catch {
            report(error, "access")
            return nil
        }
    }

    /// Returns the most recently used objects, most recently used first. Does not affect the
    /// eviction order.
    ///
    /// - Parameter limit: The maximum number of objects. Zero or a negative number returns none.
    /// - Complexity: O(limit × log n).
    public func accessAll(limitedBy limit: Int) -> [Archive] {
        reportingFailure(of: "accessAll", default: []) {
            try store.accessAll(limit: limit, undecodable: .skip)
        }
    }

    /// Returns when the object with the key was last recorded or accessed, to a few milliseconds.
    /// Does not affect the eviction order.
    ///
    /// - Returns: The time, or `nil` if there is no object with the key.
    public func latestAccessedTime(for key: String) -> Date? {
        reportingFailure(of: "latestAccessedTime", default: nil) {
            try store.metadata(forKey: key)?.lastUsed
        }
    }

    // MARK: Queries

    /// Returns the objects that result from the steps of a query, executed in order. Does not
    /// affect the eviction order.
    ///
    /// Without a sort, objects are in the order in which their keys were first recorded. Conditions
    /// that an index of the type covers (``IndexedArchivable``) are answered by the index. See
    /// ``ArchiveStore/fetch(where:sortedBy:limit:offset:undecodable:)`` for which objects a query
    /// sees.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        reportingFailure(of: "process(queries:)", default: []) {
            try store.whileOpen(store.store.fetch(description(queries), undecodable: .skip))
        }
    }

    /// Runs the query like ``process(queries:)``, and returns how it was executed in place of the
    /// objects: the part that an index answered, the part that remained, and how many objects were
    /// decoded.
    public func explain(queries: [Query<Archive>]) -> QueryExplanation {
        reportingFailure(of: "explain(queries:)", default: QueryExplanation()) {
            try store.whileOpen(store.store.explain(description(queries), undecodable: .skip))
        }
    }

    private func description(_ queries: [Query<Archive>]) -> QueryDescription<Archive> {
        // Closures and not key paths: in generic code a key path is made anew each time, which
        // takes microseconds.
        for problem in queries.flatMap({ $0.problems }) { report(problem, "process(queries:)") }
        return QueryDescription(queries.map { $0.step })
    }

    // MARK: Deleting

    /// Deletes the object with the key, if there is one.
    public func delete(archiveWithKey key: String) {
        reportingFailure(of: "delete", default: ()) { _ = try store.delete(archiveWithKey: key) }
    }

    /// Deletes the objects with the keys in one transaction. Keys without an object are ignored.
    public func delete(allKeys keys: [String]) {
        reportingFailure(of: "delete(allKeys:)", default: ()) {
            _ = try store.delete(allKeys: keys)
        }
    }

    /// Deletes every object.
    public func deleteAll() {
        reportingFailure(of: "deleteAll", default: ()) { try store.deleteAll() }
    }

    /// Deletes every object that was last recorded or accessed longer ago than the interval.
    ///
    /// - Parameter interval: In seconds. Infinity deletes nothing. A negative number and NaN are
    ///   reported to ``failures`` and delete nothing.
    public func deleteAllInvalidateArchives(invalidateTimeInterval interval: TimeInterval) {
        reportingFailure(of: "deleteAllInvalidateArchives", default: ()) {
            guard interval >= 0 else {
                throw VellumError(
                    .invalidDuration,
                    "The interval is negative or NaN. Pass a number of seconds of zero or more."
                )
            }
            guard interval.isFinite else { return }
            try store.deleteAll(lastUsedBefore: store.store.now.addingTimeInterval(-interval))
        }
    }

    // MARK: Sizes

    /// The sum of the limits of memory and the disk, in bytes of encoded objects.
    public var maxSize: DataSize { store.limits.memory + store.limits.disk }

    /// The sum of the current sizes of memory and the disk, in bytes of encoded objects. An object
    /// in both counts twice.
    public var currentSize: DataSize {
        reportingFailure(of: "currentSize", default: .zero) {
            let statistics = try store.statistics()
            return DataSize(bytes: statistics.memory.bytes) + DataSize(bytes: statistics.disk.bytes)
        }
    }

    // MARK: Failures

    /// The failures from now on: of methods of this archive, and of work in the background.
    ///
    /// It has every failure. The log has one line when a file can no longer be used, and one with
    /// the number of failed calls when it is opened or written again; of other failures with one
    /// code, it has the 1st, 10th, 100th and so on.
    public var failures: some AsyncSequence<VellumError, Never> & Sendable {
        store.events.compactMap { event in
            switch event {
            case .failure(let error), .damagedEntry(_, let error): error
            case .setAside(_, let salvaged):
                VellumError(
                    .damagedFile,
                    """
                    The damaged file was renamed and replaced; \(salvaged) objects were copied. \
                    Record objects that are missing again.
                    """
                )
            case .onNetwork: .onNetwork
            case .recorded, .removed, .removedAll, .indexed, .migrated, .imported,
                .skippedUndecodable, .limitLowered, .versionReplaced,
                .logHeldBack:
                nil
            }
        }
    }

    /// Returns the result of `body`, or the default value after reporting its error.
    @inlinable
    func reportingFailure<Value>(
        of operation: StaticString,
        default value: Value,
        _ body: () throws -> Value
    ) -> Value {
        do {
            return try body()
        } catch {
            report(error, operation)
            return value
        }
    }

    /// Logs that a file can be written again, if it could not be.
    @usableFromInline
    func didRecord() {
        Report.succeeded(.writing, Archive.self, in: store.factory.fileURL, store.located)
    }

    @usableFromInline
    func report(_ error: any Error, _ operation: StaticString) {
        let error =
            error as? VellumError
            ?? VellumError(.inputOutput, "'\(operation)' failed. See the cause.", cause: error)
        Report.failure(error, operation: operation, Archive.self)
        // Damaged entries are already reported where they are found.
        guard error.code != .damagedEntry, !error.isOfDecoding else { return }
        store.store.report(error)
    }
}
