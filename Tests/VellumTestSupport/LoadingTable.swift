internal import TestThreads
internal import Testing
package import VellumCore

/// The table of the guide "Loading", cell by cell: what is under the key, times what the loader
/// does. The same for archives, caches and shared caches.
package struct LoadingCell: Sendable, CustomStringConvertible {
    /// What is under the key. Ages are 100 seconds; old values are accepted for 20 more.
    package enum Present: CaseIterable, Sendable {
        case fresh
        /// In the last fifth of its age, and the caller refreshes ahead.
        case due
        /// Expired, and accepted while it is loaded again.
        case staleWhileRevalidate
        /// Expired, and accepted if the loader fails.
        case staleIfError
        /// Expired for longer than the caller accepts.
        case expired
        case absent
        case rememberedFailure
        case rememberedAbsence
    }

    /// What the loader does.
    package enum Loader: CaseIterable, Sendable {
        case quick
        /// It takes longer than the caller's soft timeout of a second.
        case slow
        /// It takes longer than the caller's timeout of five seconds.
        case tooSlow
        case fails
        case saysUnchanged
        /// The caller is cancelled before the loader returns.
        case isCancelled
    }

    /// What becomes of the call.
    package struct Result: Equatable, Sendable {
        package enum Answer: Equatable, Sendable {
            case value(String?, LoadSource)
            case sourceDown, timedOut, nothingUnchanged, cancelled
            case other(String)
        }

        package var answer: Answer
        /// After how many milliseconds the caller had it.
        package var after: Int64 = 0
        /// The valid value under the key at the end.
        package var stored: String?
        /// How often the loader was called.
        package var calls: Int
    }

    package var present: Present
    package var loader: Loader

    package static let all = Present.allCases.flatMap { present in
        Loader.allCases.map { LoadingCell(present: present, loader: $0) }
    }

    package var description: String { "\(present), \(loader)" }

    // MARK: The table

    package var expected: Result {
        switch present {
        case .fresh: Result(answer: .value("old", .cached), stored: "old", calls: 0)
        case .due: Result(answer: .value("old", .cached), stored: inBackground, calls: 1)
        case .staleWhileRevalidate:
            Result(
                answer: .value("old", .staleWhileRevalidate),
                stored: loader == .fails ? nil : inBackground,
                calls: 1
            )
        case .staleIfError:
            switch loader {
            case .quick: Result(answer: .value("new", .loaded), stored: "new", calls: 1)
            case .slow:
                Result(answer: .value("old", .staleIfSlow), after: 1000, stored: "new", calls: 1)
            case .tooSlow:
                Result(answer: .value("old", .staleIfError), after: 5000, stored: nil, calls: 1)
            case .fails: Result(answer: .value("old", .staleIfError), stored: nil, calls: 1)
            case .saysUnchanged: Result(answer: .value("old", .loaded), stored: "old", calls: 1)
            case .isCancelled: Result(answer: .cancelled, stored: nil, calls: 1)
            }
        case .expired, .absent:
            switch loader {
            case .quick: Result(answer: .value("new", .loaded), stored: "new", calls: 1)
            // There is nothing to take in its place.
            case .slow: Result(answer: .value("new", .loaded), after: 1000, stored: "new", calls: 1)
            case .tooSlow: Result(answer: .timedOut, after: 5000, stored: nil, calls: 1)
            case .fails: Result(answer: .sourceDown, stored: nil, calls: 1)
            case .saysUnchanged:
                present == .expired
                    ? Result(answer: .value("old", .loaded), stored: "old", calls: 1)
                    : Result(answer: .nothingUnchanged, stored: nil, calls: 1)
            case .isCancelled: Result(answer: .cancelled, stored: nil, calls: 1)
            }
        case .rememberedFailure: Result(answer: .sourceDown, stored: nil, calls: 0)
        case .rememberedAbsence: Result(answer: .value(nil, .cached), stored: nil, calls: 0)
        }
    }

    /// What a load in the background leaves, for which nobody waits.
    private var inBackground: String {
        switch loader {
        case .quick, .slow, .tooSlow, .isCancelled: "new"
        case .fails, .saysUnchanged: "old"
        }
    }
}

/// One store that loads, of some kind, whose clock is a test's.
package protocol LoadingSubject: Sendable {
    var clock: ManualClock { get }

    func load(
        whileRevalidate: Duration,
        ifError: Duration,
        options: LoadOptions,
        _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
    ) async throws -> Loaded<String?>

    /// The valid value under the key.
    func stored() async throws -> String?
}

/// The failure of a test's source.
package struct SourceDown: Error {
    package init() {}
}

extension LoadingCell.Result.Answer {
    /// Waits for a call.
    package init(_ call: () async throws -> Loaded<String?>) async {
        do {
            let loaded = try await call()
            self = .value(loaded.value, loaded.source)
        } catch is SourceDown {
            self = .sourceDown
        } catch is CancellationError {
            self = .cancelled
        } catch let error as VellumError where error.code == .loadTimedOut {
            self = .timedOut
        } catch let error as VellumError where error.code == .nothingUnchanged {
            self = .nothingUnchanged
        } catch {
            self = .other("\(error)")
        }
    }
}

extension LoadingCell {
    /// The source. Each call waits until the gate is open, if the loader is slow.
    private final class Source: Sendable {
        private let state = Locked((calls: 0, isOpen: false))
        let behaviour: Loader

        init(_ behaviour: Loader) { self.behaviour = behaviour }

        var calls: Int { state.withLock { $0.calls } }

        func open() { state.withLock { $0.isOpen = true } }

        func waitForCall() async { await until("the loader was called") { calls > 0 } }

        func load(_ previous: String?) async throws -> LoadResult<String> {
            state.withLock { $0.calls += 1 }
            switch behaviour {
            case .quick: break
            case .slow, .tooSlow, .isCancelled:
                try await until("the test lets the loader go on") {
                    try Task.checkCancellation()
                    return state.withLock { $0.isOpen }
                }
            case .fails: throw SourceDown()
            case .saysUnchanged: return .unchanged(maxAge: .seconds(100))
            }
            return .value("new", maxAge: .seconds(100))
        }
    }

    /// Makes the call on a store that has nothing yet.
    package func run(on subject: some LoadingSubject) async throws -> Result {
        try await prepare(subject)
        let clock = subject.clock
        var options = LoadOptions()
        if present == .due || present == .fresh { options.refreshAhead = 0.8 }
        if loader == .slow { options.softTimeout = .seconds(1) }
        if loader == .tooSlow { options.timeout = .seconds(5) }
        let (source, begin) = (Source(loader), clock.now)
        let whileRevalidate: Duration = present == .staleWhileRevalidate ? .seconds(20) : .zero
        let ifError: Duration =
            present == .staleIfError || present == .expired ? .seconds(20) : .zero
        let call = Task { [options] in
            try await subject.load(
                whileRevalidate: whileRevalidate,
                ifError: ifError,
                options: options
            ) { try await source.load($0) }
        }
        if isWaiting {
            await source.waitForCall()
            switch loader {
            case .slow:
                // A caller without an old value does not wait for its soft timeout.
                if present == .staleIfError {
                    await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
                }
                clock.advance(by: .seconds(1))
                if present != .staleIfError { source.open() }
            case .tooSlow:
                await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 5000))
                clock.advance(by: .seconds(5))
            case .isCancelled: call.cancel()
            case .quick, .fails, .saysUnchanged: break
            }
        }
        var result = Result(
            answer: await Result.Answer { try await call.value },
            stored: nil,
            calls: 0
        )
        result.after = clock.now.rawValue - begin.rawValue
        // The soft timeout may find what was recorded a moment ago.
        if present == .expired, loader == .slow, result.answer == .value("new", .cached) {
            result.answer = .value("new", .loaded)
        }
        source.open()
        if expected.calls > 0 { await source.waitForCall() }
        // A load that was cancelled stores nothing, and what one in the background stores comes
        // soon.
        try await until("there is what the table says") {
            result.stored = try await subject.stored()
            return result.stored == expected.stored
        }
        if loader == .saysUnchanged, expected.stored != nil, present != .fresh {
            // Its age counts from now.
            clock.advance(by: .seconds(50))
            try await until("the value has a new date") { try await subject.stored() != nil }
        }
        result.calls = source.calls
        return result
    }

    /// Whether the caller waits for the loader.
    private var isWaiting: Bool {
        switch present {
        case .staleIfError, .expired, .absent: true
        case .fresh, .due, .staleWhileRevalidate, .rememberedFailure, .rememberedAbsence: false
        }
    }

    private func prepare(_ subject: some LoadingSubject) async throws {
        switch present {
        case .absent: return
        case .rememberedFailure:
            do {
                _ = try await subject.load(
                    whileRevalidate: .zero,
                    ifError: .zero,
                    options: LoadOptions(errorMaxAge: .seconds(60))
                ) { _ in throw SourceDown() }
            } catch is SourceDown {}
            return
        case .rememberedAbsence:
            _ = try await subject.load(
                whileRevalidate: .zero,
                ifError: .zero,
                options: LoadOptions()
            ) { _ in .none(maxAge: .seconds(60)) }
            return
        case .fresh, .due, .staleWhileRevalidate, .staleIfError, .expired:
            // So that what has expired is kept.
            _ = try await subject.load(
                whileRevalidate: .seconds(1000),
                ifError: .seconds(1000),
                options: LoadOptions()
            ) { _ in
                .value("old", maxAge: .seconds(100))
            }
        }
        let age =
            switch present {
            case .fresh: 50
            case .due: 90
            case .staleWhileRevalidate, .staleIfError: 110
            default: 200
            }
        subject.clock.advance(by: .seconds(age))
    }
}
