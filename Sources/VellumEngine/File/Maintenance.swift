internal import Dispatch
internal import Foundation
internal import Synchronization
internal import VellumCore

/// Schedules background work: each kind at most once at a time, after its delay, on a background
/// queue.
///
/// No thread or timer runs while nothing is scheduled.
final class Maintenance: Sendable {
    enum Task: UInt8, CaseIterable, Sendable {
        /// Copy the log into the database.
        case checkpoint
        /// Commit relaxed writes.
        case commitBatch
        /// End idle read leases.
        case endLeases
        /// Write buffered touches to the recency log.
        case writeTouches
        /// Build indexes from stored entries.
        case buildIndexes
        /// Remove expired entries.
        case sweep
        /// Delete the entries of archives that were emptied.
        case deleteCleared

        fileprivate var bit: UInt8 { 1 << rawValue }

        var delay: DispatchTimeInterval {
            switch self {
            case .checkpoint, .buildIndexes, .deleteCleared: .milliseconds(0)
            case .commitBatch, .endLeases: .milliseconds(20)
            case .writeTouches: .milliseconds(500)
            case .sweep: .seconds(1)
            }
        }
    }

    private let queue = DispatchQueue(label: "vellum.maintenance", qos: .utility)
    /// Building indexes runs user-supplied codecs, which may be slow, so it does not delay other
    /// work.
    private let buildingQueue = DispatchQueue(label: "vellum.indexing", qos: .utility)
    private let due = Locked<[Task: DispatchTime]>([:])
    /// A bit for each task that is due without a delay.
    private let dueNow = Atomic<UInt8>(0)
    /// When the next sweep is due, in milliseconds since 1970; `.max` if none is scheduled.
    let nextSweep = Atomic(Int64.max)

    init() {
        // Dispatch opens its timer descriptor on the first delayed call, and ends the process if no
        // descriptor is left then. Work without a delay needs no timer. So the timer is created
        // here, while descriptors are available.
        queue.asyncAfter(deadline: .now() + .seconds(1)) {}
    }

    /// Runs `work` after the delay, unless the task is already scheduled for an earlier time.
    /// `work` should hold its file weakly.
    func schedule(
        _ task: Task,
        after delay: DispatchTimeInterval? = nil,
        _ work: @escaping @Sendable () -> Void
    ) {
        let time = DispatchTime.now() + (delay ?? task.delay)
        let isFirst = due.withLock { due in
            if let other = due[task], other <= time { return false }
            due[task] = time
            if delay ?? task.delay == .milliseconds(0) {
                dueNow.bitwiseOr(task.bit, ordering: .sequentiallyConsistent)
            }
            return true
        }
        guard isFirst else { return }
        let queue = task == .buildIndexes ? buildingQueue : queue
        queue.asyncAfter(deadline: time) { [weak self] in
            let isDue = self?.due.withLock { due in
                // Rescheduled for an earlier time, and done.
                guard due[task] == time else { return false }
                due[task] = nil
                self?.dueNow.bitwiseAnd(~task.bit, ordering: .sequentiallyConsistent)
                return true
            }
            if isDue ?? false { work() }
        }
    }

    /// Whether the task was scheduled without a delay and has not begun: then it sees whatever was
    /// done before this call.
    func isDueNow(_ task: Task) -> Bool {
        dueNow.load(ordering: .sequentiallyConsistent) & task.bit != 0
    }

    private func isDue(_ task: Task) -> Bool {
        due.withLock { $0[task].map { $0 <= .now() } ?? false }
    }

    /// Blocks until the checkpoints, deletions and index builds that are due now, and those they
    /// schedule, are done.
    func wait() {
        // Checked on the queues, so no task is running during the check.
        while buildingQueue.sync(execute: { isDue(.buildIndexes) })
            || queue.sync(execute: { isDue(.checkpoint) || isDue(.deleteCleared) })
        {}
    }
}
