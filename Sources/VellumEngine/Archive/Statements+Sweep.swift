internal import VellumCore

/// The SQL of what nobody wants any more: claims on the entries of an archive, and archives that replace one another.
extension SQL {
    /// A claim says that someone takes the entries of an archive for so long, and may ask for them for a grace beyond that.
    static let retentionTable = """
        CREATE TABLE retention(
            archive INTEGER NOT NULL,
            age INTEGER NOT NULL,
            idle INTEGER NOT NULL,
            stale_window INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            PRIMARY KEY(archive, age, idle, stale_window)
        ) WITHOUT ROWID
        """

    // MARK: Claims

    static let policies = "SELECT age, idle, stale_window, seen FROM retention WHERE archive = ?1"
    static let storePolicy = "INSERT OR REPLACE INTO retention(archive, age, idle, stale_window, seen) VALUES (?1, ?2, ?3, ?4, ?5)"
    static let deleteOldPolicies = "DELETE FROM retention WHERE seen < ?1"
    static let deletePolicies = "DELETE FROM retention WHERE archive = ?1"

    // MARK: Entries

    /// What the sweeper must know of the rows of a block.
    static func datesBetween(_ n: Int64) -> String {
        "SELECT id, length(bytes), written, expires, idle, \(lastUse(n)), key FROM entries_\(n) WHERE id >= ?1 AND id < ?2"
    }

    // MARK: Families

    static let versionGroup = "SELECT version_group, seen FROM archives WHERE id = ?1"
    static let storeVersionGroup = "UPDATE archives SET version_group = ?2, seen = ?3 WHERE id = ?1"
    static let siblings = "SELECT id, name, entries, seen FROM archives WHERE version_group = ?1 AND id <> ?2 ORDER BY seen, id"
    /// The limit of the archive of a family that was opened last.
    static let limitOfVersionGroup = """
        SELECT max_bytes, is_max_given FROM archives WHERE version_group = ?1 ORDER BY seen DESC, id DESC LIMIT 1
        """
    static let lastArchive = "SELECT max(id) FROM archives"
    static let deleteArchive = "DELETE FROM archives WHERE id = ?1"
    static func dropArchive(_ n: Int64) -> String { "DROP TABLE entries_\(n); DROP TABLE touches_\(n); DROP TABLE recency_\(n);" }
}
