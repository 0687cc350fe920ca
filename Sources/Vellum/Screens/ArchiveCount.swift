public import Foundation
public import Observation
public import VellumCore
internal import VellumEngine

/// How many objects satisfy a predicate, for a screen: `Observable`, on the main actor, always the
/// present answer.
///
/// ```swift
/// @State private var unread = ArchiveCount(
///     store, where: #Predicate { !$0.isRead })
/// var body: some View { Inbox().badge(unread.value) }
/// ```
///
/// As ``ArchiveResults``, for a number. If an index answers the predicate and no object has an age
/// of its own, nothing is decoded.
@MainActor @Observable
public final class ArchiveCount<Archive: Archivable & Sendable> {
    /// How many there are; 0 before the first answer.
    public private(set) var value = 0
    /// Whether there was an answer.
    public private(set) var isLoaded = false
    /// Why the last question had no answer; `nil` if it had one.
    public private(set) var error: VellumError?
    @ObservationIgnored private var question: ScreenQuestion<Predicate<Archive>?, Int>?

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - store: The store of the objects.
    ///   - predicate: The condition; `nil` for all objects.
    public init(_ store: ArchiveStore<Archive>, where predicate: Predicate<Archive>? = nil) {
        question = ScreenQuestion(
            predicate,
            of: store,
            ask: { (store, predicate, isCancelled) throws(VellumError) in
                try store.observedCount(
                    try QueryDescription(where: predicate),
                    undecodable: .fail,
                    isCancelled: isCancelled
                )
            },
            take: { [weak self] answer, _ in
                guard let self else { return false }
                switch answer {
                case .success(let count):
                    value = count
                    isLoaded = true
                    error = nil
                case .failure(let failure): error = failure
                }
                return true
            }
        )
    }

    /// Asks something else. ``value`` stays until the answer.
    public func ask(where predicate: Predicate<Archive>? = nil) {
        question?.change { $0 = predicate }
    }

    /// Stops observing. The value stays.
    public func stop() { question?.stop() }
}
