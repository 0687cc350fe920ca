package import VellumCore

/// Stands before and after the calls that reach an archive on disk: how tests make one fail, or do something in between.
///
/// Memory hits never come here. In production there is none, and each call of the disk pays for one comparison with `nil`.
package protocol DiskArchiveInterceptor: AnyObject, Sendable {
    /// Called before the call is carried out. An error is thrown in its place.
    func willCarryOut(_ call: DiskArchive.Call) throws(StoreError)

    /// Called after the call succeeded, before its answer is returned.
    func didCarryOut(_ call: DiskArchive.Call)
}

extension DiskArchive {
    /// What an archive on disk is asked to do.
    package enum Call: Hashable, Sendable {
        case entry(EntryKey)
        case lastUse(EntryKey)
        case totals
        case keysByUse
        case commit(writes: Int, Durability)
        case removeUnused
        case touchesArePending
        case recordTouches(Int)
        case flush
        case close
    }

    func intercepting<Result>(_ call: Call, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        guard let interceptor else { return try body() }
        try interceptor.willCarryOut(call)
        let result = try body()
        interceptor.didCarryOut(call)
        return result
    }
}
