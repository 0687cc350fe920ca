/// The server's time, read between two moments of this process's steady clock, in milliseconds.
package struct ServerTime: Hashable, Sendable {
    package var milliseconds: Int64
    package var sent: Int64
    package var received: Int64

    package init(milliseconds: Int64, sent: Int64, received: Int64) {
        (self.milliseconds, self.sent, self.received) = (milliseconds, sent, received)
    }

    /// The years 1970 to 2248, in seconds: what stamps can say (``UseStamp``).
    private static let seconds = Int64(0)..<(1 << 43) / 1000

    /// - Returns: `nil` if the values are out of range.
    package init?(seconds: Int64, microseconds: Int64, sent: Int64, received: Int64) {
        guard Self.seconds.contains(seconds), 0..<1_000_000 ~= microseconds else { return nil }
        self.init(milliseconds: seconds * 1000 + microseconds / 1000, sent: sent, received: received)
    }
}
