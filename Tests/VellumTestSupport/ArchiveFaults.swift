package import VellumCore
package import VellumEngine

/// Makes calls of an archive fail, records its calls, and runs a step of a test between them.
///
/// ```swift
/// let faults = ArchiveFaults()
/// let archive = try file.archive(named: "a", capacity: .unlimited, interceptedBy: faults)
/// faults.fail(.commit, with: VellumError(.diskFull, "No space."), after: 2)   // the third commit fails, and all later ones
/// faults.heal()
/// ```
package final class ArchiveFaults: DiskArchiveInterceptor {
    /// The operations that can fail.
    package enum Operation: Hashable, Sendable, CaseIterable {
        case read, commit, list, maintain

        init?(_ call: DiskArchive.Call) {
            switch call {
            case .entry, .entries, .lastUse, .totals: self = .read
            case .keysByUse: self = .list
            case .commit, .removeUnused: self = .commit
            case .flush: self = .maintain
            }
        }
    }

    private struct Fault {
        var error: VellumError
        var remaining: Int
    }

    private struct State {
        var faults: [Operation: Fault] = [:]
        var calls: [DiskArchive.Call] = []
        var step: (@Sendable (DiskArchive.Call) -> Void)?
    }

    private let state = Locked(State())
    /// The folder of the archive's file, retained while the archive is open.
    private let folder: TemporaryDirectory?

    package init(in folder: TemporaryDirectory? = nil) {
        self.folder = folder
    }

    /// Makes an operation fail after it has succeeded a number of times.
    package func fail(_ operation: Operation, with error: VellumError, after successes: Int = 0) {
        state.withLock { $0.faults[operation] = Fault(error: error, remaining: successes) }
    }

    /// Makes everything work again.
    package func heal() { state.withLock { $0.faults = [:] } }

    /// The calls so far, in order.
    package var calls: [DiskArchive.Call] { state.withLock { $0.calls } }

    package func reset() { state.withLock { $0.calls = [] } }

    /// Runs a step after each call has been carried out and before its result is returned.
    package func interrupt(_ step: (@Sendable (DiskArchive.Call) -> Void)?) { state.withLock { $0.step = step } }

    package func willCarryOut(_ call: DiskArchive.Call) throws(VellumError) {
        let error = state.withLock { state -> VellumError? in
            state.calls.append(call)
            guard let operation = Operation(call), let fault = state.faults[operation] else { return nil }
            state.faults[operation]?.remaining -= 1
            return fault.remaining <= 0 ? fault.error : nil
        }
        if let error { throw error }
    }

    package func didCarryOut(_ call: DiskArchive.Call) { state.withLock { $0.step }?(call) }
}
