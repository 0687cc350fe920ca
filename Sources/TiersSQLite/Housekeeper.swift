internal import Dispatch
internal import Foundation
internal import Tiers

/// When the work happens that no caller should wait for: each kind once, after its delay, on a thread of its own.
///
/// Nothing runs while nothing is due.
final class Housekeeper: Sendable {
    enum Chore: CaseIterable, Hashable, Sendable {
        /// Copy the log into the database.
        case checkpoint
        /// Commit what relaxed writes left open.
        case commitBatch
        /// End snapshots that no one uses.
        case endLeases
        /// Write down uses.
        case writeUses
        /// Build indexes from stored entries.
        case buildIndexes

        var delay: DispatchTimeInterval {
            switch self {
            case .checkpoint, .buildIndexes: .milliseconds(0)
            case .commitBatch, .endLeases: .milliseconds(20)
            case .writeUses: .milliseconds(500)
            }
        }
    }

    private let queue = DispatchQueue(label: "vellum.housekeeping", qos: .utility)
    /// Building runs codecs of users, which may be slow: no other chore waits for it.
    private let buildingQueue = DispatchQueue(label: "vellum.indexing", qos: .utility)
    private let due = Locked<Set<Chore>>([])

    /// Runs `work` after the chore's delay, unless that is to happen already. `work` should hold its file weakly.
    func schedule(_ chore: Chore, _ work: @escaping @Sendable () -> Void) {
        guard due.withLock({ $0.insert(chore).inserted }) else { return }
        let queue = chore == .buildIndexes ? buildingQueue : queue
        queue.asyncAfter(deadline: .now() + chore.delay) { [weak self] in
            _ = self?.due.withLock { $0.remove(chore) }
            work()
        }
    }

    /// Waits for the chores that are due now, and those that they make due.
    func wait() {
        // Asked on the queues, where no chore is under way.
        while buildingQueue.sync(execute: { due.withLock { $0.contains(.buildIndexes) } })
            || queue.sync(execute: { due.withLock { $0.contains(.checkpoint) } })
        {}
    }
}
