internal import VellumCore

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
