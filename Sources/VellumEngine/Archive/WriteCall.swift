internal import VellumCore

/// The writes of one call, which are carried out together or not at all.
///
/// Unchecked because one thread at a time has it: that of the caller, which waits, then that of the
/// lane, then the caller's again. What both use is guarded by the lane.
final class WriteCall: @unchecked Sendable {
    typealias Continuation = CheckedContinuation<Void, Never>

    private(set) var writes: [ArchiveWrite]
    let durability: Durability
    let size: Int
    /// What the call has beside its writes.
    private var steps: Steps?
    /// Why the call failed.
    var failure: VellumError?
    /// Why its writes were undone, in a transaction with those of others.
    var refusal: SQLiteError?
    /// Whether it was not carried out, and waits for another process with those that came later.
    var isPutBack = false
    /// What they did there, until it is visible.
    var outcomes: [WriteOutcome] = []

    // Guarded by the lane.
    var continuation: Continuation?
    /// What the caller gets when it goes on.
    var result = Result<Void, any Error>.success(())
    var came = ContinuousClock.now
    var isCancelled = false

    /// What a store does for its writes.
    struct Steps {
        /// Returns the positions of the writes in the order of use.
        var stamps: () -> [UseStamp]
        /// Updates memory, under the writer's lock. Again if relaxed writes were lost with their
        /// batch and tried again.
        var updateMemory: ([WriteOutcome], [ArchiveWrite]) -> Void
    }

    init(_ writes: [ArchiveWrite], _ durability: Durability, _ steps: Steps) {
        self.writes = writes
        self.durability = durability
        self.steps = steps
        size = writes.reduce(0) { $0 + $1.size }
    }

    func stamp() {
        for (index, stamp) in (steps?.stamps() ?? []).enumerated() {
            writes[index].stamp = stamp
        }
    }

    /// Notes for the thread when the call came.
    func noteStart() {
        CallStart.forget()
        CallStart.note(.now - came)
    }

    /// Whether it has waited as long as a call may.
    var hasWaited: Bool { .now - came >= .milliseconds(Connection.longestWait) }

    func updateMemory(_ outcomes: [WriteOutcome]) { steps?.updateMemory(outcomes, writes) }

    /// What a call that was cancelled need not keep.
    typealias Content = ([ArchiveWrite], Steps?)

    func takeContent() -> Content {
        (exchange(&writes, with: []), exchange(&steps, with: nil))
    }
}
