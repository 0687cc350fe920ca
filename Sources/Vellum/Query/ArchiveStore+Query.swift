public import Foundation
public import VellumCore
internal import VellumEngine

extension ArchiveStore {
    // MARK: Queries

    /// The objects that satisfy the predicate, in order.
    ///
    /// ```swift
    /// let users = try store.fetch(
    ///     where: #Predicate<User> { $0.age > 30 && $0.name.contains("pre") }, sortedBy: [SortDescriptor(\.age)], limit: 10)
    /// ```
    ///
    /// What an index of the type covers (``IndexedArchivable``) is answered by it; the rest is asked of decoded objects. An index
    /// never changes an answer. ``explain(where:sortedBy:limit:offset:)`` tells what was done how.
    ///
    /// Runs on the caller's thread and blocks it for the disk; no writer and no checkpoint waits. Sees everything that
    /// ``access(archiveWithKey:)`` would find, each object once, also what lives in memory alone. Not a use of any object. Up to 4096
    /// objects, or 4 MB, are read at one instant; in a larger query an object that someone changes meanwhile is met before or
    /// after the change. An object that cannot be decoded is reported as ``StoreEvent/damagedEntry(_:_:)`` and hides no other.
    ///
    /// - Parameters:
    ///   - predicate: Which objects; all if there is none.
    ///   - order: Most significant first. Equal objects, and all where there is no order, come as their keys were first
    ///     recorded. `nil` comes first, and last where the order is reversed.
    ///   - limit: How many objects at most.
    ///   - offset: How many objects to leave out at the beginning. Where an index answers, one that cannot be decoded counts.
    /// - Complexity: O(log n + r) with one decode for each of r candidates that an index leaves; O(n) without an index. A sort
    ///   that no index serves holds twice the limit, or everything where there is none.
    /// - Throws: ``VellumError`` if the limit or offset is negative, the predicate throws for an object that it is asked of, or the disk
    ///   fails. Of an object that an index leaves out it is not asked.
    public func fetch(
        where predicate: Predicate<Archive>? = nil, sortedBy order: [SortDescriptor<Archive>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [Archive] {
        try strictly { () throws(StoreError) in
            try engine.fetch(QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset))
        }
    }

    /// The first object that satisfies the predicate, in order; `nil` if there is none. Not a use.
    ///
    /// - Throws: ``VellumError`` if the predicate throws or the disk fails.
    public func first(where predicate: Predicate<Archive>? = nil, sortedBy order: [SortDescriptor<Archive>] = []) throws -> Archive? {
        try strictly { () throws(StoreError) in try engine.first(QueryDescription(where: predicate, sortedBy: order)) }
    }

    /// Returns how many valid objects satisfy the predicate. Counting does not affect the eviction order.
    ///
    /// Expired objects are not counted, and neither are objects that cannot be decoded; ``count()`` counts both. If an index answers the
    /// whole predicate, nothing is decoded, and an object that satisfies it is counted even if it could not be decoded.
    ///
    /// - Complexity: O(log n + r) for r objects that an index finds; O(n) with one decode for each object without an index.
    /// - Throws: ``VellumError`` if the predicate throws or the disk fails.
    public func count(where predicate: Predicate<Archive>) throws -> Int {
        try strictly { () throws(StoreError) in try engine.count(QueryDescription(where: predicate)) }
    }

    /// Whether any object satisfies the predicate. Not a use.
    ///
    /// - Throws: ``VellumError`` if the predicate throws or the disk fails.
    public func exists(where predicate: Predicate<Archive>) throws -> Bool {
        try strictly { () throws(StoreError) in try engine.exists(QueryDescription(where: predicate)) }
    }

    /// Deletes the objects that satisfy the predicate, in one transaction, and returns how many there were.
    ///
    /// An object that someone changes between the finding and the deleting stays. One transaction of very many objects makes the
    /// write-ahead log larger than its 8 MiB until the next checkpoint.
    ///
    /// - Complexity: As for ``fetch(where:sortedBy:limit:offset:)``, and O(log n) for each object. Keys of all of them are held.
    /// - Throws: ``VellumError`` if the predicate throws or the disk fails. Then nothing is deleted.
    @discardableResult
    public func deleteAll(where predicate: Predicate<Archive>) throws -> Int {
        try strictly { () throws(StoreError) in try engine.removeAll(QueryDescription(where: predicate)) }
    }

    /// The objects that satisfy the predicate, one after the other.
    ///
    /// ```swift
    /// for try await user in store.stream(where: #Predicate { $0.age > 30 }) { … }
    /// ```
    ///
    /// Holds a few objects at a time, however many match, and eight bytes for each candidate of an index; but a sort that no index
    /// serves holds twice the limit, or everything where there is none. Reads on a thread that may wait. Nothing is locked between two objects: no writer and no checkpoint waits for a slow loop. Ends early when its
    /// task is cancelled.
    ///
    /// Each object is met once. What is recorded, changed or deleted while the stream runs is met before or after the
    /// change; one that does not satisfy the predicate any more when its turn comes is left out. An object that is recorded
    /// under a new key meanwhile may be met or not.
    ///
    /// - Throws: While it runs, ``VellumError`` as ``fetch(where:sortedBy:limit:offset:)`` does, or `CancellationError`.
    public func stream(
        where predicate: Predicate<Archive>? = nil, sortedBy order: [SortDescriptor<Archive>] = [], limit: Int? = nil, offset: Int = 0
    ) -> ArchiveStream<Archive> {
        ArchiveStream(self) { () throws(StoreError) in
            try QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset)
        }
    }

    /// Carries the query out, and tells what an index answered, which one, what remained, and how many objects were decoded.
    ///
    /// - Throws: ``VellumError`` as ``fetch(where:sortedBy:limit:offset:)`` does.
    public func explain(
        where predicate: Predicate<Archive>? = nil, sortedBy order: [SortDescriptor<Archive>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> QueryExplanation {
        try strictly { () throws(StoreError) in
            try engine.explain(QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: offset))
        }
    }

    // MARK: Indexes

    /// How far the indexes of the type are built. Queries are right meanwhile, and slower.
    ///
    /// ``StoreEvent/indexed(_:)`` tells of each step.
    public func indexProgress() throws -> IndexProgress {
        try strictly { () throws(StoreError) in try engine.indexProgress() }
    }
}

// MARK: For the forgiving face

extension ArchiveStore {
    func engine(fetch query: QueryDescription<Archive>) throws -> [Archive] {
        try strictly { () throws(StoreError) in try engine.fetch(query) }
    }

    func engine(explain query: QueryDescription<Archive>) throws -> QueryExplanation {
        try strictly { () throws(StoreError) in try engine.explain(query) }
    }
}

extension QueryDescription where Value: Archivable {
    /// What Swift's own language asks.
    init(
        where predicate: Predicate<Value>?, sortedBy order: [SortDescriptor<Value>] = [], limit: Int? = nil, offset: Int = 0
    ) throws(StoreError) {
        guard offset >= 0, limit ?? 0 >= 0 else {
            throw StoreError(.invalidQuery, "A query cannot return fewer than no objects. Give a limit and an offset of zero or more.")
        }
        self.init()
        if let predicate { steps.append(.filter(Condition(predicate))) }
        if !order.isEmpty { steps.append(.sort(order.map(Ordering.init))) }
        if offset > 0 { steps.append(.skip(offset)) }
        if let limit { steps.append(.limit(limit)) }
    }
}
