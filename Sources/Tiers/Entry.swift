public import Foundation

/// What a tier keeps under a key: encoded bytes and their dates.
public struct Entry: Hashable, Sendable {
    /// The encoded value. Their count is what every limit counts.
    public var bytes: Data
    /// When the value was recorded.
    public var written: WallInstant
    /// When it stops being valid, `WallInstant.never` for never; `nil` leaves that to each reader.
    public var expires: WallInstant?
    /// For how many milliseconds it is valid without being used, where it has such an age.
    public var idle: Int64?
    /// The last use that is known where the entry was read; asked for only where ``idle`` is something.
    public var lastUse: UseStamp
    /// The tier's own handle on the entry, never used twice; 0 where the tier has none.
    public var row: Int64
    /// What an index is to hold of the value, where whoever writes the entry knows.
    public var indexed: IndexedValues?
    /// What the tier that the entry was read from tells its contents from others' by; 0 where it does not.
    public var revision: UInt32

    public init(
        bytes: Data, written: WallInstant, expires: WallInstant? = nil, idle: Int64? = nil, lastUse: UseStamp = .never, row: Int64 = 0,
        indexed: IndexedValues? = nil, revision: UInt32 = 0
    ) {
        self.bytes = bytes
        self.written = written
        self.expires = expires
        self.idle = idle
        self.lastUse = lastUse
        self.row = row
        self.indexed = indexed
        self.revision = revision
    }

    /// An entry of this age: its own, or that of whoever reads it.
    @usableFromInline
    init(bytes: Data, forKey key: EntryKey, written: WallInstant, expiration: Expiration?, indexed: IndexedValues?) {
        self.init(bytes: bytes, written: written, indexed: indexed)
        guard let expiration else { return }
        expires = written.advanced(byMilliseconds: expiration.age(of: key, written: written))
        idle = expiration.idle == .max ? nil : expiration.idle
    }

    /// When it is valid.
    public var validity: Validity { Validity(written: written, expires: expires, idle: idle) }

    /// What tells it from what is under its key before or after it.
    public var version: EntryVersion { EntryVersion(row: row, written: written, revision: revision) }
}

/// The span of wall-clock time in which an entry may be returned.
///
/// An entry that expires is invalid before it was written, too, beyond a slack of five minutes: after the clock
/// went back, an entry dated in the future is expired, not immortal. An entry that never expires is always valid.
@frozen
public struct Validity: Hashable, Sendable {
    /// When the entry was written.
    public var written: WallInstant
    /// When it expires by itself.
    public var until: WallInstant
    /// For how many milliseconds it is valid after its last use; `.max` is for ever.
    public var idle: Int64
    /// Whether the entry has an age of its own, or its readers judge it by theirs.
    public var isOwn: Bool

    /// Always, whoever reads.
    public static let forever = Validity(written: WallInstant(rawValue: .min), expires: .never)

    /// How far in the future an entry may be dated before it is taken for expired: five minutes, in milliseconds.
    public static let slack: Int64 = 5 * 60 * 1000

    public init(written: WallInstant, expires: WallInstant?, idle: Int64? = nil) {
        self.written = written
        until = expires ?? .never
        self.idle = idle ?? .max
        isOwn = expires != nil || idle != nil
    }

    /// When the entry stops being valid, for a reader who takes entries for as long as `expiration` says.
    ///
    /// A last use that lies in the future beyond the slack was stamped while the clock was wrong, and counts as none: its moment is not
    /// known, and must not make the entry immortal.
    @inlinable
    public func end(of key: EntryKey, lastUse: UseStamp, at now: WallInstant, under expiration: Expiration = .never) -> WallInstant {
        let (end, idle) =
            isOwn
            ? (until, self.idle)
            : (written.advanced(byMilliseconds: expiration.age(of: key, written: written)), expiration.idle)
        if idle == .max { return end }
        let used = lastUse.instant <= now.advanced(byMilliseconds: Self.slack) ? max(lastUse.instant, written) : written
        return min(end, used.advanced(byMilliseconds: idle))
    }

    /// Whether a reader who takes entries for as long as `expiration` says may have the entry now.
    @inlinable
    public func contains(_ now: WallInstant, _ key: EntryKey, lastUse: UseStamp, under expiration: Expiration = .never) -> Bool {
        // Most entries never expire.
        if isOwn ? until == .never && idle == .max : expiration.isNever { return true }
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return false }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return now < end || end == .never
    }

    /// Whether the entry stopped being valid less than so many milliseconds ago.
    func hasEnded(
        within milliseconds: Int64, before now: WallInstant, _ key: EntryKey, lastUse: UseStamp, under expiration: Expiration
    ) -> Bool {
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return false }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return end <= now && now < end.advanced(byMilliseconds: milliseconds)
    }
}
