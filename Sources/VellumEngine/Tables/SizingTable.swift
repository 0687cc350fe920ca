internal import Foundation
package import VellumCore

/// The table `sizing`: what the hit ratio of archives would be with other limits, for tools to show
/// (decision 84). A file has it once a program has used it for a while (``Features/sizing``).
/// Programs may ignore it.
package enum SizingTable {
    /// A plain table, as programs require that do not know the feature (decision 73).
    static let create = """
        CREATE TABLE sizing(
            archive INTEGER PRIMARY KEY,
            written INTEGER NOT NULL,
            curve TEXT NOT NULL
        )
        """

    static let isThere = "SELECT count(*) FROM sqlite_schema WHERE name = 'sizing'"
    static let write = "INSERT OR REPLACE INTO sizing(archive, written, curve) VALUES (?1, ?2, ?3)"
    static let remove = "DELETE FROM sizing WHERE archive = ?1"
    static let read = "SELECT written, curve FROM sizing WHERE archive = ?1"

    private enum Column: Int32 { case written, curve }

    /// Returns what was written last; `nil` if there is nothing, or nothing that can be read: it is
    /// only advice.
    package static func read(
        of archive: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> (sizing: Sizing, written: WallInstant)? {
        guard try connection.int(isThere) ?? 0 > 0 else { return nil }
        let read = try connection.prepare(read, archive)
        guard try read.step(), let text = read.text(Column.curve) else { return nil }
        do {
            let sizing = try CodableFormat.decode(Sizing.self, from: Data(text.utf8))
            return sizing.isPossible
                ? (sizing, WallInstant(rawValue: read.int(Column.written).value)) : nil
        } catch {
            return nil
        }
    }
}
