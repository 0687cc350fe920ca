package import VellumCore

/// The answers of one consumer, each asked when the consumer wants it and something has changed.
package final class ObservedQuestion<Answer: Sendable>: Sendable {
    /// A question that is asked on a thread that may block.
    package typealias Question =
        @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(VellumError) ->
        ObservedAnswer<Answer>

    private let observer: ChangeObserver
    private let clock: WallClock
    private let hash: SeededHash
    private let ask: Question
    private let queries: Lane.Share
    private let last = Locked<ObservedAnswer<Answer>?>(nil)

    package init(_ observer: ChangeObserver, in store: Store<some Any>, _ ask: @escaping Question) {
        self.observer = observer
        self.ask = ask
        clock = store.clock
        queries = store.lanes.queries
        hash = store.disk.changes.hash
    }

    deinit { observer.stop() }

    /// Continues another one, whose last answer is not repeated.
    func continues(_ other: ObservedQuestion) {
        let answer = other.last.withLock { $0 }
        let previous = last.withLock { $0 }
        last.withLock { $0 = answer }
        withExtendedLifetime(previous) {}  // Released outside the lock.
    }

    /// Makes the next answer due, whether anything has changed or not.
    package func askAgain() { observer.signal() }

    /// Ends the observation.
    package func stop() { observer.stop() }

    /// Returns the next answer, or why there is none at this moment; `nil` if there is none any
    /// more.
    ///
    /// While the file is suspended it waits.
    package func next() async -> Result<Answer, VellumError>? {
        observer.isAsking = true
        defer { observer.isAsking = false }
        while await observer.wait() {
            observer.begin()
            switch await answer() {
            case .failure(let error) where error.code == .suspended: continue
            // Another question has taken its place.
            case .failure(let error) where error.code == .cancelled && !Task.isCancelled: continue
            case .failure(let error) where error.code == .cancelled || error.code == .closed:
                return nil
            case .failure(let error):
                // The next answer is returned whatever it is, because the consumer may show the
                // error.
                let previous = last.withLock { exchange(&$0, with: nil) }
                return withExtendedLifetime(previous) { .failure(error) }
            case .success(let answer):
                if let end = answer.firstEnd {
                    observer.tellOfEnd(hash.of(end.key), at: end.moment, by: clock)
                }
                let previous = last.withLock { $0 }
                if let previous, previous.origins == answer.origins { continue }
                last.withLock { $0 = answer }
                // Released outside the lock, because that may run code of the user.
                return withExtendedLifetime(previous) { .success(answer.answer) }
            }
        }
        return nil
    }

    private func answer() async -> Result<ObservedAnswer<Answer>, VellumError> {
        do {
            return .success(try await queries.run { [ask] in try ask { Task.isCancelled } })
        } catch let error as VellumError {
            return .failure(error)
        } catch {
            return .failure(
                VellumError(.loadFailed, "A question of an observer failed.", cause: error)
            )
        }
    }
}

/// The answers of an observation as an asynchronous sequence. Each iterator observes by itself,
/// from its first element on.
package struct ObservedAnswers<Answer: Sendable>: AsyncSequence, Sendable {
    package typealias Element = Answer
    package typealias Failure = VellumError

    private let observe: @Sendable () throws(VellumError) -> ObservedQuestion<Answer>
    private let goesOn: @Sendable () throws(VellumError) -> Bool

    /// - Parameters:
    ///   - goesOn: Whether to observe again after the file was closed.
    ///   - observe: Begins to observe.
    package init(
        goesOn: @escaping @Sendable () throws(VellumError) -> Bool = { false },
        _ observe: @escaping @Sendable () throws(VellumError) -> ObservedQuestion<Answer>
    ) {
        self.goesOn = goesOn
        self.observe = observe
    }

    package func makeAsyncIterator() -> Iterator { Iterator(observe: observe, goesOn: goesOn) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let observe: @Sendable () throws(VellumError) -> ObservedQuestion<Answer>
        fileprivate let goesOn: @Sendable () throws(VellumError) -> Bool
        fileprivate var observation: ObservedQuestion<Answer>?
        fileprivate var isEnded = false

        package mutating func next() async throws(VellumError) -> Answer? {
            try await next(isolation: nil)
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(VellumError) -> Answer? {
            do throws(VellumError) {
                while !isEnded {
                    let observation =
                        if let present = self.observation { present } else { try observe() }
                    self.observation = observation
                    if let answer = await observation.next() { return try answer.get() }
                    guard !Task.isCancelled, let next = try await nextObservation() else { break }
                    next.continues(observation)
                    self.observation = next
                }
                end()
                return nil
            } catch {
                end()
                throw error
            }
        }

        /// Opens another file on a thread that may block.
        private func nextObservation() async throws(VellumError) -> ObservedQuestion<Answer>? {
            do {
                return try await Lane.visits.run { [observe, goesOn] in
                    try goesOn() ? try observe() : nil
                }
            } catch {
                throw error as? VellumError
                    ?? VellumError(.loadFailed, "Observing could not begin again.", cause: error)
            }
        }

        private mutating func end() {
            isEnded = true
            observation = nil
        }
    }
}
