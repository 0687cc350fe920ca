internal import Dispatch
internal import Foundation
internal import VellumCore

/// When the work happens that no caller should wait for: each kind once, after its delay, on a thread of its own.
///
/// Nothing runs while nothing is due.
final class Maintenance: Sendable {
    enum Task: CaseIterable, Hashable, Sendable {
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
        /// Remove what nobody wants any more.
        case sweep

        var delay: DispatchTimeInterval {
            switch self {
            case .checkpoint, .buildIndexes: .milliseconds(0)
            case .commitBatch, .endLeases: .milliseconds(20)
            case .writeUses: .milliseconds(500)
            case .sweep: .seconds(1)
            }
        }
    }

    private let queue = DispatchQueue(label: "vellum.housekeeping", qos: .utility)
    /// Building runs codecs of users, which may be slow: no other chore waits for it.
    private let buildingQueue = DispatchQueue(label: "vellum.indexing", qos: .utility)
    private let due = Locked<[Task: DispatchTime]>([:])

    init() {
        // Dispatch opens what it waits with when it is first asked to wait, and ends the process where it may open nothing any more. What is
        // due at once it does without waiting.
        queue.asyncAfter(deadline: .now() + .seconds(1)) {}
    }

    /// Runs `work` after the chore's delay, unless that is to happen before then already. `work` should hold its file weakly.
    func schedule(_ task: Task, after delay: DispatchTimeInterval? = nil, _ work: @escaping @Sendable () -> Void) {
        let time = DispatchTime.now() + (delay ?? task.delay)
        let isFirst = due.withLock { due in
            if let other = due[task], other <= time { return false }
            due[task] = time
            return true
        }
        guard isFirst else { return }
        let queue = task == .buildIndexes ? buildingQueue : queue
        queue.asyncAfter(deadline: time) { [weak self] in
            let isDue = self?.due.withLock { due in
                guard due[task] == time else { return false }  // It was wanted earlier, and done.
                due[task] = nil
                return true
            }
            if isDue ?? false { work() }
        }
    }

    private func isDue(_ task: Task) -> Bool { due.withLock { $0[task].map { $0 <= .now() } ?? false } }

    /// Waits for the chores that are due now, and those that they make due.
    func wait() {
        // Asked on the queues, where no chore is under way.
        while buildingQueue.sync(execute: { isDue(.buildIndexes) }) || queue.sync(execute: { isDue(.checkpoint) }) {}
    }
}
