package import VellumCore

/// A server that keeps the entries of one cache for many machines, and the leases of those that
/// load them.
///
/// While a caller holds the lease of a missing entry, no other caller loads it. The lease ends when
/// an entry is put or dropped, so what its holder loaded before that is declined.
package protocol RemoteBackend: AnyObject, Sendable {
    /// Returns the entry, valid or expired.
    ///
    /// - Throws: ``RemoteFailure``.
    func entry(forKey key: EntryKey) async throws(RemoteFailure) -> RemoteEntry

    /// Returns the entries, valid or expired, in the order of their keys.
    func entries(forKeys keys: [EntryKey]) async throws(RemoteFailure) -> [RemoteEntry]

    /// Looks for a valid entry, and takes the lease if there is none and no one holds it.
    ///
    /// - Parameters:
    ///   - token: Names the holder. No two leases have the same.
    ///   - ignoresEntry: Whether the entry counts as missing, because it is damaged, or loaded
    ///     ahead of its end.
    ///   - atReply: Called when the reply has arrived, before anything is heard that the server
    ///     said after it.
    func entryOrLease(
        forKey key: EntryKey,
        token: LeaseToken,
        ignoresEntry: Bool,
        atReply: @escaping @Sendable () -> Void
    ) async throws(RemoteFailure) -> LeaseAnswer

    /// Stores an entry, and ends the lease.
    ///
    /// - Parameter lifetime: After how many milliseconds the server forgets it; `nil` for never.
    func put(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?
    ) async throws(RemoteFailure)

    /// Stores an entry unless there is a valid one by the server's clock that has a value, and ends
    /// the lease.
    ///
    /// - Parameter removed: An entry that counts as missing, because a group of it was removed.
    /// - Returns: Whether it was stored; `nil` if there is another one that is in groups, which the
    ///   caller has to compare.
    func putIfAbsent(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        replacing removed: RemoteRecord?
    ) async throws(RemoteFailure) -> Bool?

    /// Removes the entries and ends the leases.
    func drop(_ keys: [EntryKey]) async throws(RemoteFailure)

    /// Removes every entry of the cache that is there when the call begins, and ends the leases.
    /// Other clients may store entries during the call.
    ///
    /// - Parameter places: The primaries that have them, or ``PendingRemovals/everywhere``.
    /// - Returns: The failures.
    func dropAll(at places: Set<Int>) async -> [Int: RemoteFailure]

    /// Returns the epochs of groups that have one.
    ///
    /// - Parameter new: What the others get, and for how many milliseconds all are kept at least;
    ///   `nil` if none is made.
    func epochs(
        of groups: [EntryKey],
        orMake new: (epoch: UInt64, lifetime: Int64?)?
    ) async throws(RemoteFailure) -> [EntryKey: UInt64]

    /// Gives this epoch to the groups that have one: what was recorded in them before is not valid
    /// any more.
    func removeGroups(_ groups: [EntryKey], epoch: UInt64) async throws(RemoteFailure)

    /// How long a lease lasts without being renewed, in milliseconds.
    var leaseDuration: Int64 { get }

    /// Stores an entry if its holder still has the lease, which ends.
    ///
    /// - Returns: Whether it was stored.
    func fill(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool

    /// Gives an entry new dates if its holder still has the lease, which ends, and the value is
    /// still there. Only the header is sent.
    ///
    /// - Returns: Whether it was stored.
    func renewEntry(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool

    /// Prolongs a lease. Returns whether it is still held.
    func renew(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) -> Bool

    /// Ends a lease without an entry, so that another may load it. Nothing happens if it was lost.
    func giveBack(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure)
}

/// The entry of a key on a server.
package enum RemoteEntry: Hashable, Sendable {
    case missing
    case record(RemoteRecord)
    /// Bytes that do not match their checksum.
    case damaged
    /// More than ``RemoteRecord/longest`` bytes.
    case tooLarge

    var isInGroups: Bool {
        if case .record(let record) = self { !record.groups.isEmpty } else { false }
    }
}

package enum LeaseAnswer: Hashable, Sendable {
    /// There is an entry, valid by the server's clock, or one that is damaged.
    case found(RemoteEntry)
    /// Another holds the lease for so many milliseconds at most. The entry has expired, or is
    /// missing.
    case busy(rest: Int64, old: RemoteEntry)
    /// The caller holds the lease now. The entry has expired, or is missing.
    case granted(old: RemoteEntry)
}

/// The name of a lease's holder.
package struct LeaseToken: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A unique token: 128 random bits.
    static func random() -> LeaseToken {
        LeaseToken(
            String(UInt64.random(in: 0...(.max)), radix: 36) + "-"
                + String(UInt64.random(in: 0...(.max)), radix: 36)
        )
    }
}
