internal import Foundation
internal import VellumCore

/// Blocks the calling thread between attempts.
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
