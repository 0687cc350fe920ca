internal import Synchronization
internal import VellumCore

/// The entries that could not be decoded since the store was opened, so that no query tries again.
/// At most 16,384 are remembered: of an archive with more, the others are decoded again by each
/// query. Entries that failed before anyone observed the store are decoded once more, too.
final class UndecodableEntries: Sendable {
    private static let capacity = 16_384

    private let hasNone = Atomic(true)
    private let wasReported = Atomic(false)
    /// By their ids.
    private let entries = Locked<[Int64: Remembered]>([:])

    private struct Remembered {
        /// An entry that is written again is another one.
        var revision: UInt32
        var wasObserved: Bool
    }

    /// Whether every entry could be decoded so far.
    var isEmpty: Bool { hasNone.load(ordering: .relaxed) }

    /// - Parameter isObserved: Whether someone was told.
    func insert(_ entry: Entry, isObserved: Bool) {
        guard entry.id != 0 else { return }
        entries.withLock { entries in
            guard entries.count < Self.capacity || entries[entry.id] != nil else { return }
            entries[entry.id] = Remembered(revision: entry.revision, wasObserved: isObserved)
        }
        hasNone.store(false, ordering: .relaxed)
    }

    /// Forgets an entry that could be decoded after all.
    func remove(_ entry: Entry) {
        guard !isEmpty else { return }
        entries.withLock { _ = $0.removeValue(forKey: entry.id) }
    }

    /// - Parameter isObserved: Whether someone would be told if it could not be decoded now.
    func contains(_ entry: Entry, isObserved: Bool) -> Bool {
        guard !isEmpty, let known = entries.withLock({ $0[entry.id] }) else { return false }
        return known.revision == entry.revision && (known.wasObserved || !isObserved)
    }

    /// Returns `true` once: no query has reported entries that were skipped.
    func isFirstReport() -> Bool { !wasReported.exchange(true, ordering: .relaxed) }
}
