internal import Foundation
internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Waits while another process holds a lock, for a maximum time. The first retries come after microseconds, because most locks are short.
///
/// SQLite's own `sqlite3_busy_timeout` sleeps for 1 to 100 milliseconds between retries, which leaves a contended lock unused for most of
/// the time (decision 30).
final class BusyHandler {
    private let state: UnsafeMutablePointer<State>

    private struct State {
        /// The longest wait, in milliseconds.
        var longest: Int64
        var began: Int64 = 0
    }

    /// - Parameter milliseconds: How long to wait at most.
    init(milliseconds: Int64) {
        state = .allocate(capacity: 1)
        state.initialize(to: State(longest: milliseconds))
    }

    deinit { state.deallocate() }

    /// How long to wait at most, in milliseconds.
    var milliseconds: Int64 {
        get { state.pointee.longest }
        set { state.pointee.longest = newValue }
    }

    /// Installs the handler on a connection. The handler must live as long as the connection is open.
    func attach(to connection: OpaquePointer) {
        sqlite3_busy_handler(
            connection,
            { context, count in
                guard let state = context?.assumingMemoryBound(to: State.self) else { return 0 }
                let now = CoarseClock.milliseconds
                if count == 0 { state.pointee.began = now }
                guard now - state.pointee.began < state.pointee.longest else { return 0 }
                // 20 µs, 40, … a millisecond.
                usleep(count > 5 ? 1000 : 20 << UInt32(count))
                return 1
            }, state)
    }
}

/// Blocks the calling thread between attempts (decision 49).
package enum BusyRetry {
    /// Blocks the calling thread for so many milliseconds.
    package static func milliseconds(_ count: Double) { Thread.sleep(forTimeInterval: count / 1000) }

    /// Runs `body`, and again every 10 ms while it fails as busy, 1000 times at most. For statements that ignore SQLite's busy handler.
    static func whileBusy(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        var triesLeft = 1000
        while true {
            do throws(SQLiteError) {
                return try body()
            } catch {
                triesLeft -= 1
                guard VellumError(error).code == .busy, triesLeft > 0 else { throw error }
                milliseconds(10)
            }
        }
    }
}
