internal import Synchronization
internal import VellumCore

/// The entries that could not be decoded since the store was opened, so that no query tries again. At most 16,384 are remembered: of an
/// archive with more, the others are decoded again by each query.
final class UndecodableEntries: Sendable {
    private static let capacity = 16_384

    private let isEmpty = Atomic(true)
    private let wasReported = Atomic(false)
    /// The revision of each entry, by its id: an entry that is written again is another one.
    private let revisions = Locked<[Int64: UInt32]>([:])

    func insert(_ entry: Entry) {
        guard entry.id != 0 else { return }
        revisions.withLock { revisions in
            guard revisions.count < Self.capacity || revisions[entry.id] != nil else { return }
            revisions[entry.id] = entry.revision
        }
        isEmpty.store(false, ordering: .relaxed)
    }

    /// Forgets an entry that could be decoded after all.
    func remove(_ entry: Entry) {
        guard !isEmpty.load(ordering: .relaxed) else { return }
        revisions.withLock { _ = $0.removeValue(forKey: entry.id) }
    }

    func contains(_ entry: Entry) -> Bool {
        guard !isEmpty.load(ordering: .relaxed) else { return false }
        return revisions.withLock { $0[entry.id] == entry.revision }
    }

    /// Whether this is the first call.
    func isFirstReport() -> Bool { !wasReported.exchange(true, ordering: .relaxed) }
}
