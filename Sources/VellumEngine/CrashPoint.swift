#if DEBUG
    internal import Synchronization
    internal import VellumCore

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Darwin)
        internal import Darwin
    #endif
#endif

/// A point between two steps of the engine where tests can kill the process. Does nothing in a
/// release build (decision 29).
///
/// ```sh
/// # Is killed when it passes `committed` for the third time.
/// VELLUM_CRASH_POINT=committed:3 program
/// ```
package enum CrashPoint: String, CaseIterable, Sendable {
    // A transaction.
    case begun, writeApplied, totalsStored, changeNumbered, changesWritten, changesAnnounced,
        committed, changesFinished, memoryUpdated,
        rollingBack
    // One entry.
    case entryInserted, entryUpdated, entryIndexed, roomMade, entryDeleted, touchDeleted,
        deletionIndexed, clearedDeleted, entryMigrated
    // Removals on a full disk.
    case removalsMarked, removedDeleted
    // Groups.
    case membersCreated, memberInserted, memberRemoved
    // Relaxed writes.
    case relaxedWriteApplied, relaxedWriteInMemory, batchCommitBegins, batchCommitted
    // The sync of power-safe writes.
    case syncBegins, synced
    // The log.
    case checkpointBegins, logCopied, restartBegins, logRestarted
    // Free pages.
    case spaceReturnBegins, spaceReturned
    // Limits that shrink.
    case shrinkBatchCommitted
    // The eviction order.
    case touchesTaken, touchAdded, touchMoved, recencyDeleted, touchesWritten, touchesCommitted
    // Opening.
    case filePlaced, fileConnected, logStarted, fileTablesCreated, formatWritten, formatCommitted
    case archiveAdded, archiveCommitted, archiveDropped
    // Indexes.
    case indexTablesDropped, indexDropped, indexCreated, indexDeclared, indexBatchRead,
        indexRowsTaken, indexCoverageStored
    case indexBatchCommitted, indexesAnalysed
    // Sweeping.
    case policiesWritten, sweepBegins, entrySwept, sweepCommitted
    // A cache that is opened with another version.
    case versionEmptied, versionReplaced
    // Closing.
    case closing, closingTouchesWritten, closingReadersClosed, closed
    // Damage.
    case damageMarked, damagedFileRetired, salvageBegins, salvageBatchCommitted, salvaged
    case asidePathRecorded, damagedFileMoved, damagedFileAside
    // Replacing one file with another.
    case replacementBegins, replacementCompleted, replacementInPlace
    // Data of the original libraries.
    case originalMoved, originalsImported
    // A backup.
    case backupCreated, backupPortionCopied, backupCopied, backupSynced, backupInPlace

    /// Marks that the process has reached `point`: counts it, and kills the process if the point is
    /// armed.
    @inline(__always)
    package static func reached(_ point: CrashPoint) {
        #if DEBUG
            CrashPlan.shared.pass(point)
        #endif
    }

    /// Stops the process when it next passes `point`, until it is told to continue. Only in a debug
    /// build.
    package static func stop(at point: CrashPoint) {
        #if DEBUG
            CrashPlan.shared.arm(point, SIGSTOP)
        #endif
    }

    /// Starts counting how often each point is passed. Only in a debug build.
    package static func startCounting() {
        #if DEBUG
            CrashPlan.shared.startCounting()
        #endif
    }

    /// How often each point was passed since ``startCounting()``.
    package static var passings: [CrashPoint: Int] {
        #if DEBUG
            CrashPlan.shared.passings
        #else
            [:]
        #endif
    }
}

#if DEBUG
    /// The crash point at which to kill the process, and the counts.
    private final class CrashPlan: Sendable {
        static let shared = CrashPlan()

        private struct Plan {
            var armed: CrashPoint?
            var passingsLeft = 0
            var signal = SIGKILL
            var passings: [CrashPoint: Int]?
        }

        /// Whether a point is armed or counted. Almost always false, so that passing a point costs
        /// one load.
        private let isWatching: Atomic<Bool>
        private let plan: Locked<Plan>

        init() {
            var plan = Plan()
            if let words = getenv("VELLUM_CRASH_POINT").map({ String(cString: $0) })?.split(
                separator: ":"
            ), let name = words.first {
                plan.armed = CrashPoint(rawValue: String(name))
                plan.passingsLeft = words.count > 1 ? Int(words[1]) ?? 1 : 1
            }
            isWatching = Atomic(plan.armed != nil)
            self.plan = Locked(plan)
        }

        func arm(_ point: CrashPoint, _ signal: Int32) {
            plan.withLock {
                $0.armed = point
                $0.passingsLeft = 1
                $0.signal = signal
            }
            isWatching.store(true, ordering: .releasing)
        }

        func startCounting() {
            plan.withLock { $0.passings = [:] }
            isWatching.store(true, ordering: .releasing)
        }

        var passings: [CrashPoint: Int] { plan.withLock { $0.passings ?? [:] } }

        func pass(_ point: CrashPoint) {
            guard isWatching.load(ordering: .acquiring) else { return }
            let signal = plan.withLock { plan -> Int32? in
                plan.passings?[point, default: 0] += 1
                guard plan.armed == point else { return nil }
                plan.passingsLeft -= 1
                return plan.passingsLeft == 0 ? plan.signal : nil
            }
            guard let signal else { return }
            kill(getpid(), signal)
            while signal == SIGKILL { pause() }
        }
    }
#endif
