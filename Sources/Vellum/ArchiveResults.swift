public import Foundation
public import Observation
public import VellumCore
internal import VellumEngine

/// The objects that satisfy a predicate, for a screen: `Observable`, on the main actor, always the present answer.
///
/// ```swift
/// @State private var invoices = ArchiveResults(
///     store, where: #Predicate { !$0.isPaid },
///     sortedBy: [SortDescriptor(\.date)])
/// var body: some View {
///     List(invoices.value, id: \.primaryKey) { Text($0.title) }
/// }
/// ```
///
/// It observes from its creation until ``stop()``, or until it is released. Reading and decoding run on other threads. After an error it keeps its
/// value, and asks again at the next change.
@MainActor @Observable
public final class ArchiveResults<Archive: Archivable & Sendable> {
    /// The objects, in order; empty before the first answer.
    public private(set) var value: [Archive] = []
    /// Whether there was an answer.
    public private(set) var isLoaded = false
    /// Why the last question had no answer; `nil` if it had one.
    public private(set) var error: VellumError?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - store: The store of the objects.
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: Most significant first.
    ///   - limit: The maximum number of objects; `nil` for all.
    public init(
        _ store: ArchiveStore<Archive>, where predicate: Predicate<Archive>? = nil, sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil
    ) {
        task = following(
            store, nil,
            { (store, _, isCancelled) throws(VellumError) in
                let query = try QueryDescription(where: predicate, sortedBy: order, limit: limit, offset: 0)
                return try store.observed(query, undecodable: .fail, isCancelled: isCancelled)
            }
        ) { [weak self] answer in
            guard let self else { return false }
            switch answer {
            case .success(let objects): (value, isLoaded, error) = (objects, true, nil)
            case .failure(let failure): error = failure
            }
            return true
        }
    }

    isolated deinit { task?.cancel() }

    /// Stops observing. The value stays.
    public func stop() { task?.cancel() }
}

/// The object with a key, for a screen: `Observable`, on the main actor, always the present answer.
///
/// As ``ArchiveResults``, for one object.
@MainActor @Observable
public final class ArchiveResult<Archive: Archivable & Sendable> {
    /// The object; `nil` if there is none, or before the first answer.
    public private(set) var value: Archive?
    /// Whether there was an answer.
    public private(set) var isLoaded = false
    /// Why the last question had no answer; `nil` if it had one.
    public private(set) var error: VellumError?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - store: The store of the object.
    ///   - key: The key of the object.
    public init(_ store: ArchiveStore<Archive>, archiveWithKey key: String) {
        task = following(store, EntryKey(key), { (store, key, _) throws(VellumError) in try store.observed(key) }) { [weak self] answer in
            guard let self else { return false }
            switch answer {
            case .success(let object): (value, isLoaded, error) = (object, true, nil)
            case .failure(let failure): error = failure
            }
            return true
        }
    }

    isolated deinit { task?.cancel() }

    /// Stops observing. The value stays.
    public func stop() { task?.cancel() }
}

/// Observes in a task.
///
/// - Parameter take: Receives each answer on the main actor, and says whether there is still somebody to receive the next.
@MainActor
private func following<Archive: Archivable & Sendable, Answer: Sendable>(
    _ store: ArchiveStore<Archive>, _ key: EntryKey?, _ ask: @escaping ArchiveStore<Archive>.Ask<Answer>,
    _ take: @escaping @MainActor (Result<Answer, VellumError>) -> Bool
) -> Task<Void, Never> {
    Task {
        do throws(VellumError) {
            let observation = try store.observation(key, ask)
            while let answer = await observation.next(), take(answer) {}
        } catch {
            _ = take(.failure(error))
        }
    }
}
