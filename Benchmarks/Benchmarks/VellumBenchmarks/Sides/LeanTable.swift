import Foundation
import Samples

/// The smallest table of keys and values, with one statement per record, which commits by itself.
final class LeanTable<Value: Subject> {
    private let writer: Writer
    private let log: LogKeeper

    init(_ path: String, _ synchronous: Synchronous) throws {
        let database = try RawDatabase(path, RawDatabase.writing(synchronous))
        try database.execute(
            "CREATE TABLE IF NOT EXISTS kv(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"
        )
        let writer = try Writer(database)
        self.writer = writer
        log = try LogKeeper(path, writer: database, synchronous) { body in
            try writer.lock.withLock { _ in try body() }
        }
    }

    func record(_ value: Value) throws {
        let key = value.primaryKey
        let bytes = try value.archive()
        let isLong = try writer.lock.withLock { _ in
            try writer.record(key, bytes)
            return log.isLong
        }
        if isLong { log.schedule() }
    }

    func record(_ values: [Value]) throws {
        let encoded = try values.map { (key: $0.primaryKey, bytes: try $0.archive()) }
        let isLong = try writer.lock.withLock { _ in
            try writer.begin.run()
            for (key, bytes) in encoded { try writer.record(key, bytes) }
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

        init(_ database: RawDatabase) throws {
            begin = try database.prepare("BEGIN IMMEDIATE")
            commit = try database.prepare("COMMIT")
            upsert = try database.prepare(
                "INSERT INTO kv(k, v) VALUES (?1, ?2) ON CONFLICT(k) DO UPDATE SET v = excluded.v"
            )
        }

        func record(_ key: String, _ data: Data) throws {
            var key = key
            try key.withUTF8 { key in
                try data.withUnsafeBytes { data in
                    upsert.bind(UnsafeRawBufferPointer(key), 1)
                    upsert.bind(data, 2)
                    try upsert.run()
                }
            }
        }
    }
}

/// A prepared point read of the smallest table, and the decode.
final class LeanReader<Value: Subject> {
    private let read: RawStatement

    init(_ path: String) throws {
        read = try RawDatabase(path, RawDatabase.reading).prepare("SELECT v FROM kv WHERE k = ?1")
    }

    func value(_ key: String) throws -> Value? {
        var key = key
        let bytes = try key.withUTF8 { key -> Data? in
            read.bind(UnsafeRawBufferPointer(key), 1)
            defer { read.reset() }
            return try read.step() ? read.data(0) : nil
        }
        return try bytes.map(Value.decode)
    }
}
