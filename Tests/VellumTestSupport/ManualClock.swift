package import VellumCore
internal import VellumEngine

/// A wall clock that moves only when a test moves it, forwards or backwards.
///
/// ```swift
/// let clock = ManualClock()
/// let store = Store(disk: archive, codec: codec, memory: capacity, clock: clock.wallClock)
/// clock.advance(by: .seconds(60))
/// ```
package final class ManualClock: Sendable {
    private let instant: Locked<WallInstant>
    private let sleepers = Locked<[Sleeper]>([])
    private let step = Locked<(readings: Int, step: @Sendable () -> Void)?>(nil)

    private struct Sleeper: Sendable {
        var end: WallInstant
        var number: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// - Parameter now: The initial time; 2026-01-01T00:00:00Z by default.
    package init(now: WallInstant = WallInstant(rawValue: 1_767_225_600_000)) {
        instant = Locked(now)
    }

    package var now: WallInstant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }

    /// Moves the clock; a negative duration moves it back. Less than a millisecond has no effect.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        instant.withLock { $0 = $0.advanced(byMilliseconds: milliseconds) }
        wake { [now] in $0.end <= now }
    }

    /// Those who wait by this clock go on when it is moved by ``advance(by:)``.
    package var wallClock: WallClock { WallClock(instants: { self.read() }, timer: timer) }

    /// Runs a step of a test before the wall clock is read for so many times more.
    package func beforeReading(_ readings: Int, _ step: @escaping @Sendable () -> Void) { self.step.withLock { $0 = (readings, step) } }

    private func read() -> WallInstant {
        let due = step.withLock { step -> (@Sendable () -> Void)? in
            step?.readings -= 1
            guard let found = step, found.readings == 0 else { return nil }
            step = nil
            return found.step
        }
        due?()
        return now
    }

    package var timer: LoadTimer { LoadTimer(clock: steady) { try await self.sleep($0) } }

    /// The same time, as a clock that is never set.
    package var steady: CoarseClock { CoarseClock { self.now.rawValue } }

    // MARK: Sleeping

    /// Waits until the clock was moved by so many milliseconds.
    package func sleep(_ milliseconds: Int64) async throws {
        let (number, end) = (LoadCoordinator<Int, Void>.newNumber(), now.advanced(byMilliseconds: milliseconds))
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleepers.withLock { $0.append(Sleeper(end: end, number: number, continuation: continuation)) }
                // It may have been moved, or the task cancelled, before the sleeper was there.
                wake { [now] in $0.end <= now }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func wake(_ isOver: (Sleeper) -> Bool) {
        for sleeper in take(isOver) { sleeper.continuation.resume() }
    }

    private func cancel(_ number: UInt64) {
        for sleeper in take({ $0.number == number }) { sleeper.continuation.resume(throwing: CancellationError()) }
    }

    private func take(_ isTaken: (Sleeper) -> Bool) -> [Sleeper] {
        sleepers.withLock { sleepers in
            let taken = sleepers.filter(isTaken)
            sleepers.removeAll(where: isTaken)
            return taken
        }
    }

    /// How many wait.
    package var sleeperCount: Int { sleepers.withLock { $0.count } }

    /// Whether somebody waits for that moment.
    package func hasSleeper(until end: WallInstant) -> Bool { sleepers.withLock { $0.contains { $0.end == end } } }

    /// Returns once somebody waits for that moment.
    package func waitForSleeper(until end: WallInstant) async {
        while !hasSleeper(until: end) { await Task.yield() }
    }
}
