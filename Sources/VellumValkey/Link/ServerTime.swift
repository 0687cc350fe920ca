/// What the server's clock showed at a moment between two of this process's, all in milliseconds.
package struct ServerTime: Hashable, Sendable {
    package var milliseconds: Int64
    package var sent: Int64
    package var received: Int64
}
