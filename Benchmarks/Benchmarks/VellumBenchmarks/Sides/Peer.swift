import Foundation
import GRDB

/// GRDB as its documentation recommends: a pool, a table with a column for each property, a Codable
/// record.
///
/// Its log is checkpointed by SQLite's default: by the commit that fills a thousand pages.
final class Peer<Value: Subject> {
    let pool: DatabasePool

    init(_ path: String, _ synchronous: Synchronous) throws {
        pool = try DatabasePool(path: path)
        // Set after opening, because GRDB sets its own value then.
        try pool.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)")
        }
        try pool.write { database in
            if try !database.tableExists(Value.databaseTableName) {
                try Value.createTable(database)
            }
        }
    }

    func record(_ value: Value) throws {
        try pool.write { try value.upsert($0) }
    }

    func record(_ values: [Value]) throws {
        try pool.write { database in
            for value in values { try value.upsert(database) }
        }
    }

    func value(_ key: String) throws -> Value? {
        try pool.read { try Value.fetchOne($0, key: key) }
    }

    func close() throws { try pool.close() }
}
