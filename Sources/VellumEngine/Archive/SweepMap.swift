internal import VellumCore

/// When the first entry of each block of an archive expires.
///
/// A pure value. It costs a write one lookup in a dictionary, and the file nothing: a process reads the entries that it did not write itself
/// once, block by block, after it has opened the archive. Entries are numbered in the order of their insertion, so those of one age expire
/// in the order of the blocks.
struct SweepMap: Equatable {
    /// Entries per block.
    static let blockSize: Int64 = 256

    private var ends: [Int64: WallInstant] = [:]
    /// Blocks that have not been read yet.
    private var unread: Range<Int64> = 0..<0
    /// The earliest end in the archive.
    private(set) var earliest = WallInstant.never

    static func block(of entryID: Int64) -> Int64 { entryID / blockSize }

    static func entryIDs(of block: Int64) -> Range<Int64> { block * blockSize..<(block + 1) * blockSize }

    /// Forgets everything, and schedules the blocks of the entries after one, up to another, to be read again.
    mutating func readAnew(after first: Int64, through last: Int64) {
        ends = [:]
        earliest = .never
        unread = Self.block(of: first + 1)..<Self.block(of: max(first + 1, last)) + 1
    }

    /// Whether a block has yet to be read for the first time.
    var hasUnread: Bool { !unread.isEmpty }

    /// Whether ``takeDue(at:)`` returns a block.
    func mayBeDue(at now: WallInstant) -> Bool { earliest <= now || hasUnread }

    /// Notes that an entry in the block of this one expires at `end`.
    mutating func note(entryID: Int64, end: WallInstant) { note(block: Self.block(of: entryID), end: end) }

    mutating func note(block: Int64, end: WallInstant) {
        guard end != .never else { return }
        if end < ends[block] ?? .never { ends[block] = end }
        if end < earliest { earliest = end }
    }

    /// Takes a block to read now, if there is one: an entry in it has expired, or it was never read. The caller notes its next end again.
    mutating func takeDue(at now: WallInstant) -> Int64? {
        if earliest <= now, let block = ends.filter({ $0.value <= now }).keys.min() {
            ends[block] = nil
            earliest = ends.values.min() ?? .never
            return block
        }
        return unread.popFirst()
    }

    mutating func removeAll() {
        ends = [:]
        earliest = .never
        unread = 0..<0
    }
}

/// Until when the entries of an archive are live.
///
/// An entry with an age of its own is live until then. For any other entry each reader has its own policy, which it records in the file; the
/// entry is live while at least one policy says so. A policy of a program that has not opened the archive for a week no longer counts.
struct Retention: Equatable {
    var policies: [RetentionPolicy] = []

    static let week: Int64 = 7 * 24 * 3600 * 1000

    /// Whether only entries with an age of their own can expire.
    var isUnlimited: Bool { policies.isEmpty || policies.contains { $0.isUnlimited } }

    /// When the entry expires for every reader.
    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        if validity.isOwn {
            let staleWindow = policies.reduce(0) { max($0, $1.staleWindow) }
            return validity.end(of: "", lastUse: lastUse, at: now).advanced(byMilliseconds: staleWindow)
        }
        guard !policies.isEmpty else { return .never }
        return policies.reduce(WallInstant(rawValue: .min)) { max($0, $1.end(validity, lastUse: lastUse, at: now)) }
    }
}

/// For how long a reader uses entries that have no age of their own, and for how much longer it may still ask for a stale one.
struct RetentionPolicy: Equatable {
    /// Milliseconds after an entry was written.
    var age: Int64
    /// Milliseconds after its last use.
    var idle: Int64
    /// Milliseconds after its end in which a stale entry may still be asked for.
    var staleWindow: Int64
    /// When the reader last had the archive open; `WallInstant.never` for a reader in this process.
    var seen: WallInstant

    var isUnlimited: Bool { age == .max && idle == .max && seen == .never }

    /// Whether every entry that is live under the other policy is live under this one.
    func covers(_ other: RetentionPolicy) -> Bool { age == other.age && idle == other.idle && staleWindow >= other.staleWindow }

    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        // Without jitter, which can only make it earlier.
        let end = validity.end(of: "", lastUse: lastUse, at: now, under: Expiration(age: age, idle: idle))
            .advanced(byMilliseconds: staleWindow)
        return min(end, seen.advanced(byMilliseconds: Retention.week))
    }
}
