/// A store that loads missing values: from the disk of a machine, or on a server (decision 18).
///
/// The store looks for values and runs loads. What a caller gets, and when, is decided here for all
/// stores.
package protocol LoadingStore<Value>: Sendable {
    associatedtype Value: Sendable

    /// The name of the archive or cache, for whoever observes its loads.
    var name: String { get }
    /// The loads that are running.
    var loads: LoadCoordinator<EntryKey, LoadOutcome<Value>> { get }
    /// Failures of loaders, and `nil` results, that are remembered.
    var answers: RememberedAnswers { get }
    /// The clock by which values expire.
    var instant: WallInstant { get }
    /// The clock by which callers stop waiting.
    var timer: LoadTimer { get }

    /// Returns what the store has under the key of a request, without waiting for a load. Blocks no
    /// thread that runs tasks.
    ///
    /// - Parameters:
    ///   - window: How many milliseconds after its end an expired value is still of use.
    ///   - afterFailure: Whether the caller has looked before, and its loader failed or is slow.
    func look(
        _ request: LoadRequest<Value>,
        within window: Int64,
        afterFailure: Bool
    ) async throws(VellumError) -> Look<Value>

    /// Whether callers that find no value wait for a load ahead of the end of its age. If not, they
    /// look by themselves.
    var joinsLoadsAhead: Bool { get }

    /// Whether the store records that there is no value, so that it need not be remembered.
    func recordsNil(of request: LoadRequest<Value>) -> Bool

    /// Reports a failure that no caller receives.
    func report(_ error: VellumError)

    /// Runs the load with that number: looks again, calls the loader and records its result.
    ///
    /// - Parameters:
    ///   - version: The version of the key, by which writes are noticed.
    ///   - isAhead: Whether a value that is valid is loaded again.
    func run(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        version: UInt64,
        isAhead: Bool
    ) async -> LoadOutcome<Value>
}

extension LoadingStore {
    /// Returns the value under the key, and loads it if there is no valid one.
    ///
    /// - Parameter first: What the caller has found.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled
    ///   while it waits. ``VellumError`` if the store fails, ``VellumError/Code/loadTimedOut``, or
    ///   ``VellumError/Code/recursiveLoad`` if the load would wait for itself.
    package func answer(
        to request: LoadRequest<Value>,
        after first: Look<Value>
    ) async throws -> Loaded<Value?> {
        let answer = try await decide(request, first)
        if answer.source != .cached, answer.source != .loaded {
            loads.statistics.withLock { $0.count(answer.source) }
        }
        return answer
    }

    private func decide(
        _ request: LoadRequest<Value>,
        _ first: Look<Value>
    ) async throws -> Loaded<Value?> {
        let key = request.key
        let staleness = request.staleness
        let limit = limit(of: request)
        var known = first
        while true {
            if let found = known.found {
                if known.isDue { refreshAhead(request) }
                return Loaded(found, .cached)
            }
            switch rememberedOutcome(for: request) {
            case .found(let value, _, _): return Loaded(value, .cached)
            case .failed(let error, _, _):
                return try await staleValue(insteadOf: error, nil, request, isRevalidated: true)
            case .expired, .loaded, .rememberedInOutage, nil: break
            }
            if let old = known.expired, old.isWithin(staleness.whileRevalidate, at: instant) {
                // At most one refresh at a time, and none while a load is running.
                refresh(request, isAhead: false)
                return Loaded(old.value, .staleWhileRevalidate)
            }
            // From now on a write is noticed. A load that was overtaken before has an outcome for
            // those who came before.
            let version = answers.watch(key, groups: request.groups)
            defer { answers.endWatch(of: key) }
            loads.detach(key) { !answers.isUnchanged(key, since: $0) }
            if staleness.whileRevalidate > 0, let old = expired(loads.interim(forKey: key)),
                old.isWithin(staleness.whileRevalidate, at: instant)
            {
                return Loaded(old.value, .staleWhileRevalidate)
            }
            switch await loads.wait(
                for: key,
                version: version,
                keepsRunning: request.isKept,
                limit: limit,
                start: { start($0, request, version) }
            )
            {
            case .cancelled: throw CancellationError()
            case .recursive: throw VellumError.recursiveLoad
            case .finished(.failed(let error, let old, let isNew), let isStarter):
                let answer = try await staleValue(
                    insteadOf: error,
                    old,
                    request,
                    isRevalidated: false
                )
                // Every waiter gets a stale value or the error. The caller that started the loader
                // reports it for all.
                if isStarter { report(isNew ? .loadFailed(error) : .unreceived(error)) }
                return answer
            case .finished(.loaded(let value, _), let isStarter):
                if isStarter || request.answer(of: value) != nil { return Loaded(value, .loaded) }
            case .finished(.rememberedInOutage(let value), let isStarter):
                if isStarter || request.answer(of: value) != nil {
                    return Loaded(value, .loadedInOutage)
                }
            case .finished(.found(let value, let forEveryReader, let isDue), let isStarter):
                // Another caller may have a longer age.
                if isStarter || forEveryReader && request.answer(of: value) != nil {
                    if isDue { refreshAhead(request) }
                    return Loaded(value, .cached)
                }
            case .finished(.expired(let old, let source), _):
                let window =
                    source == .staleWhileRevalidate ? staleness.whileRevalidate : staleness.ifError
                if old.isWithin(window, at: instant) { return Loaded(old.value, source) }
            }
            known = try await look(request, within: staleness.whileRevalidate, afterFailure: false)
        }
    }

    /// Starts a load in the background of a value that is still valid, unless one is running or has
    /// just failed.
    package func refreshAhead(_ request: LoadRequest<Value>) {
        if request.refreshAhead != nil, answers.answer(for: request.key) == nil {
            refresh(request, isAhead: true)
        }
    }

    /// Starts a load that nobody waits for, unless one is running.
    private func refresh(_ request: LoadRequest<Value>, isAhead: Bool) {
        let version = answers.watch(request.key, groups: request.groups)
        defer { answers.endWatch(of: request.key) }
        loads.detach(request.key) { !answers.isUnchanged(request.key, since: $0) }
        let isJoinable = !isAhead || joinsLoadsAhead
        if let load = loads.refresh(request.key, version: version, isJoinable: isJoinable) {
            start(load, request, version, isAhead: isAhead)
        }
    }

    /// Returns a valid value that was recorded in the meantime, or an expired one, or throws the
    /// error.
    ///
    /// - Parameters:
    ///   - old: The expired value that the load found.
    ///   - isRevalidated: Whether the failure is remembered, so that the value counts as one that
    ///     is being loaded again.
    private func staleValue(
        insteadOf error: any Error,
        _ old: ExpiredValue<Value>?,
        _ request: LoadRequest<Value>,
        isRevalidated: Bool
    ) async throws -> Loaded<Value?> {
        let whileRevalidate = isRevalidated ? request.staleness.whileRevalidate : 0
        let ifError = request.staleness.ifError
        let window = max(whileRevalidate, ifError)
        guard window > 0 else { throw error }
        do throws(VellumError) {
            let last = try await look(request, within: window, afterFailure: true)
            if let found = last.found { return Loaded(found, .cached) }
            if let old = old ?? last.expired {
                if old.isWithin(whileRevalidate, at: instant) {
                    return Loaded(old.value, .staleWhileRevalidate)
                }
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
        case .nothing: request.acceptsNil ? .found(nil, forEveryReader: false, isDue: false) : nil
        case .failure(let error): .failed(error, old: nil, isNew: false)
        case .pauseAhead, nil: nil
        }
    }

    // MARK: Waiting no longer

    /// Returns what ends a wait of the caller in time; `nil` if it waits for as long as the load
    /// takes.
    private func limit(
        of request: LoadRequest<Value>
    ) -> (@Sendable (_ waiter: UInt64) async -> Void)? {
        guard request.softTimeout != nil || request.timeout != nil else { return nil }
        let begin = timer.now()
        return { waiter in
            do {
                if let soft = request.softTimeout, soft < request.timeout ?? .max,
                    request.staleness.ifError > 0
                {
                    // A load that is known to be slow is not waited for again.
                    let began = loads.begin(for: waiter) ?? begin
                    if try await timer.wait(
                        until: began,
                        plus: soft,
                        then: { await leaveSlow(waiter, request) }
                    ) {
                        return
                    }
                }
                guard let timeout = request.timeout else { return }
                try await timer.wait(until: begin, plus: timeout) {
                    loads.leave(
                        waiter,
                        with: .failed(
                            VellumError.loadTimedOut,
                            old: expired(loads.interim(for: waiter)),
                            isNew: false
                        )
                    )
                }
            } catch {}  // The wait has ended.
        }
    }

    /// - Returns: Whether there is something that the caller takes, who does not wait any longer.
    private func leaveSlow(_ waiter: UInt64, _ request: LoadRequest<Value>) async -> Bool {
        guard let old = await slowValue(for: waiter, request) else { return false }
        loads.leave(waiter, with: old, keepsRunning: true)
        return true
    }

    /// Returns what a caller takes that does not want to wait any longer; `nil` if there is
    /// nothing. It then takes what the load finds.
    private func slowValue(
        for waiter: UInt64,
        _ request: LoadRequest<Value>
    ) async -> LoadOutcome<Value>? {
        let window = request.staleness.ifError
        if let old = expired(loads.takesInterim(waiter)), old.isWithin(window, at: instant) {
            return .expired(old, .staleIfSlow)
        }
        do throws(VellumError) {
            let look = try await look(request, within: window, afterFailure: true)
            // Somebody recorded it meanwhile: the caller looks again.
            if look.found != nil { return .found(nil, forEveryReader: false, isDue: false) }
            guard let old = look.expired, old.isWithin(window, at: instant) else { return nil }
            return .expired(old, .staleIfSlow)
        } catch {
            report(error)
            return nil
        }
    }

    private func expired(_ outcome: LoadOutcome<Value>?) -> ExpiredValue<Value>? {
        guard case .expired(let old, _) = outcome else { return nil }
        return old
    }

    // MARK: One load

    /// Starts the task of a load. Unstructured: cancelling its starter does not cancel it.
    private func start(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        _ version: UInt64,
        isAhead: Bool = false
    ) {
        // Until the load has ended, however.
        _ = answers.watch(request.key, groups: request.groups)
        let end = { @Sendable (outcome: LoadOutcome<Value>, isLate: Bool) in
            // Before the load ends: a caller in between would start another.
            if loads.isRunning(load) {
                if isAhead {
                    rememberAhead(outcome, request, version)
                } else {
                    remember(outcome, request, version)
                }
            }
            let isHeard = loads.finish(load, outcome, cancels: isLate)
            // The caller that started it reports a failure, unless it does not wait any more.
            if case .failed(let error, _, let isNew) = outcome, isHeard == false {
                report(isNew ? .loadFailed(error) : .unreceived(error))
            }
        }
        loads.setHandlers(
            .init(
                begin: timer.now(),
                onLate: {
                    end(
                        .failed(
                            VellumError.loadWasLate,
                            old: expired(loads.interim(of: load)),
                            isNew: true
                        ),
                        true
                    )
                },
                onEnd: { answers.endWatch(of: request.key) }
            ),
            of: load
        )
        let task = Task {
            end(await run(load, request, version: version, isAhead: isAhead), false)
        }
        loads.onCancel(load) { task.cancel() }
    }

    /// Calls the loader. What it returns is not recorded.
    package func callLoader(
        of request: LoadRequest<Value>,
        _ load: UInt64,
        _ previous: Value?
    ) async -> Result<LoaderAnswer<Value>, any Error> {
        let running = ReentrancyGuard(.load(load))
        defer { running.end() }
        if let limit = request.loadTimeout {
            loads.limit(load, until: timer.now() + limit, by: timer)
        }
        // What it returns in time may be recorded later.
        defer {
            if request.loadTimeout != nil { loads.limit(load, until: .max, by: timer) }
        }
        let begin = ContinuousClock.now
        let result = await ObservedCall.run(.load(of: name)) {
            () async -> Result<LoaderAnswer<Value>, any Error> in
            do {
                let found = try await running.run { try await request.loader.run(previous) }
                return .success(try LoaderAnswer(found, to: request, previous))
            } catch {
                return .failure(error)
            }
        }
        let hasFailed = if case .failure = result { true } else { false }
        loads.statistics.withLock { $0.count(ContinuousClock.now - begin, failed: hasFailed) }
        return result
    }

    /// Remembers the outcome of a load that is no value, for as long as the request or the loader
    /// says.
    package func remember(
        _ outcome: LoadOutcome<Value>,
        _ request: LoadRequest<Value>,
        _ version: UInt64
    ) {
        switch outcome {
        case .loaded(nil, let nothingFor) where !recordsNil(of: request):
            answers.insert(.nothing, forKey: request.key, version: version, for: nothingFor)
        // A cancelled loader says nothing about its source.
        case .failed(let error, _, isNew: true) where !(error is CancellationError):
            answers.insert(
                .failure(error),
                forKey: request.key,
                version: version,
                for: request.errorMaxAge
            )
        case .found, .rememberedInOutage, .expired, .loaded, .failed: break
        }
    }

    /// Throttles loads ahead of the end of an age after a failure. It hides no value: it is no
    /// answer to callers.
    private func rememberAhead(
        _ outcome: LoadOutcome<Value>,
        _ request: LoadRequest<Value>,
        _ version: UInt64
    ) {
        guard case .failed(let error, _, let isNew) = outcome else {
            return remember(outcome, request, version)
        }
        guard !(error is CancellationError) else { return }
        // A store that fails is not asked with every hit.
        pauseAhead(
            request,
            version,
            for: isNew ? request.errorMaxAge : max(request.errorMaxAge, 1000)
        )
    }

    /// Keeps loads ahead of the end of the key's age from being tried for so many milliseconds.
    package func pauseAhead(
        _ request: LoadRequest<Value>,
        _ version: UInt64,
        for milliseconds: Int64
    ) {
        answers.insert(.pauseAhead, forKey: request.key, version: version, for: milliseconds)
    }
}

extension VellumError {
    package static var recursiveLoad: VellumError {
        VellumError(
            .recursiveLoad,
            """
            A loader asks for the key that it loads, directly or through other loaders, and would \
            wait forever. Load other keys only.
            """
        )
    }

    static var loadTimedOut: VellumError {
        VellumError(
            .loadTimedOut,
            """
            A load took longer than `timeout`, and the caller does not wait for it any more. Try \
            again later.
            """
        )
    }

    static var loadWasLate: VellumError {
        VellumError(
            .loadTimedOut,
            """
            A loader took longer than `loadTimeout`. It was cancelled, what it returns is not \
            stored, and the next caller loads again. Set a longer `loadTimeout` in LoadOptions, or \
            none, if the source may take as long.
            """
        )
    }

    /// The failure of a load whose loader did not run.
    static func unreceived(_ error: any Error) -> VellumError {
        error as? VellumError ?? .loadFailed(error)
    }

    package static func loadFailed(_ cause: any Error) -> VellumError {
        VellumError(
            .loadFailed,
            """
            A loader failed and no caller received its error. What was recorded before is still \
            there.
            """,
            cause: cause
        )
    }
}
