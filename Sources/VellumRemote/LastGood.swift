package import VellumCore

/// Where a process keeps what it read, for callers that take an old value when the server is out of reach.
///
/// The ends of ages are by this machine's clock: after a restart, no server has told its time.
package protocol LastGood: AnyObject, Sendable {
    /// Failures that no caller receives, of this and of the cache.
    var failures: EventHub<VellumError> { get }

    /// Keeps a record, or forgets it under pressure. Does not wait for the disk.
    func keep(_ record: RemoteRecord, forKey key: EntryKey)

    /// Forgets a record, which was removed. Does not wait for the disk.
    func forget(_ key: EntryKey)

    /// - Returns: `nil` if there is no record, or it cannot be read.
    func record(forKey key: EntryKey) async -> RemoteRecord?
}
