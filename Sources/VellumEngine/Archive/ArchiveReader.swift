internal import Foundation
internal import VellumCore

/// The rows of one archive, as any connection reads them: a reader's, or the writer's while it has something open that
/// no reader can see yet.
final class ArchiveReader {
    let id: Int64
    let checksum: Checksum
    let connection: Connection
    private var readEntry: Statement?
    private var readStamps: Statement?
    private var loadTotals: Statement?
    // Those of queries; `ArchiveReader+Query` has the rest.
    var readCoverage: Statement?
    var readRow: Statement?
    private var queries: [String: Statement] = [:]

    init(id: Int64, checksum: Checksum, connection: Connection) {
        self.id = id
        self.checksum = checksum
        self.connection = connection
    }

    /// An entry as read, or word that it does not match its checksum.
    enum Found {
        case entry(Entry)
        case damaged
    }

    func entry(forKey key: EntryKey) throws(SQLiteError) -> Found? {
        let read = try prepared(&readEntry, SQL.readEntry(id))
        defer { read.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            read.bind(bytes, at: 1)
            guard try read.step() else { return nil }
            return found(read, key: bytes)
        }
    }

    private func found(_ row: Statement, key: UnsafeRawBufferPointer) -> Found {
        let entry = row.entry
        return checksum.of(entry, key: key) == row.checksum ? .entry(entry) : .damaged
    }

    /// The number of the entry and the last use that is written down.
    func lastUse(ofKey key: EntryKey) throws(SQLiteError) -> Touch? {
        let read = try prepared(&readStamps, SQL.entryStamps(id))
        defer { read.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            read.bind(bytes, at: 1)
            guard try read.step() else { return nil }
            return Touch(row: read.int(0), stamp: UseStamp(rawValue: max(read.int(1), read.optionalInt(2) ?? 0)))
        }
    }

    func totals() throws(SQLiteError) -> StorageUsage {
        let load = try prepared(&loadTotals, SQL.loadTotals)
        defer { load.reset() }
        load.bind(id, at: 1)
        guard try load.step() else { return StorageUsage() }
        return StorageUsage(entries: Int(load.int(0)), bytes: Int(load.int(1)))
    }

    // MARK: Listing

    /// The keys of valid entries by last use, newest first: three orders merged, those of the marks, of the tail, and of the
    /// uses that were not written down yet.
    func keysByUse(
        limit: Int, validAt now: WallInstant, under expiration: Expiration, pending: [Touch]
    ) throws(SQLiteError) -> [ListedKey] {
        let settled = try connection.int(SQL.settled(id)) ?? 0
        var pending = pending.sorted { $0.stamp > $1.stamp }[...]
        var marks = try Cursor(connection.prepare(SQL.newestRecency(id)))
        let tailStatement = try connection.prepare(SQL.newestAboveLowWater(id))
        tailStatement.bind(settled, at: 1)
        var tail = try Cursor(tailStatement)
        let byRow = try connection.prepare(SQL.listedEntry(id))

        var listed = Set<Int64>()
        var keys: [ListedKey] = []
        while keys.count < limit {
            let next = max(pending.first?.stamp.rawValue ?? 0, marks.stamp, tail.stamp)
            guard next > 0 else { break }
            var found: Listed?
            if let use = pending.first, use.stamp.rawValue == next {
                pending.removeFirst()
                found = try Listed(use, byRow)
            } else if marks.stamp == next {
                found = marks.current
                try marks.advance()
            } else {
                found = tail.current
                try tail.advance()
            }
            // Each entry is met first under its last use, whichever order tells it.
            let lastUse = UseStamp(rawValue: next)
            guard let found, listed.insert(found.row).inserted,
                found.validity.contains(now, found.key, lastUse: lastUse, under: expiration)
            else { continue }
            keys.append(ListedKey(key: found.key, lastUse: lastUse, bytes: found.bytes))
        }
        return keys
    }

    private struct Listed {
        var row: Int64
        var key: EntryKey
        var validity: Validity
        var bytes: Int

        init(_ statement: Statement, row: Int64) {
            self.row = row
            key = EntryKey(String(decoding: statement.bytes(2), as: UTF8.self))
            validity = Validity(
                written: WallInstant(rawValue: statement.int(3)),
                expires: statement.optionalInt(4).map(WallInstant.init(rawValue:)), idle: statement.optionalInt(5))
            bytes = Int(statement.int(6))
        }

        init?(_ use: Touch, _ byRow: Statement) throws(SQLiteError) {
            defer { byRow.reset() }
            byRow.bind(use.row, at: 1)
            guard try byRow.step() else { return nil }
            self.init(byRow, row: use.row)
        }
    }

    private struct Cursor {
        private let statement: Statement
        private(set) var stamp: Int64 = 0
        private(set) var current: Listed?

        init(_ statement: Statement) throws(SQLiteError) {
            self.statement = statement
            try advance()
        }

        mutating func advance() throws(SQLiteError) {
            guard try statement.step() else {
                (stamp, current) = (0, nil)
                return
            }
            // No checksum covers a stamp: one that is damaged must not hide those that come after it.
            stamp = max(statement.int(0), 1)
            current = Listed(statement, row: statement.int(1))
        }
    }

    /// A query, kept prepared until there are many of them.
    func prepared(query sql: String) throws(SQLiteError) -> Statement {
        if let statement = queries[sql] { return statement }
        let new = try connection.prepare(sql)
        if queries.count >= 64 { queries.removeAll() }
        queries[sql] = new
        return new
    }

    func prepared(_ statement: inout Statement?, _ sql: @autoclosure () -> String) throws(SQLiteError) -> Statement {
        if let statement { return statement }
        let new = try connection.prepare(sql())
        statement = new
        return new
    }
}

// A row that begins with `SQL.entryColumns`.
extension Statement {
    var checksum: UInt32 { UInt32(truncatingIfNeeded: int(3)) }

    /// The key, where it was asked for; valid until the next step.
    var entryKey: UnsafeRawBufferPointer { bytes(7) }

    var entry: Entry {
        Entry(
            bytes: data(4), written: WallInstant(rawValue: int(1)), expires: optionalInt(2).map(WallInstant.init(rawValue:)),
            idle: optionalInt(5), lastUse: UseStamp(rawValue: int(6)), row: int(0), revision: checksum)
    }
}
