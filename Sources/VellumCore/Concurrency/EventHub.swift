internal import Synchronization

/// Tells any number of observers. Costs one atomic load while there are none.
@usableFromInline package final class EventHub<Event: Sendable>: Sendable {
    private struct Observers {
        var next = 0
        var continuations: [Int: AsyncStream<Event>.Continuation] = [:]
        var isFinished = false
        /// What happened before anyone could listen.
        var pendingEvents: [Event] = []
    }

    private let observers = Locked(Observers())
    private let observed = Atomic(false)

    @usableFromInline package init() {}

    /// Whether anyone listens: ask before making an event that costs something to make.
    @usableFromInline package var isObserved: Bool { observed.load(ordering: .relaxed) }

    /// The events from now on. Keeps at most `limit` events for an observer that is slow, and drops the oldest.
    @usableFromInline package func events(keeping limit: Int = 1024) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            let number: Int? = observers.withLock { state in
                for event in state.pendingEvents { continuation.yield(event) }
                state.pendingEvents = []
                guard !state.isFinished else { return nil }
                state.next += 1
                state.continuations[state.next] = continuation
                observed.store(true, ordering: .relaxed)
                return state.next
            }
            guard let number else {
                continuation.finish()
                return
            }
            continuation.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    /// Tells every observer. None runs code of its own here: an event only joins its queue.
    @usableFromInline package func send(_ event: Event) {
        guard isObserved else { return }
        let continuations = observers.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(event) }
    }

    /// Tells every observer, or the first that comes where there is none yet.
    @usableFromInline package func keep(_ event: Event) {
        let isHeard = observers.withLock { state in
            if state.continuations.isEmpty { state.pendingEvents.append(event) }
            return !state.continuations.isEmpty
        }
        if isHeard { send(event) }
    }

    /// Ends every observer's stream.
    @usableFromInline package func finish() {
        let continuations = observers.withLock { state in
            state.isFinished = true
            defer { state.continuations = [:] }
            return Array(state.continuations.values)
        }
        observed.store(false, ordering: .relaxed)
        for continuation in continuations { continuation.finish() }
    }

    private func remove(_ number: Int) {
        observers.withLock { state in
            state.continuations[number] = nil
            observed.store(!state.continuations.isEmpty, ordering: .relaxed)
        }
    }
}
