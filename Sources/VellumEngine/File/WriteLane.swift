internal import Dispatch
internal import Synchronization
internal import VellumCore

/// The writes of tasks to one file: what waits is committed together, each call undone alone
/// (decision 86).
///
/// ```swift
/// try await file.writes.carryOut(call, in: file)
/// ```
///
/// Works on a thread of its own while there is something to write, and holds no lock of the file
/// meanwhile but the writer's.
final class WriteLane: Sendable {
    private struct State: Sendable {
        var calls = FIFOQueue<Waiting>()
        /// How many of the calls were not cancelled.
        var count = 0
        var isWorking = false
        /// How many calls the thread waits for.
        var wanted: Int?
        var longestWait = Duration.zero
    }

    private struct Waiting: Sendable {
        var call: WriteCall
        var file: DatabaseFile
    }

    private let state = Locked(State())
    private let lane = Lane()
    /// Signalled when as many calls are there as the thread waits for.
    private let isFull = DispatchSemaphore(value: 0)

    /// What is committed together at most; the last call may exceed it.
    private static let most = (writes: 64, bytes: 1 << 20)

    /// Carries out the writes of a call in its turn, and returns when they are as durable as the
    /// call wants.
    ///
    /// - Throws: ``VellumError``, or `CancellationError` if the task was cancelled before its turn:
    ///   nothing was written then.
    func carryOut(_ call: WriteCall, in file: DatabaseFile) async throws {
        try await withTaskCancellationHandler {
            await withCheckedContinuation { enqueue(call, in: file, $0) }
            // Under the lock, which protects what the lane has done.
            try state.withLock { _ in call.result }.get()
        } onCancel: {
            cancel(call)
        }
    }

    /// What waits now, and has waited.
    var waiting: WaitingCalls {
        state.withLock {
            WaitingCalls(
                count: $0.count,
                longestWait: $0.longestWait,
                threads: $0.isWorking ? 1 : 0
            )
        }
    }

    private func enqueue(
        _ call: WriteCall,
        in file: DatabaseFile,
        _ continuation: WriteCall.Continuation
    ) {
        enum Next { case refuse, start, signal, nothing }
        let next = state.withLock { state -> Next in
            guard !call.isCancelled else {
                call.result = .failure(CancellationError())
                return .refuse
            }
            call.continuation = continuation
            call.came = .now
            state.calls.append(Waiting(call: call, file: file))
            state.count += 1
            if !state.isWorking {
                state.isWorking = true
                return .start
            }
            // Who wants no sync does not wait for one that may be shared.
            guard let wanted = state.wanted, state.count >= wanted || call.durability < .powerSafe
            else { return .nothing }
            state.wanted = nil
            return .signal
        }
        switch next {
        case .refuse: continuation.resume()
        case .start: lane.start { self.work() }
        case .signal: isFull.signal()
        case .nothing: break
        }
    }

    private func cancel(_ call: WriteCall) {
        let waited = state.withLock {
            state -> (continuation: WriteCall.Continuation, content: WriteCall.Content)? in
            call.isCancelled = true
            guard let continuation = exchange(&call.continuation, with: nil) else { return nil }
            state.count -= 1
            call.result = .failure(CancellationError())
            // The call keeps its place, and nothing else.
            return (continuation, call.takeContent())
        }
        waited?.continuation.resume()
    }

    // MARK: The thread

    private func work() {
        while var taken = next() {
            let commits = taken.carryOut()
            putBack(&taken)
            answer(&taken) { $0.failure != nil || $0.durability < .powerSafe }
            guard !taken.calls.isEmpty else { continue }
            let begin = ContinuousClock.now
            taken.sync(through: commits)
            let duration = ContinuousClock.now - begin
            let expected = min(
                state.withLock { $0.count } + taken.calls.count,
                Self.most.writes
            )
            answer(&taken) { _ in true }
            // Who was answered may write again: one sync for all is worth a part of its time.
            wait(for: expected, atMost: min(duration / 2, .milliseconds(2)))
        }
    }

    /// Answers some of the calls, and keeps nothing of them: the caller may release the last
    /// handle.
    private func answer(_ taken: inout TakenCalls, _ isReady: (WriteCall) -> Bool) {
        let continuations = state.withLock { _ in taken.finish(isReady) }
        for continuation in continuations { continuation.resume() }
    }

    /// Lets calls wait again that were not carried out, before those that came later.
    private func putBack(_ taken: inout TakenCalls) {
        let cancelled = state.withLock { state in
            var cancelled: [WriteCall.Continuation] = []
            for index in taken.calls.indices.reversed() where taken.calls[index].isPutBack {
                let call = taken.calls.remove(at: index)
                let continuation = taken.continuations.remove(at: index)
                call.isPutBack = false
                if call.isCancelled {
                    call.result = .failure(CancellationError())
                    cancelled.append(continuation)
                } else if let file = taken.file {
                    call.continuation = continuation
                    state.calls.prepend(Waiting(call: call, file: file))
                    state.count += 1
                }
            }
            return cancelled
        }
        for continuation in cancelled { continuation.resume() }
    }

    private func next() -> TakenCalls? {
        // Released outside the lock.
        var cancelled: [Waiting] = []
        return state.withLock { state in
            var taken = TakenCalls()
            var writes = 0
            var bytes = 0
            while writes < Self.most.writes, bytes < Self.most.bytes,
                let waiting = state.calls.popFirst()
            {
                let call = waiting.call
                guard let continuation = exchange(&call.continuation, with: nil) else {
                    cancelled.append(waiting)
                    continue
                }
                taken.file = waiting.file
                taken.calls.append(call)
                taken.continuations.append(continuation)
                writes += call.writes.count
                bytes += call.size
                state.longestWait = max(state.longestWait, .now - call.came)
            }
            state.count -= taken.calls.count
            state.isWorking = !taken.calls.isEmpty
            return taken.calls.isEmpty ? nil : taken
        }
    }

    private func wait(for count: Int, atMost duration: Duration) {
        let waits = state.withLock { state in
            guard state.count < count else { return false }
            state.wanted = count
            return true
        }
        guard waits else { return }
        let nanoseconds = Int(duration / .nanoseconds(1))
        let isLate = isFull.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .timedOut
        // Signalled after all.
        if isLate, state.withLock({ exchange(&$0.wanted, with: nil) }) == nil {
            isFull.wait()
        }
    }
}

/// Calls whose turn has come.
private struct TakenCalls {
    /// Until the last of them is answered.
    var file: DatabaseFile?
    var calls: [WriteCall] = []
    var continuations: [WriteCall.Continuation] = []

    func carryOut() -> UInt64 { file?.carryOut(calls) ?? 0 }

    func sync(through commits: UInt64) {
        guard let failure = file?.syncFailure(through: commits) else { return }
        for call in calls { call.failure = failure }
    }

    /// Says what the calls get that are ready. Called under the lock of the lane.
    mutating func finish(_ isReady: (WriteCall) -> Bool) -> [WriteCall.Continuation] {
        var finished: [WriteCall.Continuation] = []
        for index in calls.indices.reversed() where isReady(calls[index]) {
            let call = calls.remove(at: index)
            if let failure = call.failure { call.result = .failure(failure) }
            finished.append(continuations.remove(at: index))
        }
        if calls.isEmpty { file = nil }
        return finished.reversed()
    }
}
