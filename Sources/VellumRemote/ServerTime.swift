/// What the server's clock showed at a moment between two of this process's steady clock, all in milliseconds.
package struct ServerTime: Hashable, Sendable {
    package var milliseconds: Int64
    package var sent: Int64
    package var received: Int64

    package init(milliseconds: Int64, sent: Int64, received: Int64) {
        (self.milliseconds, self.sent, self.received) = (milliseconds, sent, received)
    }
}
