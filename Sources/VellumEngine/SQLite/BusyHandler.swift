internal import Foundation
internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Waits while another process holds a lock, for a maximum time. The first retries come after
/// microseconds, because most locks are short.
///
/// SQLite's own `sqlite3_busy_timeout` sleeps for 1 to 100 milliseconds between retries, which
/// leaves a contended lock unused for most of the time (decision 30).
final class BusyHandler {
    /// How long to wait at most, in milliseconds.
    var milliseconds: Int64
    private var began: Int64 = 0

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Installs the handler on a connection. The handler must live as long as the connection is
    /// open.
    func attach(to connection: OpaquePointer) {
        sqlite3_busy_handler(
            connection,
            { context, count in
                context.map {
                    Unmanaged<BusyHandler>.fromOpaque($0).takeUnretainedValue().wait(count)
                } ?? 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// - Returns: 0 if the time is over, so that SQLite does not try again.
    private func wait(_ count: Int32) -> Int32 {
        let now = CoarseClock.milliseconds
        if count == 0 { began = now }
        guard now - began < milliseconds else { return 0 }
        BusyRetry.pause(Int(count))
        return 1
    }
}

/// Blocks the calling thread between attempts (decision 49).
package enum BusyRetry {
    /// Blocks the calling thread for so many milliseconds. One of a lane lends its place.
    package static func milliseconds(_ count: Double) {
        guard count >= 1 else { return Thread.sleep(forTimeInterval: count / 1000) }
        Lane.waiting { Thread.sleep(forTimeInterval: count / 1000) }
    }

    /// Blocks the calling thread after so many attempts: for 20 µs, 40, … a millisecond.
    static func pause(_ attempts: Int) {
        milliseconds(attempts > 5 ? 1 : 0.02 * Double(1 << attempts))
    }

    /// Runs `body`, and again every 10 ms while it fails as busy, 1000 times at most. For
    /// statements that ignore SQLite's busy handler.
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
