import Foundation
import Samples

/// A hand-written table with a column for each index beside the bytes, `CREATE INDEX` on each, and
/// a table of tags.
final class IndexedTable {
    private let writer: Writer
    private let log: LogKeeper

    init(_ choice: (some IndexChoice).Type, _ path: String, _ synchronous: Synchronous) throws {
        let database = try RawDatabase(path, RawDatabase.writing(synchronous))
        let columns = choice.columns.map(\.name)
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS residents(
                \
            \((["id INTEGER PRIMARY KEY", "key TEXT NOT NULL UNIQUE", "bytes BLOB NOT NULL"] + columns).joined(separator: ", ")));
            CREATE TABLE IF NOT EXISTS tags(tag TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY \
            KEY(tag, id)) WITHOUT ROWID;
            """
        )
        for column in columns {
            try database.execute("CREATE INDEX IF NOT EXISTS by_\(column) ON residents(\(column))")
        }
        let writer = try Writer(choice, database)
        self.writer = writer
        log = try LogKeeper(path, writer: database, synchronous) { body in
            try writer.lock.withLock { _ in try body() }
        }
    }

    /// Encodes the residents and records them in one transaction.
    func record(_ residents: [Resident]) throws {
        let encoded = try residents.map { (resident: $0, bytes: try $0.archive()) }
        let isLong = try writer.lock.withLock { _ in
            try writer.begin.run()
            for (resident, bytes) in encoded { try writer.record(resident, bytes) }
            try writer.commit.run()
            return log.isLong
        }
        if isLong { log.schedule() }
    }

    func close() { log.finish() }

    /// Used inside the lock.
    private final class Writer {
        let lock = LockedBox(())
        let begin, commit: RawStatement
        private let upsert: RawStatement
        private let addTag: RawStatement?
        private let columns: [IndexedColumn]

        init(_ choice: (some IndexChoice).Type, _ database: RawDatabase) throws {
            columns = choice.columns
            begin = try database.prepare("BEGIN IMMEDIATE")
            commit = try database.prepare("COMMIT")
            let names = ["key", "bytes"] + columns.map(\.name)
            upsert = try database.prepare(
                """
                INSERT INTO residents(\(names.joined(separator: ", "))) VALUES \
                (\(names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))
                ON CONFLICT(key) DO UPDATE SET \
                \(names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")) \
                RETURNING id
                """
            )
            addTag =
                choice.hasTags
                ? try database.prepare("INSERT OR IGNORE INTO tags(tag, id) VALUES (?1, ?2)") : nil
        }

        func record(_ resident: Resident, _ data: Data) throws {
            upsert.bind(text: resident.primaryKey, 1)
            for (index, column) in columns.enumerated() {
                column.bind(resident, upsert, Int32(index + 3))
            }
            let row = try data.withUnsafeBytes { bytes in
                defer { upsert.reset() }
                upsert.bind(bytes, 2)
                let row = try upsert.step() ? upsert.int(0) : 0
                _ = try upsert.step()
                return row
            }
            guard let addTag else { return }
            for tag in resident.tags {
                addTag.bind(text: tag, 1)
                addTag.bind(row, 2)
                try addTag.run()
            }
        }
    }
}
