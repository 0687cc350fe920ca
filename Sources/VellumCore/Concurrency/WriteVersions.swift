/// Whether something was written since a reader began: a value that was read before a write must not be put in a cache after it.
///
/// ```swift
/// guard let ticket = versions.ticket(stripe) else { return }   // before reading the source
/// …
/// if versions.isCurrent(ticket) { cache[key] = value }          // in one critical section with every write
/// ```
///
/// A pure value without a lock. Keys share versions, a stripe of them each: a key that shares its stripe with a key that is
/// written loses a fill at worst. Keys that are watched have a version of their own, which other keys do not change.
///
/// - Complexity: O(1), O(stripes + watched keys) for writes of every key.
@usableFromInline
package struct WriteVersions<Key: Hashable & Sendable>: Sendable {
    @usableFromInline package static var stripeCount: Int { 64 }

    /// Proof of what had been written when it was given.
    @usableFromInline
    package struct Ticket: Sendable {
        @usableFromInline package let stripe: Int
        @usableFromInline let version: UInt64

        @usableFromInline
        init(stripe: Int, version: UInt64) {
            self.stripe = stripe
            self.version = version
        }
    }

    private struct Watch {
        var watchers: Int
        var version: UInt64
    }

    @usableFromInline var versions = ContiguousArray<UInt64>(repeating: 0, count: 64)
    /// How many writes of keys of each stripe are under way, and how many of every key.
    private var writes = ContiguousArray<Int>(repeating: 0, count: 64)
    private var writesOfAll = 0
    private var watches: [Key: Watch] = [:]
    private var lastVersion: UInt64 = 0

    @usableFromInline
    package init() {}

    /// The stripe of a key with that hash value.
    @inlinable
    package static func stripe(ofHash hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(stripeCount)) }

    // MARK: Tickets

    /// - Returns: `nil` while a write of the stripe, or of every key, is under way: its value may be in one place and not in another.
    package func ticket(_ stripe: Int) -> Ticket? {
        writes[stripe] == 0 && writesOfAll == 0 ? Ticket(stripe: stripe, version: versions[stripe]) : nil
    }

    /// Whether nothing was written since the ticket was given, and nothing is being written.
    package func isCurrent(_ ticket: Ticket) -> Bool {
        versions[ticket.stripe] == ticket.version && writes[ticket.stripe] == 0 && writesOfAll == 0
    }

    // MARK: Writes

    /// Records a write that excludes fills of its key by other means.
    @inlinable
    package mutating func recordWrite(_ stripe: Int) { versions[stripe] &+= 1 }

    /// Records a write of a key, which may be watched.
    package mutating func recordWrite(of key: Key, _ stripe: Int) {
        recordWrite(stripe)
        guard let index = watches.index(forKey: key) else { return }
        lastVersion += 1
        watches.values[index].version = lastVersion
    }

    /// Records a write of every key.
    package mutating func recordWriteOfAll() {
        for stripe in versions.indices { versions[stripe] &+= 1 }
        lastVersion += 1
        for index in watches.values.indices { watches.values[index].version = lastVersion }
    }

    /// Begins a write of the stripe. Until it ends no ticket is given, and none is current.
    package mutating func beginWrite(_ stripe: Int) { writes[stripe] += 1 }

    package mutating func endWrite(_ stripe: Int) {
        writes[stripe] -= 1
        recordWrite(stripe)
    }

    /// Begins a write of every key. Until it ends no ticket is given, and none is current.
    package mutating func beginWriteOfAll() { writesOfAll += 1 }

    package mutating func endWriteOfAll() {
        writesOfAll -= 1
        recordWriteOfAll()
    }

    // MARK: Watched keys

    package var isWatching: Bool { !watches.isEmpty }

    /// Watches the key once more, and returns its version. No version is used twice.
    package mutating func watch(_ key: Key) -> UInt64 {
        if let index = watches.index(forKey: key) {
            watches.values[index].watchers += 1
            return watches.values[index].version
        }
        lastVersion += 1
        watches[key] = Watch(watchers: 1, version: lastVersion)
        return lastVersion
    }

    /// Watches the key once less.
    package mutating func unwatch(_ key: Key) {
        guard let watch = watches[key] else { return }
        watches[key] = watch.watchers == 1 ? nil : Watch(watchers: watch.watchers - 1, version: watch.version)
    }

    /// Whether the key is watched, and was not written since it had that version.
    package func isUnchanged(_ key: Key, since version: UInt64) -> Bool { watches[key]?.version == version }
}
