internal import Foundation
internal import VellumCore

/// A wait of a thread that has nothing better to do.
enum BusyRetry {
    static func milliseconds(_ count: Double) { Thread.sleep(forTimeInterval: count / 1000) }

    /// Tries again while another process holds the file, for ten seconds at most: for what SQLite itself does not wait with.
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
