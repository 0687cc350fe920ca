internal import Synchronization

/// A call that may take long, for spans and durations (decision 81). Has no key and no value.
package enum ObservedCall: Sendable {
    /// The loader of the archive or cache with this name.
    case load(of: String)
    /// A command that is sent to a server, and what its script does, if it has one.
    case command(String, script: String?, host: String, port: Int, database: Int)

    private static let isObserved = Atomic(false)
    private static let observer = Locked<(any CallObserver)?>(nil)

    /// Sets the observer of this process; `nil` for none. Calls that run go on with the earlier
    /// one.
    package static func install(_ new: (any CallObserver)?) {
        observer.withLock { $0 = new }
        isObserved.store(new != nil, ordering: .releasing)
    }

    /// Whether there is an observer.
    package static var isInstalled: Bool { isObserved.load(ordering: .acquiring) }

    /// Runs `body` in the caller's task. Without an observer, that costs one atomic load.
    package static func run<Success: Sendable, Failure: Error>(
        _ call: @autoclosure () -> ObservedCall,
        _ body: () async -> Result<Success, Failure>
    ) async -> Result<Success, Failure> {
        guard isObserved.load(ordering: .acquiring), let observer = observer.withLock({ $0 }) else {
            return await body()
        }
        return await observer.observe(call(), body)
    }
}

/// Makes spans of calls and measures them.
package protocol CallObserver: Sendable {
    /// Runs `body` once and returns what it returns.
    func observe<Success: Sendable, Failure: Error>(
        _ call: ObservedCall,
        _ body: () async -> Result<Success, Failure>
    ) async -> Result<Success, Failure>
}
