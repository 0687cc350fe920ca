/// The span of wall-clock time in which an entry may be returned.
///
/// An entry that expires is invalid before it was written, too, beyond a slack of five minutes: after the clock
/// went back, an entry dated in the future is expired, not immortal. An entry that never expires is always valid.
@frozen
@usableFromInline package struct Validity: Hashable, Sendable {
    /// When the entry was written.
    @usableFromInline package var written: WallInstant
    /// When it expires by itself.
    @usableFromInline package var until: WallInstant
    /// For how many milliseconds it is valid after its last use; `.max` is for ever.
    @usableFromInline package var idle: Int64
    /// Whether the entry has an age of its own, or its readers judge it by theirs.
    @usableFromInline package var isOwn: Bool

    /// Always, whoever reads.
    @usableFromInline package static let forever = Validity(written: WallInstant(rawValue: .min), expires: .never)

    /// How far in the future an entry may be dated before it is taken for expired: five minutes, in milliseconds.
    @usableFromInline package static let slack: Int64 = 5 * 60 * 1000

    @usableFromInline package init(written: WallInstant, expires: WallInstant?, idle: Int64? = nil) {
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
    package func end(of key: EntryKey, lastUse: UseStamp, at now: WallInstant, under expiration: Expiration = .never) -> WallInstant {
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
    package func contains(_ now: WallInstant, _ key: EntryKey, lastUse: UseStamp, under expiration: Expiration = .never) -> Bool {
        // Most entries never expire.
        if isOwn ? until == .never && idle == .max : expiration.isNever { return true }
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return false }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return now < end || end == .never
    }

    /// Whether the entry stopped being valid less than so many milliseconds ago.
    package func hasEnded(
        within milliseconds: Int64, before now: WallInstant, _ key: EntryKey, lastUse: UseStamp, under expiration: Expiration
    ) -> Bool {
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return false }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return end <= now && now < end.advanced(byMilliseconds: milliseconds)
    }
}
