internal import VellumCore

/// Calls again while another process keeps the lock for longer than a call waits for it: that one
/// may not have run for ten seconds on a busy machine. A call that is `busy` has changed nothing.
///
/// An update that others have overtaken too often is `busy` without an error of SQLite, and fails.
@discardableResult
package func whileBusy<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
        do {
            return try body()
        } catch let error as VellumError where error.code == .busy && error.sqliteCode != nil {
            continue
        }
    }
}
