package import VellumCore

/// Intercepts the calls that reach an archive on disk, so that tests can make them fail or run code between them.
///
/// Memory hits do not reach it. Without an interceptor each call costs one comparison with `nil`.
package protocol DiskArchiveInterceptor: AnyObject, Sendable {
    /// Called before the call is carried out. If it throws, the call fails with that error.
    func willCarryOut(_ call: DiskArchive.Call) throws(VellumError)

    /// Called after the call succeeded, before its result is returned.
    func didCarryOut(_ call: DiskArchive.Call)
}

extension DiskArchive {
    /// A call of an archive on disk.
    package enum Call: Hashable, Sendable {
        case entry(EntryKey)
        case lastUse(EntryKey)
        case totals
        case keysByUse
        case commit(writes: Int, Durability)
        case removeUnused
        case flush
    }

    func intercepting<Result>(_ call: Call, _ body: () throws(VellumError) -> Result) throws(VellumError) -> Result {
        guard let interceptor else { return try body() }
        try interceptor.willCarryOut(call)
        let result = try body()
        interceptor.didCarryOut(call)
        return result
    }
}
