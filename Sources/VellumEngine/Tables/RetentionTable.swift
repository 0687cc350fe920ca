internal import VellumCore

/// The table `retention`: for how long each reader of an archive keeps entries that have no age of
/// their own, how much longer it may request an entry that has expired, and when it last said so.
enum RetentionTable {
    static let create = """
        CREATE TABLE retention(
            archive INTEGER NOT NULL,
            age INTEGER NOT NULL,
            idle INTEGER NOT NULL,
            stale_window INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            PRIMARY KEY(archive, age, idle, stale_window)
        ) WITHOUT ROWID
        """

    static func deleteAll(of archive: Int64, on connection: Connection) throws(SQLiteError) {
        try connection.prepare("DELETE FROM retention WHERE archive = ?1", archive).run()
    }

    private enum Column: Int32 { case age, idle, staleWindow, seen }

    /// The policies in the file for one archive.
    static func policies(
        of archive: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> [RetentionPolicy] {
        let read = try connection.prepare(
            "SELECT age, idle, stale_window, seen FROM retention WHERE archive = ?1",
            archive
        )
        var found: [RetentionPolicy] = []
        while try read.step() {
            found.append(
                RetentionPolicy(
                    age: read.int(Column.age).value,
                    idle: read.int(Column.idle).value,
                    staleWindow: read.int(Column.staleWindow).value,
                    seen: read.instant(Column.seen)
                )
            )
        }
        return found
    }

    /// Stores the policies of this process as seen at `now`.
    static func write(
        _ policies: [RetentionPolicy],
        of archive: Int64,
        at now: WallInstant,
        on connection: Connection
    ) throws(SQLiteError) {
        let replace =
            """
            INSERT OR REPLACE INTO retention(archive, age, idle, stale_window, seen) VALUES (?1, \
            ?2, ?3, ?4, ?5)
            """
        for policy in policies {
            try connection.prepare(
                replace,
                archive,
                policy.age,
                policy.idle,
                policy.staleWindow,
                now.rawValue
            ).run()
        }
    }

    static func deleteOld(
        of archive: Int64,
        before moment: WallInstant,
        on connection: Connection
    ) throws(SQLiteError) {
        try connection.prepare(
            "DELETE FROM retention WHERE archive = ?1 AND seen < ?2",
            archive,
            moment.rawValue
        ).run()
    }
}

/// Until when the entries of an archive are live (decision 17).
///
/// An entry with an age of its own is live until then, and for the longest stale window after it.
/// For any other entry each reader has its own policy, which it records in the file; the entry is
/// live while at least one policy says so. A policy of a program that has not opened the archive
/// for a week no longer counts.
struct Retention: Equatable {
    var policies: [RetentionPolicy] = []

    static let week: Int64 = 7 * 24 * 3600 * 1000

    /// Whether only entries with an age of their own can expire: a reader of this process keeps the
    /// others forever, or says nothing.
    var isUnlimited: Bool {
        !policies.contains { $0.seen == .never } || policies.contains { $0.isUnlimited }
    }

    /// When the entry expires for every reader.
    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        if validity.isOwn {
            let end = validity.end(of: "", lastUse: lastUse, at: now)
            return policies.reduce(end) { max($0, $1.limit(end)) }
        }
        guard !isUnlimited else { return .never }
        return policies.reduce(WallInstant(rawValue: .min)) {
            max($0, $1.end(validity, lastUse: lastUse, at: now))
        }
    }
}

/// For how long a reader uses entries that have no age of their own, and for how much longer it may
/// still ask for a stale one.
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
    func covers(_ other: RetentionPolicy) -> Bool {
        age == other.age && idle == other.idle && staleWindow >= other.staleWindow
    }

    func end(_ validity: Validity, lastUse: UseStamp, at now: WallInstant) -> WallInstant {
        // Without jitter, which can only make it earlier.
        limit(
            validity.end(
                of: "",
                lastUse: lastUse,
                at: now,
                under: Expiration(age: age, idle: idle)
            )
        )
    }

    /// Until when the reader may request an entry whose age ends then.
    func limit(_ end: WallInstant) -> WallInstant {
        min(
            end.advanced(byMilliseconds: staleWindow),
            seen.advanced(byMilliseconds: Retention.week)
        )
    }
}
