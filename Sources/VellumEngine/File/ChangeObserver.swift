internal import Synchronization
internal import VellumCore

/// One consumer that is notified when an archive changes. It asks again when it is asked for its
/// next answer: nothing is queued.
///
/// Safe on any thread, but only one task at a time waits.
package final class ChangeObserver: Sendable {
    private struct State {
        /// Whether something may have changed since the last ``begin()``.
        var isDirty = true
        var isEnded = false
        /// Whether the consumer asks for its next answer, or waits for it.
        var isAsking = false
        /// When it got its last answer.
        var answered: ContinuousClock.Instant?
        var waiter: CheckedContinuation<Void, Never>?
        /// Wakes the consumer when an entry of its last answer expires.
        var expiry: Task<Void, Never>?
    }

    let archive: Int64
    /// The hash of the only key that matters; `nil` if every key of the archive does.
    let key: UInt64?
    private let state = Locked(State())
    private let watcher: ChangeWatcher

    init(of archive: Int64, key: UInt64?, isPrompt: Bool, _ watcher: ChangeWatcher) {
        self.archive = archive
        self.key = key
        self.isPrompt = isPrompt
        self.watcher = watcher
    }

    /// Ends the observation. A waiting consumer goes on, and gets no further answer.
    package func stop() {
        watcher.remove(self)
        end()
    }

    /// Returns when there may be another answer. `false`: there is none any more, because the file
    /// was closed or the task is cancelled.
    package func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isDirty, !state.isEnded, !Task.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            resume { _ in }
        }
        return !Task.isCancelled && !state.withLock { $0.isEnded }
    }

    /// A change from now on asks for another answer. To be called before the question.
    package func begin() {
        state.withLock { state in
            state.isDirty = false
            state.expiry?.cancel()
            state.expiry = nil
        }
    }

    /// Whether something may have changed since ``begin()``.
    package var isDirty: Bool { state.withLock { $0.isDirty } }

    // MARK: For tests

    /// Whether the consumer comes back for the next answer by itself: a model of a screen.
    package let isPrompt: Bool

    /// Whether the consumer asks for its next answer, or waits for it.
    package internal(set) var isAsking: Bool {
        get { state.withLock { $0.isAsking } }
        set {
            state.withLock { state in
                state.isAsking = newValue
                if !newValue { state.answered = .now }
            }
        }
    }

    /// When the consumer got its last answer; `nil` before the first.
    package var lastAnswer: ContinuousClock.Instant? { state.withLock { $0.answered } }

    /// Whether the consumer waits, and has been told everything; or will get no further answer.
    package var isSettled: Bool {
        state.withLock { $0.isEnded || $0.waiter != nil && !$0.isDirty }
    }

    // MARK: Changes

    /// Something may have changed.
    package func signal() { resume { $0.isDirty = true } }

    func end() {
        resume { state in
            state.isEnded = true
            state.expiry?.cancel()
            state.expiry = nil
        }
    }

    /// Tells all observers at that moment of a store's clock that an entry has expired.
    ///
    /// - Parameter key: The hash of the entry's key.
    func tellOfEnd(_ key: UInt64, at moment: WallInstant, by clock: WallClock) {
        let begin = clock.timer.now()
        let left = max(1, moment.rawValue &- clock.now().rawValue)
        let task = Task { [weak self] in
            do {
                try await clock.timer.wait(until: begin, plus: left) {
                    guard let self else { return }
                    var changes = ChangedKeys()
                    changes.insert(ChangedKeys.Key(key, .evicted), most: 1)
                    self.watcher.tell(
                        Commit(
                            source: .clock,
                            changes: [Commit.Change(archive: self.archive, keys: changes)]
                        )
                    )
                }
            } catch {}  // There is another answer meanwhile.
        }
        state.withLock { state in
            if state.isDirty || state.isEnded { task.cancel() } else { state.expiry = task }
        }
    }

    /// Changes the state, and lets a waiting consumer go on.
    private func resume(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
