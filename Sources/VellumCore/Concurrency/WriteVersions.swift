/// Detects writes since a read began, so that a value read before a write is not cached after it.
///
/// ```swift
/// // before reading the source
/// guard let ticket = versions.ticket(stripe) else { return }
/// …
/// // in one critical section with every write
/// if versions.isCurrent(ticket) { cache[key] = value }
/// ```
///
/// A value type without a lock. Keys share versions by stripe, so a write of one key can make a
/// cache fill of another key in its stripe fail, and nothing worse. What takes longer watches its
/// key instead: ``WatchedKeys``.
///
/// - Complexity: O(1), O(stripes) for writes of every key.
@usableFromInline
package struct WriteVersions: Sendable {
    @usableFromInline package static var stripeCount: Int { 64 }

    /// The version of a stripe at one moment.
    @usableFromInline
    package struct Ticket: Sendable {
        @usableFromInline package let stripe: Int
        @usableFromInline let version: UInt64

        @inlinable
        init(stripe: Int, version: UInt64) {
            self.stripe = stripe
            self.version = version
        }
    }

    @usableFromInline var versions = ContiguousArray<UInt64>(repeating: 0, count: 64)
    /// The number of writes in progress, for each stripe and of every key.
    @usableFromInline var writes = ContiguousArray<Int>(repeating: 0, count: 64)
    @usableFromInline var writesOfAll = 0

    @usableFromInline
    package init() {}

    /// Returns the stripe of a key with that hash value.
    @inlinable
    package static func stripe(ofHash hash: Int) -> Int {
        Int(UInt(bitPattern: hash) % UInt(stripeCount))
    }

    // MARK: Tickets

    /// - Returns: `nil` during a write of the stripe or of every key, because only some places may
    ///   have the new value.
    @inlinable
    package func ticket(_ stripe: Int) -> Ticket? {
        writes[stripe] == 0 && writesOfAll == 0
            ? Ticket(stripe: stripe, version: versions[stripe]) : nil
    }

    /// Whether no write has begun or ended since the ticket was issued, and none is in progress.
    @inlinable
    package func isCurrent(_ ticket: Ticket) -> Bool {
        versions[ticket.stripe] == ticket.version && writes[ticket.stripe] == 0 && writesOfAll == 0
    }

    // MARK: Writes

    /// Makes the tickets of a stripe outdated: what their readers have read may have changed.
    @inlinable
    package mutating func invalidateTickets(_ stripe: Int) { versions[stripe] &+= 1 }

    /// Makes every ticket outdated.
    mutating func invalidateTickets() {
        for stripe in versions.indices { versions[stripe] &+= 1 }
    }

    /// Begins a write of the stripe. Until it ends, no ticket is issued and no ticket is current.
    package mutating func beginWrite(_ stripe: Int) { writes[stripe] += 1 }

    package mutating func endWrite(_ stripe: Int) {
        writes[stripe] -= 1
        invalidateTickets(stripe)
    }

    /// Begins a write of every key. Until it ends, no ticket is issued and no ticket is current.
    package mutating func beginWriteOfAll() { writesOfAll += 1 }

    package mutating func endWriteOfAll() {
        writesOfAll -= 1
        invalidateTickets()
    }
}
