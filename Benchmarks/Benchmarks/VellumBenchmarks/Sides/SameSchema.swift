import Foundation
import Vellum

/// The statements of `Sources/VellumEngine/Archive/Tables` that records of one archive make, through the C API, by hand.
///
/// Works on a file of Vellum's. What Vellum does besides is left out: no checksum, no recency, no memory.
final class SameSchema<Value: Archivable> {
    /// Adds to the index what a row holds, where there is one.
    typealias Indexing = (_ row: Int64, Value) throws -> Void

    private let writer: Writer
    private let log: LogKeeper
    private let indexing: Indexing?

    init(_ path: String, _ synchronous: Synchronous, indexing: (RawDatabase) throws -> Indexing? = { _ in nil }) throws {
        let database = try RawDatabase(path, RawDatabase.writing(synchronous))
        self.indexing = try indexing(database)
        let writer = try Writer(database)
        self.writer = writer
        log = try LogKeeper(path, writer: database, synchronous) { body in try writer.lock.withLock { _ in try body() } }
    }

    /// Encodes the values and records them in one transaction.
    func record(_ values: [Value]) throws {
        let encoded = try values.map { (key: $0.primaryKey, bytes: try $0.archive()) }
        let isLong = try writer.lock.withLock { _ in
            try writer.begin.run()
            for (index, (key, bytes)) in encoded.enumerated() {
                let row = try writer.record(key, bytes)
                try indexing?(row, values[index])
            }
            try writer.storeTotals()
            try writer.commit.run()
            return log.isLong
        }
        if isLong { log.schedule() }
    }

    func record(_ value: Value) throws {
        let key = value.primaryKey
        let bytes = try value.archive()
        let isLong = try writer.lock.withLock { _ in
            try writer.begin.run()
            let row = try writer.record(key, bytes)
            try indexing?(row, value)
            try writer.storeTotals()
            try writer.commit.run()
            return log.isLong
        }
        if isLong { log.schedule() }
    }

    func close() { log.finish() }
}

/// The connection that writes, its statements, and the archive's row. Used inside the lock.
private final class Writer {
    let lock = LockedBox(())
    let begin, commit: RawStatement
    private let find, insert, update, store: RawStatement
    private var entries, bytes, next, settled, marks: Int64
    private var now: Int64 = 1_800_000_000_000

    init(_ database: RawDatabase) throws {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        find = try database.prepare("SELECT id, length(bytes), written, expires FROM entries_1 WHERE key = ?1")
        insert = try database.prepare(
            "INSERT INTO entries_1(id, key, written, expires, idle, stamp, checksum, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
        update = try database.prepare(
            "UPDATE entries_1 SET written = ?2, expires = ?3, idle = ?4, checksum = ?5, bytes = ?6 WHERE id = ?1")
        store = try database.prepare(
            "UPDATE archives SET entries = ?2, bytes = ?3, next = ?4, settled = ?5, marks = ?6 WHERE id = ?1")
        let load = try database.prepare("SELECT entries, bytes, next, settled, marks FROM archives WHERE id = 1")
        _ = try load.step()
        (entries, bytes, next, settled, marks) = (load.int(0), load.int(1), load.int(2), load.int(3), load.int(4))
        load.reset()
    }

    /// - Returns: The number of the row.
    func record(_ key: String, _ data: Data) throws -> Int64 {
        var key = key
        return try key.withUTF8 { key in
            try data.withUnsafeBytes { try record(UnsafeRawBufferPointer(key), $0) }
        }
    }

    private func record(_ key: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer) throws -> Int64 {
        now += 1
        find.bind(key, 1)
        let present = try find.step() ? (row: find.int(0), bytes: find.int(1)) : nil
        find.reset()
        if let present {
            update.bind(present.row, 1)
            update.bind(now, 2)
            update.bind(0, 5)
            update.bind(data, 6)
            try update.run()
            bytes += Int64(data.count) - present.bytes
            return present.row
        } else {
            insert.bind(next, 1)
            insert.bind(key, 2)
            insert.bind(now, 3)
            insert.bind(now << 20, 6)
            insert.bind(0, 7)
            insert.bind(data, 8)
            try insert.run()
            (next, entries, bytes) = (next + 1, entries + 1, bytes + Int64(data.count))
            return next - 1
        }
    }

    func storeTotals() throws {
        store.bind(1, 1)
        store.bind(entries, 2)
        store.bind(bytes, 3)
        store.bind(next, 4)
        store.bind(settled, 5)
        store.bind(marks, 6)
        try store.run()
    }
}

/// A prepared point read of Vellum's file, and the decode.
final class SameSchemaReader<Value: Subject> {
    private let read: RawStatement

    init(_ path: String) throws {
        read = try RawDatabase(path, RawDatabase.reading)
            .prepare("SELECT id, written, expires, checksum, bytes, idle FROM entries_1 WHERE key = ?1")
    }

    func value(_ key: String) throws -> Value? {
        var key = key
        let bytes = try key.withUTF8 { key -> Data? in
            read.bind(UnsafeRawBufferPointer(key), 1)
            defer { read.reset() }
            return try read.step() ? read.data(4) : nil
        }
        return try bytes.map(Value.decode)
    }
}
