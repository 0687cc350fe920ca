import CBORCoding
import CRawSQLite
import Foundation
import Samples
import Vellum

/// A million objects get another version: in the background by Vellum, and in one transaction over
/// a plain table by hand, with the same coder. And how long a reader waits meanwhile.
enum MigrationTimes {
    /// A person of version 0.
    struct Before: ArchiveCodable {
        static var archiveName: String { "Migrated" }
        var primaryKey: String { id }
        var id: String
        var name: String
        var email: String
        var age: Int
        var score: Double
        var isActive: Bool

        init(_ person: Person) {
            (id, name, email) = (person.id, person.name, person.email)
            (age, score, isActive) = (person.age, person.score, person.isActive)
        }
    }

    /// The same with other names.
    struct After: ArchiveCodable, VersionedArchive {
        static var archiveName: String { "Migrated" }
        static var archiveVersion: Int { 1 }
        var primaryKey: String { id }
        var id: String
        var fullName: String
        var email: String
        var years: Int
        var score: Double
        var isActive: Bool

        init(_ old: Before) {
            (id, fullName, email) = (old.id, old.name, old.email)
            (years, score, isActive) = (old.age, old.score, old.isActive)
        }

        static func migrate(_ old: StoredObject) throws -> Migrated<After> {
            .object(After(try old.decode(Before.self)))
        }
    }

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let count = workspace.isQuick ? 50_000 : 1_000_000
        let folder = try workspace.folder("migration")
        defer { try? FileManager.default.removeItem(at: folder) }
        let byHand = try rewriteByHand(count, in: folder)
        let factory = ArchivesFactory(directory: folder)
        let old = try factory.store(
            for: Before.self,
            memoryLimit: 1.megaByte,
            diskLimit: .unlimited
        )
        for start in stride(from: 0, to: count, by: 10_000) {
            try old.record(contentsOf: (start..<start + 10_000).map { Before(Person($0)) })
        }
        let alone = reads(of: old, count) { $0 < 40_000 }
        try factory.close()

        // Once without a reader, on a copy, and once with one.
        let copy = folder.appendingPathComponent("copy")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: folder.appendingPathComponent("Archives.sqlite"),
            to: copy.appendingPathComponent("Archives.sqlite")
        )
        let inBackground = try migrate(copy) { store in
            while try !store.migrationProgress().isComplete { Thread.sleep(forTimeInterval: 0.01) }
        }
        var meanwhile: [Double] = []
        _ = try migrate(folder) { store in
            meanwhile = reads(of: store, count) { number in
                number % 100 != 0 || ((try? store.migrationProgress().isComplete) == false)
            }
        }
        return [
            Figure(
                title:
                    """
                    Migrate \(count) objects of six fields by hand, in one transaction over a \
                    plain table
                    """,
                value: byHand,
                unit: "s"
            ),
            Figure(title: "… in the background", value: inBackground, unit: "s"),
            Figure(title: "… as a multiple", value: inBackground / byHand, unit: "×", limit: 1.5),
            Figure(
                title: "Access an object on disk, p99 without a migration",
                value: alone.p99 / 1e3,
                unit: "µs"
            ),
            Figure(title: "… during one, p99", value: meanwhile.p99 / 1e3, unit: "µs"),
            Figure(title: "… as a multiple", value: meanwhile.p99 / alone.p99, unit: "×", limit: 2),
            Figure(title: "… its maximum", value: (meanwhile.max() ?? 0) / 1e6, unit: "ms"),
        ]
    }

    private static func migrate(
        _ folder: URL,
        _ wait: (ArchiveStore<After>) throws -> Void
    ) throws -> Double {
        let factory = ArchivesFactory(directory: folder)
        let start = ContinuousClock.now
        try wait(try factory.store(for: After.self, memoryLimit: 1.megaByte))
        let duration = ContinuousClock.now - start
        try factory.close()
        return duration / .seconds(1)
    }

    /// Accesses objects in a random order while the condition holds, and returns the nanoseconds of
    /// each.
    private static func reads<Object: Archivable>(
        of store: ArchiveStore<Object>,
        _ count: Int,
        while isWanted: (Int) -> Bool
    ) -> [Double] {
        var (times, number) = ([Double](), 0)
        while isWanted(number) {
            let key = Person.key(number &* 7919 % count)
            let start = ContinuousClock.now
            do {
                guard try store.access(archiveWithKey: key) != nil else {
                    fatalError("An object is missing.")
                }
            } catch {
                fatalError("\(error)")
            }
            times.append((ContinuousClock.now - start) / .nanoseconds(1))
            number += 1
        }
        return times
    }

    // MARK: By hand

    private static func rewriteByHand(_ count: Int, in folder: URL) throws -> Double {
        var database: OpaquePointer?
        guard
            sqlite3_open(folder.appendingPathComponent("by hand.sqlite").path, &database)
                == SQLITE_OK
        else { fatalError("No database") }
        defer { sqlite3_close(database) }
        func run(_ sql: String) {
            guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { fatalError(sql) }
        }
        func prepare(_ sql: String) -> OpaquePointer? {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
                fatalError(sql)
            }
            return statement
        }
        let (encoder, decoder) = (CBOREncoder(), CBORDecoder())
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        run(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE people(key TEXT \
            PRIMARY KEY, value BLOB); BEGIN
            """
        )
        let insert = prepare("INSERT INTO people VALUES (?1, ?2)")
        for number in 0..<count {
            let person = Before(Person(number))
            sqlite3_bind_text(insert, 1, person.id, -1, transient)
            try encoder.encode(person).withUnsafeBytes {
                _ = sqlite3_bind_blob(insert, 2, $0.baseAddress, Int32($0.count), transient)
            }
            guard sqlite3_step(insert) == SQLITE_DONE else { fatalError("insert") }
            sqlite3_reset(insert)
        }
        sqlite3_finalize(insert)
        run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")

        let start = ContinuousClock.now
        run("BEGIN IMMEDIATE")
        let (select, update) = (
            prepare("SELECT rowid, value FROM people ORDER BY rowid"),
            prepare("UPDATE people SET value = ?2 WHERE rowid = ?1")
        )
        while sqlite3_step(select) == SQLITE_ROW {
            let bytes = Data(
                bytes: sqlite3_column_blob(select, 1),
                count: Int(sqlite3_column_bytes(select, 1))
            )
            let new = After(try decoder.decode(Before.self, from: bytes))
            sqlite3_bind_int64(update, 1, sqlite3_column_int64(select, 0))
            try encoder.encode(new).withUnsafeBytes {
                _ = sqlite3_bind_blob(update, 2, $0.baseAddress, Int32($0.count), transient)
            }
            guard sqlite3_step(update) == SQLITE_DONE else { fatalError("update") }
            sqlite3_reset(update)
        }
        sqlite3_finalize(select)
        sqlite3_finalize(update)
        run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        return (ContinuousClock.now - start) / .seconds(1)
    }
}

extension [Double] {
    fileprivate var p99: Double { sorted()[Swift.min(count - 1, count * 99 / 100)] }
}
