/// The span of wall-clock time in which an entry may be returned.
///
/// An entry that expires is also invalid more than five minutes before it was written: after the
/// clock went back, an entry dated in the future is expired, not immortal. An entry that never
/// expires is always valid.
@frozen
@usableFromInline package struct Validity: Hashable, Sendable {
    /// When the entry was written.
    @usableFromInline package var written: WallInstant
    /// When the entry expires by its age.
    @usableFromInline package var until: WallInstant
    /// How many milliseconds it stays valid after its last use; `.max` means forever.
    @usableFromInline package var idle: Int64
    /// Whether the entry has an expiration of its own; otherwise that of each reader applies.
    @usableFromInline package var isOwn: Bool

    /// Valid at any time, for every reader.
    @usableFromInline package static let forever = Validity(
        written: WallInstant(rawValue: .min),
        expires: .never
    )

    /// How far in the future an entry may be dated before it counts as expired: five minutes, in
    /// milliseconds.
    @usableFromInline package static let slack: Int64 = 5 * 60 * 1000

    /// Creates a validity. Without `expires` and `idle`, the expiration of each reader applies.
    ///
    /// - Parameter idle: In milliseconds after the last use.
    @usableFromInline package init(written: WallInstant, expires: WallInstant?, idle: Int64? = nil)
    {
        self.written = written
        until = expires ?? .never
        self.idle = idle ?? .max
        isOwn = expires != nil || idle != nil
    }

    /// Returns when the entry stops being valid. `expiration` applies if the entry has no
    /// expiration of its own.
    ///
    /// A last use that is further in the future than the slack was stamped while the clock was
    /// wrong, and is ignored: it must not make the entry immortal.
    @inlinable
    package func end(
        of key: EntryKey,
        lastUse: UseStamp,
        at now: WallInstant,
        under expiration: Expiration = .never
    ) -> WallInstant {
        let (end, idle) =
            isOwn
            ? (until, self.idle)
            : (
                written.advanced(byMilliseconds: expiration.age(of: key, written: written)),
                expiration.idle
            )
        if idle == .max { return end }
        let used =
            lastUse.instant <= now.advanced(byMilliseconds: Self.slack)
            ? max(lastUse.instant, written) : written
        return min(end, used.advanced(byMilliseconds: idle))
    }

    /// Whether the entry is valid now. `expiration` applies if the entry has no expiration of its
    /// own.
    @inlinable
    package func contains(
        _ now: WallInstant,
        _ key: EntryKey,
        lastUse: UseStamp,
        under expiration: Expiration = .never
    ) -> Bool {
        // Most entries never expire.
        if isOwn ? until == .never && idle == .max : expiration.isNever { return true }
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return false }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return now < end || end == .never
    }

    /// Whether the given part of the entry's age is over, by which a caller loads it again ahead of
    /// its end. An entry that never expires, or whose age counts from its last use, has no such
    /// part.
    @inlinable
    package func isPast(
        _ part: Double,
        of key: EntryKey,
        at now: WallInstant,
        under expiration: Expiration = .never
    ) -> Bool {
        guard (isOwn ? idle : expiration.idle) == .max else { return false }
        let end =
            isOwn
            ? until : written.advanced(byMilliseconds: expiration.age(of: key, written: written))
        guard end != .never else { return false }
        return Double(now.rawValue &- written.rawValue) >= part
            * Double(end.rawValue &- written.rawValue)
    }

    /// The rule of ``contains(_:_:lastUse:under:)`` in SQL, for a row `e` of entries whose
    /// expiration is their own, or that never expire. It has the parameters `:latest`, the end of
    /// the slack after now, and `:now`, in this order.
    ///
    /// - Parameter lastUse: An expression of the time at which the entry was last used.
    package static func sql(lastUse: String) -> String {
        let never = WallInstant.never.rawValue
        return """
            (coalesce(e.expires, \(never)) = \(never) AND e.idle IS NULL OR e.written <= :latest \
            AND coalesce(e.expires, \(never)) > :now AND (e.idle IS NULL OR max(e.written, \
            iif(\(lastUse) <= :latest, \(lastUse), 0)) + e.idle > :now))
            """
    }

    /// Returns when the entry stopped being valid; `nil` if that was not less than so many
    /// milliseconds ago.
    package func end(
        within milliseconds: Int64,
        before now: WallInstant,
        _ key: EntryKey,
        lastUse: UseStamp,
        under expiration: Expiration
    ) -> WallInstant? {
        guard now.advanced(byMilliseconds: Self.slack) >= written else { return nil }
        let end = end(of: key, lastUse: lastUse, at: now, under: expiration)
        return end <= now && now < end.advanced(byMilliseconds: milliseconds) ? end : nil
    }
}
