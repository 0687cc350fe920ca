public import Foundation
public import VellumCore
internal import VellumEngine

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// let archives = ArchivesFactory.inMemory(clock: clock.wallClock)
/// let rates: ArchiveStore<Rate> = try archives.store(
///     expiration: .after(.seconds(600)))
/// try rates.record(Rate(currency: "USD", value: 1.08))
/// await clock.advance(by: .seconds(600))
/// #expect(try rates.count() == 0)
/// ```
///
/// Ages, the timeouts of loads and the observers of whatever is opened with it follow it. Any
/// thread may read and move it.
public final class TestClock: Sendable {
    private struct State {
        var instant: WallInstant {
            didSet { if instant >= target ?? instant { target = nil } }
        }
        /// To where running calls of ``TestClock/advance(by:)`` move it.
        var target: WallInstant?
        var sleepers: [Sleeper] = []
    }

    private struct Sleeper {
        var end: WallInstant
        var number: UInt64
        var continuation: CheckedContinuation<Void, any Error>
        /// Resumed when the sleeper has done what it waited to do.
        let followed = Followed()
    }

    private let state: Locked<State>

    /// Creates a clock that shows a date.
    public init(_ date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        state = Locked(State(instant: WallInstant(date)))
    }

    /// The clock to open archives, caches and storages with.
    public var wallClock: WallClock { WallClock(instants: { self.instant }, timer: timer) }

    /// The date that it shows.
    ///
    /// Setting it, also backwards, makes nothing else happen: as when somebody sets the clock of a
    /// machine. ``advance(by:)`` lets time pass.
    public var now: Date {
        get { instant.date }
        set { instant = WallInstant(newValue) }
    }

    /// Lets time pass, and returns when everything has followed.
    ///
    /// ```swift
    /// let open = ArchiveResults(store, where: #Predicate { !$0.isPaid })
    /// await clock.advance(by: .seconds(3600))
    /// #expect(open.value.isEmpty)
    /// ```
    ///
    /// Whoever waits by this clock goes on when its moment comes, one after the other: timeouts of
    /// loads, and observed entries that expire. After that expired entries are removed, loads in
    /// the background end, and observers have been told: as `observersSettled()` does, for
    /// everything that was opened with this clock.
    ///
    /// Does not block the actor of the caller.
    ///
    /// - Parameter duration: Rounded up to a millisecond. A negative one has no effect.
    public func advance(by duration: Duration) async {
        // At the moment that means never, everything would have expired.
        let end = state.withLock { state in
            let begin = max(state.instant, state.target ?? state.instant)
            let end = min(
                begin.advanced(byMilliseconds: Expiration.milliseconds(duration)),
                WallInstant(rawValue: .max - 1)
            )
            state.target = end
            return end
        }
        while let next = state.withLock({ state in
            let next = state.sleepers.filter { $0.end <= end }.min {
                $0.end < $1.end
            }
            guard let next else {
                // In one step with the look, so that nobody begins to wait for a moment that is
                // over.
                state.instant = max(state.instant, end)
                return next
            }
            state.instant = max(state.instant, next.end)
            state.sleepers.removeAll { $0.number == next.number }
            return next
        }) {
            next.continuation.resume()
            await next.followed.wait()
        }
        let files = DatabaseFile.opened(by: self)
        await withCheckedContinuation { continuation in
            Lane.visits.start {
                for file in files { file.sweepEverything() }
                continuation.resume()
            }
        }
        await Settling.settle(loadsIn: files, files.flatMap { $0.observers() })
    }

    // MARK: For tests of the engine

    /// The time in milliseconds.
    package var instant: WallInstant {
        get { state.withLock { $0.instant } }
        set {
            state.withLock { state in
                state.target = nil
                state.instant = newValue
            }
        }
    }

    /// Moves the clock, and wakes those whose moment has come. A negative duration moves it back.
    package func move(by duration: Duration) {
        let awake = state.withLock { state in
            let forward = Expiration.milliseconds(duration)
            let back = Expiration.milliseconds(.zero - duration)
            state.instant = state.instant.advanced(byMilliseconds: forward - back)
            let now = state.instant
            defer { state.sleepers.removeAll { $0.end <= now } }
            return state.sleepers.filter { $0.end <= now }
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    /// When those wait for that wait by the clock.
    package var sleepers: [WallInstant] { state.withLock { $0.sleepers.map(\.end) } }

    /// By which callers stop waiting.
    package var timer: LoadTimer {
        LoadTimer(clock: CoarseClock { self.instant.rawValue }, owner: self) {
            try await self.pause(until: $1)
        }
    }

    /// Waits until the clock shows so many milliseconds since 1970.
    ///
    /// - Returns: What to call when the caller has done what it waited to do.
    package func pause(until end: Int64) async throws -> @Sendable () -> Void {
        let number = LoadCoordinator<Int, Void>.newNumber()
        let followed = Locked<Followed?>(nil)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeper = Sleeper(
                    end: WallInstant(rawValue: end),
                    number: number,
                    continuation: continuation
                )
                followed.withLock { $0 = sleeper.followed }
                let isOver = state.withLock { state in
                    guard state.instant < sleeper.end else { return true }
                    state.sleepers.append(sleeper)
                    return false
                }
                if isOver { continuation.resume() }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return { followed.withLock { $0 }?.end() }
    }

    private func cancel(_ number: UInt64) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.first { $0.number == number }
            state.sleepers.removeAll { $0.number == number }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}

/// Whether a sleeper has done what it waited to do. One task waits for it.
private final class Followed: Sendable {
    private struct State {
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    // A sleeper that is gone has nothing left to do.
    deinit { end() }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func end() {
        let waiter = state.withLock { state in
            state.isOver = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
