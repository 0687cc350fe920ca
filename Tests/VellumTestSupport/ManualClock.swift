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
    }

    package var wallClock: WallClock { WallClock(instants: { self.now }) }
}
