internal import TestThreads
internal import Testing
package import VellumCore

/// A store of some kind whose clock is a test's, and the others that write to it.
package protocol HeardSubject: Sendable {
    var clock: ManualClock { get }
    var runningLoads: Int { get }
    /// How many callers wait for loads.
    var waiters: Int { get }

    func load(
        whileRevalidate: Duration,
        ifError: Duration,
        options: LoadOptions,
        _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
    ) async throws -> Loaded<String?>

    /// The valid value under the key.
    func stored() async throws -> String?

    /// Writes "written", or removes.
    func write(_ write: HeardCell.Write, from origin: HeardCell.Origin) async throws

    func set(_ text: String) async throws

    /// Makes a row of the key that cannot be decoded.
    func setUndecodable() async throws

    /// Removes everything, what is remembered, too.
    func reset() async throws

    /// Returns a function that returns the next answer of an observer.
    func observe(all: Bool) -> () async throws -> String?
}

/// A call whose end can be looked for.
private final class Asked: Sendable {
    private let ended = Locked(false)
    private let task = Locked<Task<LoadingCell.Result.Answer, Never>?>(nil)

    init(_ ask: @escaping @Sendable () async throws -> Loaded<String?>) {
        let task = Task { [self] in
            defer { ended.withLock { $0 = true } }
            return await LoadingCell.Result.Answer(ask)
        }
        self.task.withLock { $0 = task }
    }

    var hasEnded: Bool { ended.withLock { $0 } }
    var answer: LoadingCell.Result.Answer {
        get async { await task.withLock { $0 }?.value ?? .cancelled }
    }
}

extension HeardCell {
    /// Runs the bystander on a store that has nothing, and the write in the midst of it.
    package func run(on subject: some HeardSubject) async -> Outcome {
        do {
            try await subject.reset()
            // What waits of another cell goes on, and no two cells wait for one moment.
            subject.clock.advance(by: .seconds(1000))
            return try await outcome(on: subject)
        } catch {
            return Outcome(answers: [.other("\(error)")])
        }
    }

    private func outcome(on subject: some HeardSubject) async throws -> Outcome {
        try await prepare(subject)
        var outcome: Outcome
        switch bystander {
        case .memory:
            outcome = Outcome()
            try await subject.write(write, from: origin)
        case .observer, .observerOfAll: outcome = try await runObserver(subject)
        case .staleIfError, .absence, .failure:
            try await subject.write(write, from: origin)
            outcome = await next(subject, Outcome())
        default: outcome = try await runLoad(subject)
        }
        outcome.stored = try await subject.stored()
        return outcome
    }

    private func prepare(_ subject: some HeardSubject) async throws {
        var options = LoadOptions()
        options.errorMaxAge = .seconds(60)
        let present = present
        let loader: @Sendable (String?) async throws -> LoadResult<String> = { _ in
            switch present {
            case .failure: throw SourceDown()
            case .absence: .none(maxAge: .seconds(60))
            case .absent, .expired, .valid: .value("old", maxAge: .seconds(100))
            }
        }
        if write == .removeUndecodable { try await subject.setUndecodable() }
        if present == .absent { return }
        _ = await LoadingCell.Result.Answer {
            try await subject.load(
                whileRevalidate: .seconds(1000),
                ifError: .seconds(1000),
                options: options,
                loader
            )
        }
        switch present {
        case .expired: subject.clock.advance(by: .seconds(110))
        // In the last part of its age.
        case .valid: subject.clock.advance(by: .seconds(90))
        case .absent, .absence, .failure: break
        }
    }

    private func ask(_ subject: some HeardSubject, _ source: NumberedSource) -> Asked {
        let isRevalidated = [.revalidation, .unchangedRevalidation, .lateRevalidation].contains(
            bystander
        )
        let isStale = [
            .staleIfError, .staleIfErrorOfLoad, .staleIfSlow, .staleIfTimedOut, .staleIfLate,
        ].contains(bystander)
        var options = LoadOptions(negativeMaxAge: .seconds(60), errorMaxAge: .seconds(60))
        switch bystander {
        case .refreshAhead, .unchangedRefreshAhead: options.refreshAhead = 0.8
        case .staleIfSlow: (options.softTimeout, options.timeout) = (.seconds(1), .seconds(5))
        case .staleIfTimedOut: options.timeout = .seconds(5)
        case .staleIfLate: options.loadTimeout = .seconds(5)
        default: break
        }
        return Asked { [options] in
            try await subject.load(
                whileRevalidate: isRevalidated ? .seconds(20) : .zero,
                ifError: isStale ? .seconds(20) : .zero,
                options: options
            ) { try await source.load($0) }
        }
    }

    private func runLoad(_ subject: some HeardSubject) async throws -> Outcome {
        let (source, begin) = (NumberedSource(), subject.clock.now)
        var asked = [ask(subject, source)]
        await source.waitForCall()
        if bystander == .earlyCaller {
            asked.append(ask(subject, source))
            await until("both callers wait for the load") { subject.waiters >= 2 }
        }
        try await subject.write(write, from: origin)
        if [.lateCaller, .lateCallerOfExpired, .lateRevalidation].contains(bystander) {
            let (late, waiting) = (ask(subject, source), bystander == .lateRevalidation ? 1 : 2)
            await until("the late caller loads, has joined, or has found something") {
                source.calls >= 2 || late.hasEnded
                    || subject.waiters == waiting && subject.runningLoads == 1
            }
            if subject.runningLoads == 2 {
                await source.waitForCall(2)
                source.answer(2, "new")
                _ = await late.answer
            }
            asked.append(late)
        }
        await pass(subject.clock, since: begin, asked[0])
        source.answer(1, ending)
        var outcome = Outcome()
        for call in asked { outcome.answers.append(await call.answer) }
        await until("no load runs any more") { subject.runningLoads == 0 }
        outcome.calls = source.calls
        switch bystander {
        case .emptyLoad, .emptyLoadOfExpired, .failingLoad: return await next(subject, outcome)
        default: return outcome
        }
    }

    /// Lets time pass until the caller waits no longer.
    private func pass(_ clock: ManualClock, since begin: WallInstant, _ call: Asked) async {
        switch bystander {
        case .staleIfSlow:
            await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
            clock.advance(by: .seconds(1))
            await until("the caller has taken an old value, or goes on waiting") {
                call.hasEnded || clock.hasSleeper(until: begin.advanced(byMilliseconds: 5000))
            }
        case .staleIfTimedOut, .staleIfLate:
            await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 5000))
            clock.advance(by: .seconds(5))
            _ = await call.answer
        default: break
        }
    }

    private var ending: Result<LoadResult<String>, any Error> {
        switch bystander {
        case .unchangedLoad, .unchangedRevalidation, .unchangedRefreshAhead:
            .success(.unchanged(maxAge: .seconds(100)))
        case .emptyLoad, .emptyLoadOfExpired: .success(.none())
        case .failingLoad, .staleIfErrorOfLoad: .failure(SourceDown())
        default: .success(.value("loaded", maxAge: .seconds(100)))
        }
    }

    /// Makes a call whose loader fails or returns "new".
    private func next(_ subject: some HeardSubject, _ before: Outcome) async -> Outcome {
        let fails = bystander == .staleIfError
        let result: Result<LoadResult<String>, any Error> =
            fails ? .failure(SourceDown()) : .success(.value("new"))
        let source = NumberedSource()
        let asked = ask(subject, source)
        await until("the next call has its answer") {
            source.answer(1, result)
            return asked.hasEnded
        }
        var outcome = before
        outcome.answers.append(await asked.answer)
        outcome.calls += source.calls
        return outcome
    }

    private func runObserver(_ subject: some HeardSubject) async throws -> Outcome {
        let next = subject.observe(all: bystander == .observerOfAll)
        var outcome = Outcome(answers: [.value(try await next(), .cached)])
        try await subject.write(write, from: origin)
        // If the write changed nothing, there is no answer to it.
        if effect == .nothing { try await subject.set("end") }
        outcome.answers.append(.value(try await next(), .cached))
        return outcome
    }
}
