import Foundation
import Samples
import Vellum

/// The statements of `Sources/VellumEngine/Tables` for a record in one archive, executed directly
/// through the C API.
///
/// Works on a file that Vellum made. Omits the rest of Vellum's work: no checksum, no recency, no
/// memory.
final class SameSchema<Value: Archivable> {
    /// Adds a row to the index, if there is one.
    typealias Indexing = (_ row: Int64, Value) throws -> Void

    private let writer: Writer
    private let log: LogKeeper
    private let indexing: Indexing?

    init(
        _ path: String,
        _ synchronous: Synchronous,
        indexing: (RawDatabase) throws -> Indexing? = { _ in nil }
    ) throws {
        let database = try RawDatabase(path, RawDatabase.writing(synchronous))
        self.indexing = try indexing(database)
        let writer = try Writer(database)
        self.writer = writer
        log = try LogKeeper(path, writer: database, synchronous) { body in
            try writer.lock.withLock { _ in try body() }
        }
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

/// The hash of a key as the file has it, with the seed of the archive (`Documentation/Format.md`).
private struct KeyHash {
    private static let mix: UInt64 = 0x9E37_79B9_7F4A_7C15

    private let seed: UInt64
    private let secret: UInt64

    /// - Parameter database: A file with one archive.
    init(_ database: RawDatabase) throws {
        let find = try database.prepare("SELECT hash_seed FROM archives WHERE id = 1")
        guard try find.step() else { throw CocoaError(.fileReadCorruptFile) }
        seed = UInt64(bitPattern: find.int(0))
        secret = (seed ^ 0xA409_3822_299F_31D1) | 1
    }

    func of(_ key: UnsafeRawBufferPointer) -> Int64 {
        let count = key.count
        func word(_ offset: Int) -> UInt64 {
            key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        func half(_ offset: Int) -> UInt64 {
            UInt64(key.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        var (hash, place) = (Self.folded(seed ^ Self.mix, secret), 0)
        while count - place > 16 {
            hash = Self.folded(word(place) ^ secret, word(place + 8) ^ hash)
            place += 16
        }
        let (first, last): (UInt64, UInt64) =
            switch count {
            case 8...: (word(count >= 16 ? count - 16 : 0), word(count - 8))
            case 4...: (half(0), half(count - 4))
            case 1...: (UInt64(key[0]) << 8 | UInt64(key[count / 2]), UInt64(key[count - 1]))
            default: (0, 0)
            }
        hash = Self.folded(first ^ secret, last ^ hash)
        return Int64(
            Int32(truncatingIfNeeded: Self.folded(hash ^ secret, UInt64(count) ^ Self.mix))
        )
    }

    private static func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// The connection that writes, its statements, and the archive's row. Used inside the lock.
private final class Writer {
    let lock = LockedBox(())
    let begin, commit: RawStatement
    private let find, insert, update, store: RawStatement
    private let hash: KeyHash
    private var entries, bytes, next: Int64
    /// The next entry when the totals were written.
    private var nextInRow: Int64
    private var hasChangedSize = false
    private var now: Int64 = 1_800_000_000_000

    init(_ database: RawDatabase) throws {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        find = try database.prepare(
            """
            SELECT id, length(bytes), written, expires, checksum, idle FROM entries WHERE hash = \
            ?2 AND key = ?1 AND id > ?3 AND id < 2 << 40
            """
        )
        insert = try database.prepare(
            """
            INSERT INTO entries(id, hash, key, written, expires, idle, stamp, checksum, \
            type_version, bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """
        )
        update = try database.prepare(
            """
            UPDATE entries SET written = ?2, expires = ?3, idle = ?4, checksum = ?5, type_version \
            = ?6, bytes = ?7 WHERE id = ?1
            """
        )
        store = try database.prepare(
            "UPDATE archives SET entries = ?2, bytes = ?3, next = ?4 WHERE id = ?1"
        )
        hash = try KeyHash(database)
        let load = try database.prepare(
            "SELECT count(*), total(length(bytes)), coalesce(max(id), 1 << 40) + 1 FROM entries"
        )
        _ = try load.step()
        (entries, bytes, next) = (load.int(0), load.int(1), load.int(2))
        nextInRow = next
        load.reset()
    }

    /// - Returns: The rowid.
    func record(_ key: String, _ data: Data) throws -> Int64 {
        var key = key
        return try key.withUTF8 { key in
            try data.withUnsafeBytes { try record(UnsafeRawBufferPointer(key), $0) }
        }
    }

    private func record(
        _ key: UnsafeRawBufferPointer,
        _ data: UnsafeRawBufferPointer
    ) throws -> Int64 {
        now += 1
        let hash = hash.of(key)
        find.bind(key, 1)
        find.bind(hash, 2)
        find.bind(1 << 40, 3)
        let present = try find.step() ? (row: find.int(0), bytes: find.int(1)) : nil
        find.reset()
        if let present {
            update.bind(present.row, 1)
            update.bind(now, 2)
            update.bind(hash, 5)
            update.bind(0, 6)
            update.bind(data, 7)
            try update.run()
            if present.bytes != data.count { hasChangedSize = true }
            bytes += Int64(data.count) - present.bytes
            return present.row
        } else {
            insert.bind(next, 1)
            insert.bind(hash, 2)
            insert.bind(key, 3)
            insert.bind(now, 4)
            insert.bind(now << 20, 7)
            insert.bind(hash, 8)
            insert.bind(0, 9)
            insert.bind(data, 10)
            try insert.run()
            (next, entries, bytes) = (next + 1, entries + 1, bytes + Int64(data.count))
            return next - 1
        }
    }

    /// Writes the totals unless only a few entries were inserted since.
    func storeTotals() throws {
        guard hasChangedSize || next - nextInRow > 64 else { return }
        store.bind(1, 1)
        store.bind(entries, 2)
        store.bind(bytes, 3)
        store.bind(next - (1 << 40), 4)
        try store.run()
        (nextInRow, hasChangedSize) = (next, false)
    }
}

/// A prepared point read of Vellum's file, and the decode.
final class SameSchemaReader<Value: Subject> {
    private let read: RawStatement
    private let hash: KeyHash

    init(_ path: String) throws {
        let database = try RawDatabase(path, RawDatabase.reading)
        read = try database.prepare(
            """
            SELECT id, written, expires, checksum, bytes, idle, type_version FROM entries
            WHERE hash = ?2 AND key = ?1 AND id > 1 << 40 AND id < 2 << 40
            """
        )
        hash = try KeyHash(database)
    }

    func value(_ key: String) throws -> Value? {
        var key = key
        let bytes = try key.withUTF8 { key -> Data? in
            let key = UnsafeRawBufferPointer(key)
            read.bind(key, 1)
            read.bind(hash.of(key), 2)
            defer { read.reset() }
            return try read.step() ? read.data(4) : nil
        }
        return try bytes.map(Value.decode)
    }
}
