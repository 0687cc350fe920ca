internal import TestThreads
internal import Testing
package import VellumCore
internal import VellumTesting

/// A wall clock that moves only when a test moves it, forwards or backwards.
///
/// ```swift
/// let clock = ManualClock()
/// let store = Store(disk: archive, codec: codec, memory: capacity, clock: clock.wallClock)
/// clock.advance(by: .seconds(60))
/// ```
package final class ManualClock: Sendable {
    private let clock: TestClock
    private let step = Locked<(readings: Int, step: @Sendable () -> Void)?>(nil)

    /// - Parameter now: The initial time; 2026-01-01T00:00:00Z by default.
    package init(now: WallInstant = WallInstant(rawValue: 1_767_225_600_000)) {
        clock = TestClock(now.date)
    }

    package var now: WallInstant {
        get { clock.instant }
        set { clock.instant = newValue }
    }

    /// Moves the clock; a negative duration moves it back.
    package func advance(by duration: Duration) { clock.move(by: duration) }

    /// Those who wait by this clock go on when it is moved by ``advance(by:)``.
    package var wallClock: WallClock { WallClock(instants: { self.read() }, timer: timer) }

    /// Runs a step of a test before the wall clock is read for so many times more.
    package func beforeReading(_ readings: Int, _ step: @escaping @Sendable () -> Void) {
        self.step.withLock { $0 = (readings, step) }
    }

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

    package var timer: LoadTimer { clock.timer }

    /// The same time, as a clock that is never set.
    package var steady: CoarseClock { CoarseClock { self.now.rawValue } }

    // MARK: Sleeping

    /// Waits until the clock was moved by so many milliseconds.
    package func sleep(_ milliseconds: Int64) async throws {
        _ = try await clock.pause(until: now.advanced(byMilliseconds: milliseconds).rawValue)
    }

    /// How many wait.
    package var sleeperCount: Int { clock.sleepers.count }

    /// Whether somebody waits for that moment.
    package func hasSleeper(until end: WallInstant) -> Bool { clock.sleepers.contains(end) }

    /// Returns once somebody waits for that moment.
    package func waitForSleeper(until end: WallInstant) async {
        await until("somebody waits for that moment") { hasSleeper(until: end) }
    }
}
