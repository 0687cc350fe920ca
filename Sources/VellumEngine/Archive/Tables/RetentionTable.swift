internal import VellumCore

/// The table `retention`: for how long each reader of an archive keeps entries that have no age of their own, and when it last said so.
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

    private static let deleteOfArchive = "DELETE FROM retention WHERE archive = ?1"

    static func deleteAll(of archive: Int64, on connection: Connection) throws(SQLiteError) {
        let delete = try connection.prepare(deleteOfArchive)
        delete.bind(archive, at: 1)
        try delete.run()
    }

    private static let select = "SELECT age, idle, stale_window, seen FROM retention WHERE archive = ?1"

    private enum Column: Int32 { case age, idle, staleWindow, seen }

    /// The policies in the file for one archive.
    static func policies(of archive: Int64, on connection: Connection) throws(SQLiteError) -> [RetentionPolicy] {
        let read = try connection.prepare(select)
        read.bind(archive, at: 1)
        var found: [RetentionPolicy] = []
        while try read.step() {
            found.append(
                RetentionPolicy(
                    age: read.int(Column.age).value, idle: read.int(Column.idle).value, staleWindow: read.int(Column.staleWindow).value,
                    seen: read.instant(Column.seen)))
        }
        return found
    }

    private static let replace = "INSERT OR REPLACE INTO retention(archive, age, idle, stale_window, seen) VALUES (?1, ?2, ?3, ?4, ?5)"

    /// Stores the policies of this process as seen at `now`.
    static func write(
        _ policies: [RetentionPolicy], of archive: Int64, at now: WallInstant, on connection: Connection
    ) throws(SQLiteError) {
        let store = try connection.prepare(replace)
        for policy in policies {
            store.bind(archive, at: 1)
            store.bind(policy.age, at: 2)
            store.bind(policy.idle, at: 3)
            store.bind(policy.staleWindow, at: 4)
            store.bind(now.rawValue, at: 5)
            try store.run()
        }
    }

    private static let deleteSeenBefore = "DELETE FROM retention WHERE archive = ?1 AND seen < ?2"

    static func deleteOld(of archive: Int64, before moment: WallInstant, on connection: Connection) throws(SQLiteError) {
        let delete = try connection.prepare(deleteSeenBefore)
        delete.bind(archive, at: 1)
        delete.bind(moment.rawValue, at: 2)
        try delete.run()
    }
}
