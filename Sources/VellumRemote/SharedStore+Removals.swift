internal import Foundation
internal import Synchronization
package import VellumCore

extension SharedStore {
    // MARK: Events of the connection

    /// Sends the removals that failed before. Until then, their keys are not read.
    package func sendPendingRemovals() {
        guard pending.withLock({ !$0.isEmpty }) else { return }
        Task {
            do throws(RemoteFailure) {
                try await finishAllRemovals()
            } catch {}  // They are sent again.
        }
    }

    /// Retries removals that failed, whatever the reason was, until none is pending. Each removal
    /// reaches the server while the program runs, even if the program releases the cache. The first
    /// failure is reported.
    private func sendAgain() {
        guard pending.withLock({ !exchange(&$0.areSentAgain, with: true) }) else { return }
        Task {
            var backoff = Backoff()
            var generator = SystemRandomNumberGenerator()
            var isReported = false
            repeat {
                do {
                    try await times.pause(backoff.next(using: &generator))
                    try await finishAllRemovals()
                    backoff.reset()
                    isReported = false
                } catch RemoteFailure.closed {
                    return  // The program closed the connection for good.
                } catch let failure as RemoteFailure where !isReported {
                    failures.send(VellumError(failure, cache: name))
                    isReported = true
                } catch {
                    isReported = true
                }
            } while pending.withLock { pending in
                pending.areSentAgain = !pending.isEmpty
                return pending.areSentAgain
            }
        }
    }

    /// The connection was lost: those who wait for another's loader ask again.
    package func didLoseConnection() { signals.signal(nil) }

    /// The server was reached for the first time: what was loaded without it is not returned again.
    package func didConnect() {
        near.forget(nil)
        signals.signal(nil)
    }

    /// A primary of a cluster was reached for the first time: nothing was read of it.
    package func didConnectFirst() {
        near.forgetOutages()
        signals.signal(nil)
    }

    /// What was read of these keys may change without being heard of: they were read elsewhere than
    /// where they are.
    package func didReadElsewhere(_ keys: [EntryKey]) { near.forget(keys) }

    /// A primary of a cluster was reached again, may have changed any key, or has lost slots.
    ///
    /// - Parameter hasMoved: Whether slots have another primary now.
    package func didChange(place: Int, hasMoved: Bool) {
        near.forget(place: place, isMoved: hasMoved)
        if hasMoved { pending.withLock { $0.move(to: places) } }
        signals.signal(nil)
    }

    /// The values of these keys changed; `nil` if any may have changed. Loads of them are
    /// overtaken.
    package func didChange(_ keys: [EntryKey]?) {
        near.forget(keys, isWrite: true)
        signals.signal(keys)
    }

    /// The leases of these keys changed: who waits for one asks again. Their values are what they
    /// were.
    package func didChangeLeases(_ keys: [EntryKey]) { signals.signal(keys) }

    /// Returns when the server has executed the removals of the key that began before the call.
    func finishRemovals(of key: EntryKey) async throws(RemoteFailure) {
        try await finish { $0.lot(ofKey: key, places) }
    }

    /// Returns when the server has executed the removals of the groups that began before the call.
    func finishRemovals(ofGroups groups: some Sequence<EntryKey>) async throws(RemoteFailure) {
        for group in groups { try await finish { $0.lot(ofGroup: group, places) } }
    }

    /// Returns when all removals that began before the call are executed. Those of several
    /// primaries are sent at the same time.
    private func finishAllRemovals() async throws(RemoteFailure) {
        let tasks = pending.withLock { $0.lots(places) }.map { lot in
            Task { () async -> RemoteFailure? in
                do throws(RemoteFailure) {
                    try await finish { $0.lots(places).contains(lot) ? lot : nil }
                    return nil
                } catch {
                    return error
                }
            }
        }
        var failure: RemoteFailure?
        for task in tasks {
            let one = await task.value
            // Nothing is sent again after that.
            if failure != .closed { failure = one ?? failure }
        }
        if let failure { throw failure }
    }

    /// Returns when the removals that began before the call are executed, of which `lot` names the
    /// one to wait for next.
    ///
    /// One task sends all removals of a lot, and all callers wait for it.
    func finish(
        _ lot: (PendingRemovals) -> PendingRemovals.Lot?
    ) async throws(RemoteFailure) {
        // One round of each lot for removals that are being sent, and one for those that are
        // pending.
        var rounds = [PendingRemovals.Lot: Int]()
        var hasFailed = false
        while let lot = pending.withLock({ lot($0) }),
            rounds[lot, default: 0] < 2
        {
            let (task, isNew) = removing.withLock { running in
                if let task = running[lot] { return (task, false) }
                let task = Task { await sendRemovals(lot) }
                running[lot] = task
                return (task, true)
            }
            switch await task.value {
            case .success: rounds[lot, default: 0] += 1
            case .failure(let failure):
                // A failure of another caller's command is retried once.
                if isNew || hasFailed { throw failure }
                hasFailed = true
            }
        }
    }

    private func sendRemovals(_ lot: PendingRemovals.Lot) async -> Result<Void, RemoteFailure> {
        let work = pending.withLock { $0.begin(lot, places) }
        var failure = RemoteFailure?.none
        var failed = Set<Int>?.some([])
        do throws(RemoteFailure) {
            switch work {
            case .keys(let keys, let groups):
                if !keys.isEmpty { try await backend.drop(Array(keys)) }
                if !groups.isEmpty {
                    try await backend.removeGroups(Array(groups), epoch: .random(in: 0...(.max)))
                }
            case .everything(let places):
                let failures = await backend.dropAll(at: places)
                failed = Set(failures.keys)
                near.forget(nil)
                if let one = failures.values.first { throw one }
            case nil: break
            }
        } catch {
            failure = error
            if case .keys = work { failed = nil }
            // A command of this size is never sent: everything is removed instead.
            if error == .tooLarge { pending.withLock { $0.insertEverything(of: places) } }
        }
        // Nobody starts another task before this one has said how it ended.
        removing.withLock { running in
            pending.withLock { $0.end(lot, failed: failed, of: places) }
            running[lot] = nil
        }
        if failure != nil { sendAgain() }
        return failure.map(Result.failure) ?? .success(())
    }

    func remote<Result: Sendable>(
        _ body: () async throws(RemoteFailure) -> Result
    ) async throws(VellumError) -> Result {
        do throws(RemoteFailure) {
            return try await body()
        } catch {
            throw VellumError(error, cache: name)
        }
    }
}
