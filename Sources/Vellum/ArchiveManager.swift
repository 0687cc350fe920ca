public import Foundation
public import VellumCore
internal import VellumEngine

/// An archive of objects, told forgivingly: no verb throws.
///
/// ```swift
/// let archives = try! ArchivesFactory.shared.archives(for: User.self)
/// archives.record(user)
/// let object = archives.access(archiveWithKey: "user_name")
/// ```
///
/// What fails is logged, reported to ``failures``, and answered with `nil` or nothing; no verb loses what was recorded
/// because of a failure. The same archive told strictly is ``store``. Works from any thread; see ``ArchiveStore`` for
/// what a verb blocks and what a write survives.
public final class ArchiveManager<Archive: Archivable>: Archivist, Sendable {
    /// The same archive, told strictly.
    public let store: ArchiveStore<Archive>

    init(_ store: ArchiveStore<Archive>) {
        self.store = store
    }

    /// The archive of the type in ``ArchivesFactory/shared``.
    ///
    /// - Throws: ``VellumError`` if a size is zero or below, the type has no name that lasts, or the file cannot be opened.
    public init(maxMemorySize: DataSize, maxDiskSize: DataSize) throws {
        store = try ArchivesFactory.shared.makeStore(maxMemorySize, maxDiskSize, nil, .bytes, .forgiving)
    }

    /// The archive of the type in ``ArchivesFactory/shared``; memory keeps values, where the type is no class.
    public init(maxMemorySize: DataSize, maxDiskSize: DataSize) throws where Archive: Sendable {
        store = try ArchivesFactory.shared.makeStore(maxMemorySize, maxDiskSize, nil, .values, .forgiving)
    }

    // MARK: Recording and accessing

    @inlinable
    public func record(_ object: Archive) { forgiving((), "record") { try store.record(object) } }

    public func insert(all objects: [Archive]) { forgiving((), "insert(all:)") { try store.record(contentsOf: objects) } }

    /// The object under the key. A use of it.
    @inlinable
    public func access(archiveWithKey key: String) -> Archive? {
        do {
            return try store.access(archiveWithKey: key)
        } catch {
            report(error, "access")
            return nil
        }
    }

    /// The objects used last, most recently used first; none for a limit of zero or below. Not a use.
    public func accessAll(limitedBy limit: Int) -> [Archive] {
        forgiving([], "accessAll") { try store.accessAll(limitedBy: limit) }
    }

    /// When the object with the key was last recorded or accessed, to a few milliseconds. Not a use.
    public func latestAccessedTime(for key: String) -> Date? {
        forgiving(nil, "latestAccessedTime") { try store.metadata(forKey: key)?.lastUsed }
    }

    // MARK: Queries

    /// The objects that the steps of a query lead to, carried out one after the other. Not a use.
    ///
    /// Without a sort objects come in the order in which their keys were first recorded. What an index of the type covers
    /// (``IndexedArchivable``) is answered by it; see ``ArchiveStore/fetch(where:sortedBy:limit:offset:)`` for what a query sees.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        forgiving([], "process(queries:)") { try store.engine(fetch: description(queries)) }
    }

    /// Carries the query out, and tells what an index answered, which one, what remained, and how many objects were decoded.
    public func explain(queries: [Query<Archive>]) -> QueryExplanation {
        forgiving(QueryExplanation(), "explain(queries:)") { try store.engine(explain: description(queries)) }
    }

    private func description(_ queries: [Query<Archive>]) -> QueryDescription<Archive> {
        for problem in queries.flatMap(\.problems) { report(problem, "process(queries:)") }
        return QueryDescription(queries.map(\.step))
    }

    // MARK: Deleting

    public func delete(archiveWithKey key: String) { forgiving((), "delete") { _ = try store.delete(archiveWithKey: key) } }

    public func delete(allKeys keys: [String]) { forgiving((), "delete(allKeys:)") { _ = try store.delete(archivesWithKeys: keys) } }

    public func deleteAll() { forgiving((), "deleteAll") { try store.deleteAll() } }

    /// Deletes every object that was last recorded or accessed longer ago than the interval, in seconds. Infinity deletes
    /// nothing; a negative interval, or none at all, is reported and deletes nothing either.
    public func deleteAllInvalidateArchives(invalidateTimeInterval interval: TimeInterval) {
        forgiving((), "deleteAllInvalidateArchives") {
            guard interval >= 0 else {
                throw VellumError(.invalidDuration, "An interval must be a number of seconds of zero or more.")
            }
            guard interval.isFinite else { return }
            try store.deleteAll(lastUsedBefore: store.now.addingTimeInterval(-interval))
        }
    }

    // MARK: Sizes

    /// How many bytes of encoded objects memory and the disk may hold together.
    public var maxSize: DataSize { store.limits.memory + store.limits.disk }

    /// How many bytes of encoded objects memory and the disk hold together.
    public var currentSize: DataSize {
        forgiving(.zero, "currentSize") {
            let statistics = try store.statistics()
            return DataSize(bytes: statistics.memory.bytes) + DataSize(bytes: statistics.disk.bytes)
        }
    }

    // MARK: Failures

    /// What fails from now on: verbs of this archive, and what happens behind their backs.
    public var failures: some AsyncSequence<VellumError, Never> & Sendable {
        store.events.compactMap { event in
            switch event {
            case .failure(let error), .damagedEntry(_, let error): VellumError(error)
            case .setAside(_, let salvaged):
                VellumError(.damagedFile, "A damaged file was set aside; \(salvaged) objects of it were taken over.")
            case .onNetwork: VellumError(.onNetwork)
            case .recorded, .removed, .removedAll, .indexed, .limitLowered, .logHeldBack: nil
            }
        }
    }

    @inlinable
    func forgiving<Value>(_ otherwise: Value, _ verb: StaticString, _ body: () throws -> Value) -> Value {
        do {
            return try body()
        } catch {
            report(error, verb)
            return otherwise
        }
    }

    @usableFromInline
    func report(_ error: any Error, _ verb: StaticString) {
        let error = error as? VellumError ?? VellumError(.inputOutput, "\(verb) failed.", cause: error)
        Report.failure(error, verb: verb, Archive.self)
        store.tell(error)
    }
}
