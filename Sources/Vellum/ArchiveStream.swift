internal import VellumCore
internal import VellumEngine

/// The results of a query as an asynchronous sequence. See
/// ``ArchiveStore/stream(where:sortedBy:limit:offset:undecodable:)``.
///
/// Each iteration executes the query again.
public struct ArchiveStream<Archive: Archivable>: AsyncSequence, Sendable {
    /// The type of the objects.
    public typealias Element = Archive
    /// The type of the errors: ``VellumError`` or `CancellationError`.
    public typealias Failure = any Error

    let store: ArchiveStore<Archive>
    let undecodable: UndecodableObjects
    let query: @Sendable () throws(VellumError) -> QueryDescription<Archive>

    /// The maximum number of objects that are read at a time.
    static var batchSize: Int { 64 }

    /// Returns an iterator that executes the query at its first call.
    public func makeAsyncIterator() -> Iterator { Iterator(Source(self)) }

    /// An iterator over the results of a query.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: Source
        private var objects: ArraySlice<Archive> = []

        fileprivate init(_ source: Source) { self.source = source }

        /// Returns the next object, or `nil` after the last. Reads from disk on a thread that may
        /// block.
        ///
        /// - Throws: ``VellumError`` if the query is invalid, the predicate throws, the archive is
        ///   closed, or the disk fails; `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Archive? {
            try Task.checkCancellation()
            if let object = objects.popFirst() { return object }
            objects = try await source.nextBatch()[...]
            return objects.popFirst()
        }
    }

    // Unchecked because the cursor is protected by its only user, an iterator, which waits for each
    // batch before it asks for the next.
    fileprivate final class Source: @unchecked Sendable {
        private let stream: ArchiveStream
        private var cursor: QueryCursor<Archive>?

        init(_ stream: ArchiveStream) { self.stream = stream }

        func nextBatch() async throws -> [Archive] {
            try await stream.store.store.lanes.queries.run { try self.read { Task.isCancelled } }
        }

        private func read(isCancelled: @escaping () -> Bool) throws -> [Archive] {
            let store = stream.store.store
            do throws(VellumError) {
                guard !stream.store.mark.isClosed else { throw .closed }
                if cursor == nil {
                    cursor = QueryCursor(
                        try stream.query(),
                        in: store,
                        batchSize: ArchiveStream.batchSize,
                        undecodable: stream.undecodable
                    )
                }
                return try cursor?.next(isCancelled: isCancelled) ?? []
            } catch {
                if error.code == .cancelled { throw CancellationError() }
                throw store.located(error)
            }
        }
    }
}
