internal import Synchronization
public import VellumCore

/// How long a process may answer from memory without asking the server, and the server's time.
///
/// The server executes the commands of a connection in order, and says before the reply to a
/// command which keys others changed before it. So when a reply arrives, memory holds nothing that
/// was replaced before its command was sent. From then on memory is trusted for a while,
/// ``duration``. A clock decides, and not a timer, so the trust ends in time even if the process
/// stood still.
///
/// Safe on any thread; no call takes a lock.
@usableFromInline package final class Trust: Sendable {
    /// In milliseconds.
    package let duration: Int64
    let clock: CoarseClock
    /// The end of the trust, by the steady clock.
    private let end = Atomic<Int64>(.min)
    /// The difference of the server's clock to the steady clock; `unknown` until the first
    /// connection.
    private let offset = Atomic<Int64>(Trust.unknown)
    /// For how long the server's answer to the question for its time was underway.
    private let roundTrip = Atomic<Int64>(0)
    /// When it last began anew, as ``Trusts`` counts that.
    private let beginning = Atomic<UInt64>(0)

    private static let unknown = Int64.min

    /// - Parameter duration: In milliseconds. Zero: memory is never trusted.
    package init(for duration: Int64, clock: CoarseClock = .system) {
        self.duration = duration
        self.clock = clock
    }

    /// The time of the steady clock if memory is trusted now; `nil` otherwise.
    @usableFromInline package func timeIfTrusted() -> WallInstant? {
        let now = clock.now()
        return now < end.load(ordering: .acquiring) ? WallInstant(rawValue: now) : nil
    }

    func isTrusted() -> Bool { timeIfTrusted() != nil }

    func begins(before beginnings: UInt64) -> Bool {
        beginning.load(ordering: .acquiring) <= beginnings
    }

    func begin(after beginnings: UInt64) {
        beginning.max(beginnings, ordering: .acquiringAndReleasing)
    }

    /// Forgets the server: another one takes its place.
    package func clear() {
        stop()
        offset.store(Self.unknown, ordering: .releasing)
    }

    /// The server's time; `nil` before the first connection. Accurate to within half of a round
    /// trip.
    package func time() -> WallInstant? {
        let offset = offset.load(ordering: .relaxed)
        return offset == Self.unknown ? nil : WallInstant(rawValue: clock.now() + offset)
    }

    /// By how many milliseconds the server's clock was set since the last time; `nil` before the
    /// first connection.
    package func jump(to time: ServerTime) -> Int64? {
        let offset = offset.load(ordering: .relaxed)
        return offset == Self.unknown
            ? nil : time.milliseconds - (time.sent + time.received) / 2 - offset
    }

    /// Whether the server's clock was set by more than a second, beyond what is not known of it.
    package func isSet(to time: ServerTime) -> Bool {
        abs(jump(to: time) ?? 0) > 1000
            + (roundTrip.load(ordering: .relaxed) + time.received - time.sent) / 2
    }

    /// Begins anew with a connection by which nothing was read.
    package func begin(_ time: ServerTime) {
        set(time)
        renew(sent: time.sent)
    }

    /// Learns the server's time. Its reply has renewed the trust, which may have ended since.
    package func set(_ time: ServerTime) {
        offset.store(time.milliseconds - (time.sent + time.received) / 2, ordering: .relaxed)
        roundTrip.store(time.received - time.sent, ordering: .relaxed)
    }

    /// Trusts memory from the moment at which a command was sent, which was answered now.
    package func renew(sent: Int64) { end.max(sent + duration, ordering: .acquiringAndReleasing) }

    /// Ends the trust: the connection was lost.
    package func stop() { end.store(.min, ordering: .releasing) }
}

/// The server's time, read between two moments of this process's steady clock, in milliseconds.
package struct ServerTime: Hashable, Sendable {
    package var milliseconds: Int64
    package var sent: Int64
    package var received: Int64

    package init(milliseconds: Int64, sent: Int64, received: Int64) {
        self.milliseconds = milliseconds
        self.sent = sent
        self.received = received
    }

    /// The years 1970 to 2248, in seconds: what stamps can say (``UseStamp``).
    private static let seconds = Int64(0)..<(1 << 43) / 1000

    /// - Returns: `nil` if the values are out of range.
    package init?(seconds: Int64, microseconds: Int64, sent: Int64, received: Int64) {
        guard Self.seconds.contains(seconds), 0..<1_000_000 ~= microseconds else { return nil }
        self.init(
            milliseconds: seconds * 1000 + microseconds / 1000,
            sent: sent,
            received: received
        )
    }
}
