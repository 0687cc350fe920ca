internal import Synchronization
internal import VellumCore
internal import VellumEngine

/// The results of a query, one after the other. Made by ``ArchiveStore/stream(where:sortedBy:limit:offset:)``.
///
/// Every loop over it asks anew.
public struct ArchiveStream<Archive: Archivable>: AsyncSequence, Sendable {
    public typealias Element = Archive
    public typealias Failure = any Error

    private let store: ArchiveStore<Archive>
    private let query: @Sendable () throws(StoreError) -> QueryDescription<Archive>

    init(_ store: ArchiveStore<Archive>, _ query: @escaping @Sendable () throws(StoreError) -> QueryDescription<Archive>) {
        self.store = store
        self.query = query
    }

    /// How many objects are held at a time.
    static var objectsAtOnce: Int { 64 }

    public func makeAsyncIterator() -> Iterator { Iterator(store, query) }

    public struct Iterator: AsyncIteratorProtocol {
        private let source: Source
        private var objects: ArraySlice<Archive> = []

        fileprivate init(_ store: ArchiveStore<Archive>, _ query: @escaping @Sendable () throws(StoreError) -> QueryDescription<Archive>) {
            source = Source(store, query)
        }

        public mutating func next() async throws -> Archive? {
            try Task.checkCancellation()
            if let object = objects.popFirst() { return object }
            objects = try await source.more()[...]
            return objects.popFirst()
        }
    }

    // Unchecked because the cursor is protected by the one iterator that has the source: it waits for each answer before it
    // asks again. What the cursor returns is made for the asker and known to no one else.
    private final class Source: @unchecked Sendable {
        private let store: ArchiveStore<Archive>
        private let query: @Sendable () throws(StoreError) -> QueryDescription<Archive>
        private var cursor: QueryCursor<Archive>?

        init(_ store: ArchiveStore<Archive>, _ query: @escaping @Sendable () throws(StoreError) -> QueryDescription<Archive>) {
            self.store = store
            self.query = query
        }

        func more() async throws -> [Archive] {
            let isCancelled = Flag()
            return try await withTaskCancellationHandler {
                try await Offload.run { Handover(objects: try self.read { isCancelled.isSet }) }.objects
            } onCancel: {
                isCancelled.set()
            }
        }

        private func read(isCancelled: @escaping () -> Bool) throws -> [Archive] {
            do throws(StoreError) {
                guard !store.mark.isClosed else { throw .closed }
                if cursor == nil { cursor = QueryCursor(try query(), in: store.engine, atOnce: ArchiveStream.objectsAtOnce) }
                return try cursor?.next(isCancelled: isCancelled) ?? []
            } catch {
                if error.code == .cancelled { throw CancellationError() }
                throw VellumError(error)
            }
        }
    }

    /// Something that is set once, from any thread.
    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    // Unchecked because the objects are protected by being new: they go from the thread that made them to the one that asked.
    private struct Handover: @unchecked Sendable {
        var objects: [Archive]
    }
}
