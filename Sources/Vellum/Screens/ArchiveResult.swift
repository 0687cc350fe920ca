public import Observation
public import VellumCore
internal import VellumEngine

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
    @ObservationIgnored private var question: ScreenQuestion<EntryKey, Archive?>?

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - store: The store of the object.
    ///   - key: The key of the object.
    public init(_ store: ArchiveStore<Archive>, archiveWithKey key: String) {
        question = ScreenQuestion(
            EntryKey(key),
            of: store,
            EntryKey(key),
            ask: { (store, key, _) throws(VellumError) in try store.observed(key) },
            take: { [weak self] answer, _ in
                guard let self else { return false }
                switch answer {
                case .success(let object):
                    value = object
                    isLoaded = true
                    error = nil
                case .failure(let failure): error = failure
                }
                return true
            }
        )
    }

    /// Stops observing. The value stays.
    public func stop() { question?.stop() }
}
