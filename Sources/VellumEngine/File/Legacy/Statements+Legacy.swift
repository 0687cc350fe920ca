internal import VellumCore

extension SQL {
    // MARK: The original MiniCache's Core Data store

    /// Counts the columns of its entries that are present.
    static let originalColumnCount = """
        SELECT count(*) FROM pragma_table_info('ZCACHEENTRY') WHERE name IN ('ZCACHE', 'ZCACHEVERSION', 'ZKEY', 'ZVALUE', 'ZDATE')
        """

    /// Its entries, the oldest first, so that of several with one key the newest stays.
    static let originalEntries = "SELECT ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE, ZDATE FROM ZCACHEENTRY ORDER BY ZDATE, rowid"

    /// Copies the log into the database and removes it, so that the file is complete without it.
    static let endLog = "PRAGMA journal_mode = DELETE"

    // MARK: Renaming entries

    /// The keys in a range, those of the entries written last first.
    static func keysBetween(_ n: Int64) -> String {
        "SELECT key FROM entries_\(n) WHERE key >= ?1 AND key < ?2 ORDER BY written DESC, id DESC"
    }
    static func renameEntry(_ n: Int64) -> String { "UPDATE entries_\(n) SET key = ?2, checksum = ?3 WHERE id = ?1" }
}
