internal import VellumCore

/// Until when the entries of an archive are wanted by anyone.
///
/// An entry that has an age of its own is wanted until then. Of any other each reader thinks for itself, so each says how
/// long it takes entries, in the file: a claim. An entry is wanted while one of them wants it. A claim of a program that has
/// not opened the archive for a week counts no more.
struct Retention: Equatable {
    var policies: [RetentionPolicy] = []

    static let week: Int64 = 7 * 24 * 3600 * 1000

    /// Whether anything can ever become unwanted but by an age of its own.
    var isUnlimited: Bool { policies.isEmpty || policies.contains { $0.isUnlimited } }

    /// When nobody wants the entry any more.
    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        if validity.isOwn {
            let staleWindow = policies.reduce(0) { max($0, $1.staleWindow) }
            return validity.end(of: "", lastUse: lastUse, at: now).advanced(byMilliseconds: staleWindow)
        }
        guard !policies.isEmpty else { return .never }
        return policies.reduce(WallInstant(rawValue: .min)) { max($0, $1.end(validity, lastUse: lastUse, at: now)) }
    }
}

/// What a reader says of the entries that have no age of their own: how long it takes them, and how much longer it would
/// rather have an old one than none.
struct RetentionPolicy: Equatable {
    var age: Int64
    var idle: Int64
    /// Milliseconds beyond the end of an entry for which it may still be asked for.
    var staleWindow: Int64
    /// When the reader was last there; never, for one of this process that is there now.
    var seen: WallInstant

    var isUnlimited: Bool { age == .max && idle == .max && seen == .never }

    /// Whether it wants everything that the other does.
    func covers(_ other: RetentionPolicy) -> Bool { age == other.age && idle == other.idle && staleWindow >= other.staleWindow }

    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        // Without jitter, which only shortens.
        let end = validity.end(of: "", lastUse: lastUse, at: now, under: Expiration(age: age, idle: idle))
            .advanced(byMilliseconds: staleWindow)
        return min(end, seen.advanced(byMilliseconds: Retention.week))
    }
}
