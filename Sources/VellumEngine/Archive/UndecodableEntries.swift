internal import Synchronization
internal import VellumCore

/// The entries that could not be decoded since the store was opened, so that no query tries again.
/// At most 16,384 are remembered: of an archive with more, the others are decoded again by each
/// query. Entries that failed before anyone observed the store are decoded once more, too.
///
/// If the index may have a row of one, it is doubtful: it neither counts nor skips entries as a
/// scan does, so that no query begins with it until the builder has taken the row out.
@usableFromInline package final class UndecodableEntries: Sendable {
    private static let capacity = 16_384

    private let hasNone = Atomic(true)
    private let hasDoubts = Atomic(false)
    private let wasReported = Atomic(false)
    /// By their ids.
    private let entries = Locked<[Int64: Remembered]>([:])

    private struct Remembered {
        /// An entry that is written again is another one.
        var revision: UInt32
        var wasObserved: Bool
        var isDoubtful = false
    }

    package init() {}

    /// Whether every entry could be decoded so far.
    var isEmpty: Bool { hasNone.load(ordering: .relaxed) }

    /// - Parameter isObserved: Whether someone was told.
    /// - Returns: Whether it is remembered, and was not before.
    func insert(_ entry: Entry, isObserved: Bool) -> Bool {
        guard entry.id != 0 else { return false }
        hasNone.store(false, ordering: .relaxed)
        return entries.withLock { entries in
            let known = entries[entry.id]
            guard entries.count < Self.capacity || known != nil else { return false }
            let isNew = known?.revision != entry.revision
            entries[entry.id] = Remembered(
                revision: entry.revision,
                wasObserved: isObserved,
                isDoubtful: !isNew && known?.isDoubtful ?? false
            )
            return isNew
        }
    }

    // MARK: The index

    var isIndexTrusted: Bool { !hasDoubts.load(ordering: .acquiring) }

    func doubt(_ entry: Entry) {
        let new = Remembered(revision: entry.revision, wasObserved: false)
        entries.withLock { entries in
            entries[entry.id, default: new].isDoubtful = true
            hasDoubts.store(true, ordering: .releasing)
        }
    }

    /// The revisions of some doubtful entries, by their ids.
    func doubts(most: Int) -> [Int64: UInt32] {
        entries.withLock { entries in
            Dictionary(
                uniqueKeysWithValues: entries.lazy.filter(\.value.isDoubtful).prefix(most)
                    .map { ($0.key, $0.value.revision) }
            )
        }
    }

    /// To be called when these are no longer in the index.
    func settle(_ doubts: [Int64: UInt32]) {
        entries.withLock { entries in
            for (id, revision) in doubts where entries[id]?.revision == revision {
                entries[id]?.isDoubtful = false
            }
            hasDoubts.store(entries.values.contains(where: \.isDoubtful), ordering: .releasing)
        }
    }

    // MARK: Decoding

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
