internal import Synchronization

/// Distributes events to any number of observers. Costs one atomic load while there are no
/// observers.
///
/// ```swift
/// let hub = EventHub<StoreEvent>()
/// for await event in hub.events() { … }   // in one task
/// hub.send(.removedAll)                    // in another
/// ```
@usableFromInline package final class EventHub<Event: Sendable>: Sendable {
    private struct Observers {
        var next = 0
        var continuations: [Int: AsyncStream<Event>.Continuation] = [:]
        var isFinished = false
        /// Events that were kept because there was no observer yet.
        var pendingEvents: [Event] = []
    }

    private let observers = Locked(Observers())
    private let observed = Atomic(false)

    /// Creates a hub without observers.
    @usableFromInline package init() {}

    /// Whether there is an observer. Check it before creating an event that is expensive to create.
    @usableFromInline package var isObserved: Bool { observed.load(ordering: .relaxed) }

    /// Returns a stream of the events from now on, after those that were kept for the first
    /// observer.
    ///
    /// - Parameter limit: How many events are buffered for a slow observer. Beyond that the oldest
    ///   are dropped.
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
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    /// Sends an event to every observer. Only enqueues it: no observer's code runs here.
    @usableFromInline package func send(_ event: Event) {
        guard isObserved else { return }
        let continuations = observers.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(event) }
    }

    /// Sends an event to every observer, or keeps it for the first one if there is none yet.
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
