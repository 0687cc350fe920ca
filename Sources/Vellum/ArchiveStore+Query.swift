public import Foundation
public import VellumCore
internal import VellumEngine

extension ArchiveStore {
    // MARK: Queries

    /// Returns the objects that satisfy a predicate, in order.
    ///
    /// ```swift
    /// let users = try store.fetch(
    ///     where: #Predicate<User> { $0.age > 30 && $0.name.contains("pre") },
    ///     sortedBy: [SortDescriptor(\.age)], limit: 10)
    /// ```
    ///
    /// Conditions that an index of the type covers (``IndexedArchivable``) are answered by the
    /// index; the others are evaluated on decoded objects. An index never changes a result
    /// (``IndexedArchivable`` says of which properties).
    /// ``explain(where:sortedBy:limit:offset:undecodable:)`` runs a query and shows how it was
    /// executed.
    ///
    /// Runs on the caller's thread and blocks it for the disk; writers and checkpoints do not wait
    /// for it. A query sees every object that ``access(archiveWithKey:)`` would find, each once,
    /// including objects that are only in memory. It does not affect the eviction order. Up to 4096
    /// objects, or 4 MB, are read from one snapshot. In a larger query, an object that is changed
    /// during the query is seen before or after the change. A damaged object is left out and
    /// reported as ``StoreEvent/damagedEntry(key:_:)``.
    ///
    /// An object that cannot be decoded, because its type has changed, is an error: a screen that
    /// lists objects should pass `undecodable: .skip`. An index knows of no such object before the
    /// first is read, here or in another query: until then one that it excludes is no error, and
    /// `offset`, counts and sums that it answers alone include those that it finds.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: Most significant first. Objects that compare equal, and all objects if the array
    ///     is empty, are in the order in which their keys were first recorded. `nil` is first, or
    ///     last in a reverse order.
    ///   - limit: The maximum number of objects; `nil` for all.
    ///   - offset: The number of objects to skip. Pages that are read one after the other have each
    ///     object once.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Complexity: O(log n + r), with one decode for each of the r candidates that an index
    ///   finds; O(n) without an index. A sort without an index holds `limit` objects in memory, or
    ///   all without a limit.
    /// - Throws: ``VellumError`` if `limit` or `offset` is negative, an object cannot be decoded
    ///   (``VellumError/Code/notDecodable``, or ``VellumError/Code/newerVersion``), the predicate
    ///   throws for an object that it is evaluated on, or the disk fails. The predicate is not
    ///   evaluated on objects that an index excludes.
    public func fetch(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        undecodable: UndecodableObjects = .fail
    ) throws -> [Archive] {
        try withOpenHandle { () throws(VellumError) in
            if let query = PropertyQuery(
                where: predicate,
                sortedBy: order,
                limit: limit,
                offset: offset
            ),
                let found = try store.answer(query, undecodable: undecodable)
            {
                return found
            }
            return try store.fetch(
                QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset),
                undecodable: undecodable
            )
        }
    }

    /// Returns the first object that satisfies a predicate, in order, or `nil`. Does not affect the
    /// eviction order.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: As for ``fetch(where:sortedBy:limit:offset:undecodable:)``.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Throws: ``VellumError`` if an object cannot be decoded, the predicate throws or the disk
    ///   fails.
    public func first(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        undecodable: UndecodableObjects = .fail
    ) throws -> Archive? {
        try withOpenHandle { () throws(VellumError) in
            if let query = PropertyQuery(where: predicate, sortedBy: order, limit: 1),
                let found = try store.answer(query, undecodable: undecodable)
            {
                return found.first
            }
            return try store.first(
                QueryDescription(where: predicate, sortedBy: order),
                undecodable: undecodable
            )
        }
    }

    /// Returns how many valid objects satisfy the predicate. Counting does not affect the eviction
    /// order.
    ///
    /// Expired objects are not counted, and neither are objects that cannot be decoded, if they are
    /// skipped; ``count()`` counts both. If an index answers the whole predicate, nothing is
    /// decoded, and an object that cannot be is counted until the first such object is read.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Complexity: O(log n + r) for r objects that an index finds; O(n) with one decode for each
    ///   object without an index.
    /// - Throws: ``VellumError`` if an object cannot be decoded, the predicate throws or the disk
    ///   fails.
    public func count(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) throws -> Int {
        try withOpenHandle { () throws(VellumError) in
            if let query = PropertyQuery(where: predicate), let count = try store.count(query) {
                return count
            }
            return try store.count(QueryDescription(where: predicate), undecodable: undecodable)
        }
    }

    /// Returns whether any object satisfies the predicate. Does not affect the eviction order.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Throws: ``VellumError`` if an object cannot be decoded, the predicate throws or the disk
    ///   fails.
    public func exists(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) throws -> Bool {
        try withOpenHandle { () throws(VellumError) in
            if let query = PropertyQuery(where: predicate, limit: 1),
                let found = try store.answer(query, undecodable: undecodable)
            {
                return !found.isEmpty
            }
            return try store.exists(QueryDescription(where: predicate), undecodable: undecodable)
        }
    }

    /// Deletes the objects that satisfy the predicate, in one transaction; while objects are being
    /// migrated (``VersionedArchive``), in several.
    ///
    /// An object that is changed between the search and the deletion is kept. Expired objects are
    /// deleted as well. An object that is being loaded and was never recorded cannot be matched:
    /// delete it by its key, or by a prefix. A transaction that deletes very many objects grows the
    /// write-ahead log beyond 8 MiB until the next checkpoint.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Returns: How many valid objects were deleted.
    /// - Complexity: As ``fetch(where:sortedBy:limit:offset:undecodable:)``, plus O(log n) for each
    ///   deleted object. All keys are held in memory.
    /// - Throws: ``VellumError`` if an object cannot be decoded, the predicate throws or the disk
    ///   fails. No object is deleted.
    @discardableResult
    public func deleteAll(
        where predicate: Predicate<Archive>,
        undecodable: UndecodableObjects = .fail
    ) throws -> Int {
        try whileOpen(store.removeAll(QueryDescription(where: predicate), undecodable: undecodable))
    }

    /// Returns the objects that satisfy a predicate as an asynchronous sequence.
    ///
    /// ```swift
    /// let adults = store.stream(where: #Predicate { $0.age > 30 })
    /// for try await user in adults { … }
    /// ```
    ///
    /// Reads up to 64 objects at a time, on a thread that may block, and holds 8 bytes for each
    /// candidate of an index. A sort without an index holds `limit` objects in memory, or all
    /// without a limit. Nothing is locked between two objects, so writers and checkpoints do not
    /// wait for a slow loop. The stream throws `CancellationError` if its task is cancelled.
    ///
    /// Each object is returned at most once. An object that is recorded, changed or deleted while
    /// the stream runs is seen before or after the change; it is left out if it does not satisfy
    /// the predicate when it is read. An object that is recorded under a new key may be returned or
    /// not. Does not affect the eviction order.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: As for ``fetch(where:sortedBy:limit:offset:undecodable:)``.
    ///   - limit: The maximum number of objects; `nil` for all.
    ///   - offset: The number of objects to skip.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Returns: A sequence that throws ``VellumError`` as
    ///   ``fetch(where:sortedBy:limit:offset:undecodable:)`` does.
    public func stream(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        undecodable: UndecodableObjects = .fail
    ) -> ArchiveStream<Archive> {
        ArchiveStream(store: self, undecodable: undecodable) { () throws(VellumError) in
            try QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset)
        }
    }

    /// Runs the query like ``fetch(where:sortedBy:limit:offset:undecodable:)``, and returns how it
    /// was executed in place of the objects: the part that an index answered, the part that
    /// remained, and how many objects were decoded.
    ///
    /// It takes as long, and blocks the caller's thread for the disk. It does not affect the
    /// eviction order.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: As for ``fetch(where:sortedBy:limit:offset:undecodable:)``.
    ///   - limit: The maximum number of objects; `nil` for all.
    ///   - offset: The number of objects to skip.
    ///   - undecodable: Whether to throw on an object that cannot be decoded, or to skip it.
    /// - Throws: ``VellumError`` as ``fetch(where:sortedBy:limit:offset:undecodable:)`` does.
    public func explain(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        offset: Int = 0,
        undecodable: UndecodableObjects = .fail
    ) throws -> QueryExplanation {
        try whileOpen(
            store.explain(
                QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset),
                undecodable: undecodable
            )
        )
    }

    // MARK: Indexes

    /// Returns how many objects the indexes of the type cover. Until the indexes are complete,
    /// queries are correct but slower.
    ///
    /// ``StoreEvent/indexed(_:)`` reports each step.
    ///
    /// - Throws: ``VellumError`` if the disk fails.
    public func indexProgress() throws -> IndexProgress {
        try whileOpen(store.indexProgress())
    }
}

extension QueryDescription where Value: Archivable {
    init(
        where predicate: Predicate<Value>?,
        sortedBy order: [SortDescriptor<Value>] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) throws(VellumError) {
        if let limit, limit < 0 { throw .negative(limit, "limit") }
        if offset < 0 { throw .negative(offset, "offset") }
        self.init()
        if let predicate { steps.append(.filter(Condition(predicate))) }
        if !order.isEmpty { steps.append(.sort(order.map(Ordering.init))) }
        if offset > 0 { steps.append(.skip(offset)) }
        if let limit { steps.append(.limit(limit)) }
    }
}

extension VellumError {
    fileprivate static func negative(_ number: Int, _ name: String) -> VellumError {
        VellumError(.invalidQuery, "The \(name) of a query is \(number). Pass zero or more.")
    }
}
