/// The SQL of what nobody wants any more: claims on the entries of an archive, and archives that replace one another.
extension SQL {
    /// A claim says that someone takes the entries of an archive for so long, and may ask for them for a grace beyond that.
    static let claimsTable = """
        CREATE TABLE claims(
            archive INTEGER NOT NULL,
            age INTEGER NOT NULL,
            idle INTEGER NOT NULL,
            grace INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            PRIMARY KEY(archive, age, idle, grace)
        ) WITHOUT ROWID
        """

    // MARK: Claims

    static let claims = "SELECT age, idle, grace, seen FROM claims WHERE archive = ?1"
    static let storeClaim = "INSERT OR REPLACE INTO claims(archive, age, idle, grace, seen) VALUES (?1, ?2, ?3, ?4, ?5)"
    static let deleteOldClaims = "DELETE FROM claims WHERE seen < ?1"
    static let deleteClaims = "DELETE FROM claims WHERE archive = ?1"

    // MARK: Entries

    /// What the sweeper must know of the rows of a block.
    static func datesBetween(_ n: Int64) -> String {
        "SELECT id, length(bytes), written, expires, idle, \(lastUse(n)), key FROM entries_\(n) WHERE id >= ?1 AND id < ?2"
    }

    // MARK: Families

    static let family = "SELECT family, seen FROM archives WHERE id = ?1"
    static let storeFamily = "UPDATE archives SET family = ?2, seen = ?3 WHERE id = ?1"
    static let relatives = "SELECT id, name, entries, seen FROM archives WHERE family = ?1 AND id <> ?2 ORDER BY seen, id"
    /// The limit of the archive of a family that was opened last.
    static let limitOfFamily = """
        SELECT max_bytes, is_max_given FROM archives WHERE family = ?1 ORDER BY seen DESC, id DESC LIMIT 1
        """
    static let lastArchive = "SELECT max(id) FROM archives"
    static let deleteArchive = "DELETE FROM archives WHERE id = ?1"
    static func dropArchive(_ n: Int64) -> String { "DROP TABLE entries_\(n); DROP TABLE uses_\(n); DROP TABLE marks_\(n);" }
}
