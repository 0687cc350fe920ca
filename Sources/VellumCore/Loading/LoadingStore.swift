/// A store that loads missing values: from the disk of a machine, or on a server.
///
/// The store looks for values and runs loads. What a caller gets, and when, is decided here for all stores.
package protocol LoadingStore<Value>: Sendable {
    associatedtype Value: Sendable

    /// The loads that are running.
    var loads: LoadCoordinator<EntryKey, LoadOutcome<Value>> { get }
    /// Failures of loaders, and `nil` results, that are remembered.
    var answers: RememberedAnswers { get }
    /// The clock by which values expire.
    var instant: WallInstant { get }

    /// Returns what the store has under the key of a request, without waiting for anyone.
    ///
    /// - Parameters:
    ///   - window: How many milliseconds after its end an expired value is still of use.
    ///   - afterFailure: Whether the caller has looked before, and its loader failed.
    func look(_ request: LoadRequest<Value>, within window: Int64, afterFailure: Bool) throws(VellumError) -> Look<Value>

    /// Whether the store records that there is no value, so that it need not be remembered.
    func recordsNil(of request: LoadRequest<Value>) -> Bool

    /// Reports a failure that no caller receives.
    func report(_ error: VellumError)
}

extension LoadingStore {
    /// Returns the value under the key, and loads it if there is no valid one.
    ///
    /// - Parameters:
    ///   - first: What the caller has found.
    ///   - start: Starts the load with that number, by ``start(_:_:_:)``.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the store
    ///   fails, or ``VellumError/Code/recursiveLoad`` if the load would wait for itself.
    package func answer(
        to request: LoadRequest<Value>, after first: Look<Value>, start: @Sendable (_ load: UInt64) -> Void
    ) async throws -> Loaded<Value?> {
        let (key, staleness) = (request.key, request.staleness)
        var known = first
        while true {
            if let found = known.found { return Loaded(found, .cached) }
            switch rememberedOutcome(for: request) {
            case .found(let value, _): return Loaded(value, .cached)
            case .failed(let error, _, _): return try staleValue(insteadOf: error, nil, request, isRevalidated: true)
            case .expired, .loaded, nil: break
            }
            if let old = known.expired, old.isWithin(staleness.whileRevalidate, at: instant) {
                // At most one refresh at a time, and none while a load is running.
                if let load = loads.refresh(key) { start(load) }
                return Loaded(old.value, .staleWhileRevalidate)
            }
            switch await loads.wait(for: key, keepsRunning: request.isKept, start: start) {
            case .cancelled: throw CancellationError()
            case .recursive: throw VellumError.recursiveLoad
            case .finished(.failed(let error, let old, let isNew), let isStarter):
                let answer = try staleValue(insteadOf: error, old, request, isRevalidated: false)
                // Every waiter gets a stale value or the error. The caller that started the loader reports it for all.
                if isStarter { report(isNew ? .loadFailed(error) : .unreceived(error)) }
                return answer
            case .finished(.loaded(let value), let isStarter):
                if isStarter || request.answer(of: value) != nil { return Loaded(value, .loaded) }
            case .finished(.found(let value, let forEveryReader), let isStarter):
                // Another caller may have a longer age.
                if isStarter || forEveryReader && request.answer(of: value) != nil { return Loaded(value, .cached) }
            case .finished(.expired(let old, let source), _):
                let window = source == .staleIfError ? staleness.ifError : staleness.whileRevalidate
                if old.isWithin(window, at: instant) { return Loaded(old.value, source) }
            }
            known = try look(request, within: staleness.whileRevalidate, afterFailure: false)
        }
    }

    /// Returns a valid value that was recorded in the meantime, or an expired one, or throws the error.
    ///
    /// - Parameters:
    ///   - old: The expired value that the load found.
    ///   - isRevalidated: Whether the failure is remembered, so that the value counts as one that is being loaded again.
    private func staleValue(
        insteadOf error: any Error, _ old: ExpiredValue<Value>?, _ request: LoadRequest<Value>, isRevalidated: Bool
    ) throws -> Loaded<Value?> {
        let (whileRevalidate, ifError) = (isRevalidated ? request.staleness.whileRevalidate : 0, request.staleness.ifError)
        let window = max(whileRevalidate, ifError)
        guard window > 0 else { throw error }
        do throws(VellumError) {
            let last = try look(request, within: window, afterFailure: true)
            if let found = last.found { return Loaded(found, .cached) }
            if let old = old ?? last.expired {
                if old.isWithin(whileRevalidate, at: instant) { return Loaded(old.value, .staleWhileRevalidate) }
                if old.isWithin(ifError, at: instant) { return Loaded(old.value, .staleIfError) }
            }
        } catch let other {
            // The loader's error says more than that no stale value could be read.
            report(other)
        }
        throw error
    }

    /// Returns the remembered answer for the key, if it still holds and this caller accepts it.
    package func rememberedOutcome(for request: LoadRequest<Value>) -> LoadOutcome<Value>? {
        switch answers.answer(for: request.key) {
        case .nothing: request.acceptsNil ? .found(nil, forEveryReader: false) : nil
        case .failure(let error): .failed(error, old: nil, isNew: false)
        case nil: nil
        }
    }

    // MARK: One load

    /// Starts the task of a load. Unstructured: cancelling its starter does not cancel it.
    ///
    /// - Parameter run: Looks again, calls the loader and records its result. Receives the version of the key, by which it notices writes.
    package func start(
        _ load: UInt64, _ request: LoadRequest<Value>, _ run: @escaping @Sendable (_ version: UInt64) async -> LoadOutcome<Value>
    ) {
        let task = Task {
            let version = answers.watch(request.key)
            let outcome = await run(version)
            // Before the load ends: a caller in between would start another.
            if loads.isRunning(load) { remember(outcome, request, version) }
            let waiters = loads.finish(load, outcome)
            answers.endWatch(of: request.key)
            if case .failed(let error, _, let isNew) = outcome, waiters == 0 { report(isNew ? .loadFailed(error) : .unreceived(error)) }
        }
        loads.onCancel(load) { task.cancel() }
    }

    /// Calls the loader. What it returns is not recorded.
    package func callLoader(of request: LoadRequest<Value>, _ load: UInt64) async -> LoadOutcome<Value> {
        let running = ReentrancyGuard(.load(load))
        defer { running.end() }
        do {
            return .loaded(try await running.run { try await request.load() })
        } catch {
            return .failed(error, old: nil, isNew: true)
        }
    }

    /// Remembers the outcome of a load that is no value, for as long as the request says.
    package func remember(_ outcome: LoadOutcome<Value>, _ request: LoadRequest<Value>, _ version: UInt64) {
        switch outcome {
        case .loaded(nil) where !recordsNil(of: request):
            answers.insert(.nothing, forKey: request.key, version: version, for: request.negativeMaxAge)
        // A cancelled loader says nothing about its source.
        case .failed(let error, _, isNew: true) where !(error is CancellationError):
            answers.insert(.failure(error), forKey: request.key, version: version, for: request.errorMaxAge)
        case .found, .expired, .loaded, .failed: break
        }
    }
}

extension VellumError {
    package static var recursiveLoad: VellumError {
        VellumError(
            .recursiveLoad,
            "A loader asks for the key that it loads, directly or through other loaders, and would wait forever. Load other keys only.")
    }

    /// The failure of a load whose loader did not run.
    package static func unreceived(_ error: any Error) -> VellumError { error as? VellumError ?? .loadFailed(error) }

    package static func loadFailed(_ cause: any Error) -> VellumError {
        VellumError(.loadFailed, "A loader failed and no caller received its error. What was recorded before is still there.", cause: cause)
    }
}
