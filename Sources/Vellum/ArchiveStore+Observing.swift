public import Foundation
public import VellumCore
internal import VellumEngine

extension ArchiveStore where Archive: Sendable {
    // MARK: Observing

    /// The object with the key, now and after each change.
    ///
    /// ```swift
    /// for try await user in users.observe(archiveWithKey: "ann") { show(user) }
    /// ```
    ///
    /// The first element is what is there. Each later one is what is there when it is requested,
    /// and differs from the last: changes that come faster than the loop takes them are not queued,
    /// and after the last change there is an element with the final state. Changes of every process
    /// that has the file open count, and so do evictions and the end of an age.
    ///
    /// The disk is read on a thread that may block, never on the caller's. Observing does not
    /// affect the eviction order or a sliding age. An iterator keeps the archive open; a sequence
    /// without one keeps nothing. It ends when the task is cancelled or the archive closed. While
    /// the file is suspended, it waits.
    ///
    /// - Parameter key: The key of the object.
    /// - Complexity: O(log n) for each change of the key, at most twenty a second.
    /// - Returns: A sequence that throws ``VellumError`` as ``access(archiveWithKey:)`` does, and
    ///   then ends.
    public func observe(
        archiveWithKey key: String
    ) -> some AsyncSequence<Archive?, VellumError>
        & Sendable
    {
        observed(EntryKey(key)) {
            (store, key, _) throws(VellumError) in try store.observed(key)
        }
    }

    /// The objects that satisfy a predicate, in order, now and after each change.
    ///
    /// ```swift
    /// let open = #Predicate<Invoice> { !$0.isPaid }
    /// let byDate = [SortDescriptor(\Invoice.date)]
    /// let latest = store.observe(where: open, sortedBy: byDate, limit: 20)
    /// for try await invoices in latest { show(invoices) }
    /// ```
    ///
    /// Otherwise as ``observe(archiveWithKey:)``. An answer for which at most 4096 objects, or 4
    /// MB, are examined is a consistent snapshot, and never a part of a transaction. A larger one
    /// is asked again until nothing changed meanwhile, three times at most.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: As for ``fetch(where:sortedBy:limit:offset:undecodable:)``.
    ///   - limit: The maximum number of objects; `nil` for all.
    ///   - undecodable: Whether an object that cannot be decoded ends the sequence with an error,
    ///     or is skipped.
    /// - Complexity: As ``fetch(where:sortedBy:limit:offset:undecodable:)``, for each change of the
    ///   archive, at most twenty a second.
    /// - Returns: A sequence that throws ``VellumError`` as
    ///   ``fetch(where:sortedBy:limit:offset:undecodable:)`` does, and then ends.
    public func observe(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil,
        undecodable: UndecodableObjects = .fail
    ) -> some AsyncSequence<[Archive], VellumError> & Sendable {
        observed(nil) { (store, _, isCancelled) throws(VellumError) in
            let query = try QueryDescription(
                where: predicate,
                sortedBy: order,
                limit: limit,
                offset: 0
            )
            return try store.observed(query, undecodable: undecodable, isCancelled: isCancelled)
        }
    }

    /// How many objects satisfy a predicate, now and after each change.
    ///
    /// Otherwise as ``observe(where:sortedBy:limit:undecodable:)``. If an index answers the
    /// predicate and no object has an age of its own, nothing is decoded.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - undecodable: Whether an object that cannot be decoded ends the sequence with an error,
    ///     or is skipped.
    /// - Complexity: As ``count(where:undecodable:)``, for each change of the archive, at most
    ///   twenty a second.
    /// - Returns: A sequence that throws ``VellumError`` as ``count(where:undecodable:)`` does, and
    ///   then ends.
    public func observeCount(
        where predicate: Predicate<Archive>? = nil,
        undecodable: UndecodableObjects = .fail
    ) -> some AsyncSequence<Int, VellumError> & Sendable {
        observed(nil) { (store, _, isCancelled) throws(VellumError) in
            try store.observedCount(
                try QueryDescription(where: predicate),
                undecodable: undecodable,
                isCancelled: isCancelled
            )
        }
    }

    /// A question about an archive: its store, the key that matters, and whether the answer is not
    /// wanted any more.
    typealias Ask<Answer> =
        @Sendable (Store<Archive>, EntryKey, @escaping () -> Bool) throws(VellumError) ->
        ObservedAnswer<Answer>

    private func observed<Answer: Sendable>(
        _ key: EntryKey?,
        _ ask: @escaping Ask<Answer>
    ) -> ObservedAnswers<Answer> {
        ObservedAnswers { () throws(VellumError) in try self.observation(key, ask) }
    }

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - key: The key that matters; `nil` if all do.
    ///   - isPrompt: Whether the consumer comes back for the next answer by itself.
    func observation<Answer: Sendable>(
        _ key: EntryKey?,
        isPrompt: Bool = false,
        _ ask: @escaping Ask<Answer>
    ) throws(VellumError) -> ObservedQuestion<Answer> {
        guard !mark.isClosed else { throw store.located(.closed) }
        return ObservedQuestion(store.observer(of: key, isPrompt: isPrompt), in: store) {
            [self] (isCancelled) throws(VellumError) in
            try whileOpen(ask(store, key ?? "", isCancelled))
        }
    }
}
