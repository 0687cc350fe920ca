// What awaiting costs, and what it costs others: 200 tasks beside one that wakes every 5
// milliseconds, writers that share a commit and a sync, and a file that another process has locked.
//
//     make bench-await
//
// Fails above its limits. All sides write to the same folder. Crash-safe: SQLite's log is not
// synced; GRDB with `synchronous = OFF`, which promises as much. Power-safe: synced before a write
// returns; GRDB and SQLite by hand with `synchronous = FULL`.

import CRawSQLite
import Foundation
import GRDB
import Vellum

struct Item: ArchiveCodable, Sendable {
    var primaryKey: String { id }
    var id: String
    var text: String
    var count: Int

    init(_ task: Int, _ number: Int) {
        (id, text, count) = ("\(task)-\(number % 10)", String(repeating: "x", count: 300), number)
    }
}

struct Measured {
    var rate: Double
    /// How late the task was that wakes every 5 milliseconds, sorted, in milliseconds.
    var late: [Double]

    func late(_ part: Double) -> Double {
        late.isEmpty ? 0 : late[min(late.count - 1, Int(Double(late.count) * part))]
    }
}

let clock = ContinuousClock()
var misses: [String] = []

@MainActor
func require(_ isMet: Bool, _ bar: String) {
    print((isMet ? "  met: " : "  MISSED: ") + bar)
    if !isMet { misses.append(bar) }
}

func measure(
    _ name: String,
    tasks: Int,
    requests: Int,
    _ request: @escaping @Sendable (Int, Int) async throws -> Void
) async throws -> Measured {
    let heart = Task { () -> [Double] in
        var late: [Double] = []
        while !Task.isCancelled {
            let begin = clock.now
            do { try await Task.sleep(for: .milliseconds(5), tolerance: .zero) } catch { break }
            late.append((clock.now - begin) / .milliseconds(1) - 5)
        }
        return late.sorted()
    }
    try await Task.sleep(for: .milliseconds(20))
    let begin = clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
            group.addTask { for number in 0..<requests { try await request(task, number) } }
        }
        try await group.waitForAll()
    }
    let time = clock.now - begin
    heart.cancel()
    let measured = Measured(
        rate: Double(tasks * requests) / (time / .seconds(1)),
        late: await heart.value
    )
    let lates = [0.5, 0.99, 0.999, 1].map { String(format: "%7.2f", measured.late($0)) }.joined()
    let padded = name + String(repeating: " ", count: max(0, 34 - name.count))
    print("  " + padded + String(format: "%8.0f", measured.rate) + "  " + lates)
    return measured
}

/// Writes by hand, so many in one commit, each in a savepoint.
func ratePerSecond(_ path: String, writes: Int, commits: Int) throws -> Double {
    var database: OpaquePointer?
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw CocoaError(.fileReadUnknown) }
    defer { sqlite3_close(database) }
    func run(_ sql: String) {
        precondition(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, sql)
    }
    run(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS item(id \
        TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID
        """
    )
    let statements = [
        "BEGIN IMMEDIATE", "SAVEPOINT part", "REPLACE INTO item VALUES (?, ?)", "RELEASE part",
        "COMMIT",
    ].map { sql in
        var statement: OpaquePointer?
        sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        return statement
    }
    defer { for statement in statements { sqlite3_finalize(statement) } }
    func step(_ number: Int) {
        precondition(sqlite3_step(statements[number]) == SQLITE_DONE)
        sqlite3_reset(statements[number])
    }
    let data = [UInt8](repeating: 120, count: 330)
    let begin = clock.now
    for commit in 0..<commits {
        step(0)
        for write in 0..<writes {
            step(1)
            let key = "\(write)-\(commit % 10)"
            sqlite3_bind_text(
                statements[2],
                1,
                key,
                -1,
                unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            )
            sqlite3_bind_blob(statements[2], 2, data, Int32(data.count), nil)
            step(2)
            step(3)
        }
        step(4)
    }
    return Double(writes * commits) / ((clock.now - begin) / .seconds(1))
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == LockHolder.option {
    LockHolder.run(CommandLine.arguments[2])
}
let isSlow = CommandLine.arguments.contains("--slow-sync")
let folder = FileManager.default.temporaryDirectory.appending(
    path: "vellum-awaiting-\(UUID().uuidString)"
)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

@MainActor
func heartbeat(_ durability: Durability, late bar: Double) async throws {
    print(
        """
        200 tasks, \(durability): requests in a second (a record and an access), and how late a \
        task is: p50, p99, p99.9, most, in ms
        """
    )
    let factory = ArchivesFactory(
        directory: folder.appending(path: "\(durability)"),
        durability: durability
    )
    // Half of what is accessed is on the disk alone.
    let store: ArchiveStore<Item> = try factory.store(memoryLimit: 300.kiloByte)
    let requests = durability == .powerSafe ? 20 : 50
    _ = try await measure("direct calls", tasks: 200, requests: requests) { task, number in
        try store.record(Item(task, number))
        _ = try store.access(archiveWithKey: Item((task + 1) % 200, number).id)
    }
    let perform = try await measure("perform", tasks: 200, requests: requests) { task, number in
        try await store.perform { try $0.record(Item(task, number)) }
        _ = try await store.perform {
            try $0.access(archiveWithKey: Item((task + 1) % 200, number).id)
        }
    }
    let awaited = try await measure("store.async", tasks: 200, requests: requests) { task, number in
        try await store.async.record(Item(task, number))
        _ = try await store.async.access(archiveWithKey: Item((task + 1) % 200, number).id)
    }
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(10)
    configuration.prepareDatabase {
        try $0.execute(sql: "PRAGMA synchronous = \(durability == .powerSafe ? "FULL" : "OFF")")
    }
    let pool = try DatabasePool(
        path: folder.appending(path: "grdb-\(durability)").path,
        configuration: configuration
    )
    try await pool.writeWithoutTransaction { database in
        try database.execute(
            sql: "CREATE TABLE item(id TEXT PRIMARY KEY, text TEXT, count INTEGER) WITHOUT ROWID"
        )
        // Opening a pool sets it again.
        try database.execute(
            sql: "PRAGMA synchronous = \(durability == .powerSafe ? "FULL" : "OFF")"
        )
    }
    _ = try await measure("GRDB, await write and read", tasks: 200, requests: requests) {
        task,
        number in
        let (item, other) = (Item(task, number), Item((task + 1) % 200, number).id)
        try await pool.write { database in
            try database.cachedStatement(sql: "REPLACE INTO item VALUES (?, ?, ?)").execute(
                arguments: [item.id, item.text, item.count])
        }
        _ = try await pool.read {
            try String.fetchOne(
                $0.cachedStatement(sql: "SELECT text FROM item WHERE id = ?"),
                arguments: [other]
            )
        }
    }
    require(awaited.late(0.99) <= bar, "late by at most \(bar) ms (p99)")
    require(
        awaited.rate >= 0.8 * perform.rate,
        """
        0.8 times the throughput of perform: \(String(format: "%.2f", awaited.rate / perform.rate))
        """
    )
    try factory.close()
}

@MainActor
func writers(_ durability: Durability) async throws {
    print(
        """
        Writers, \(durability)\(isSlow ? ", each sync 2 ms longer" : ""): records in a second, and \
        how late a task is
        """
    )
    let factory = ArchivesFactory(
        directory: folder.appending(path: "writers-\(durability)"),
        durability: durability
    )
    let store: ArchiveStore<Item> = try factory.store()
    var rates: [Int: Double] = [:]
    let requests = durability == .powerSafe ? 300 : 2000
    for callers in [1, 8, 64] {
        rates[callers] = try await measure(
            "store.async, \(callers)",
            tasks: callers,
            requests: requests
        ) { task, number in
            try await store.async.record(Item(task, number))
        }.rate
        _ = try await measure("perform, \(callers)", tasks: callers, requests: requests) {
            task,
            number in
            try await store.perform { try $0.record(Item(task, number)) }
        }
    }
    if durability == .powerSafe {
        let byHand = try [1, 8, 64].map {
            try ratePerSecond(folder.appending(path: "raw").path, writes: $0, commits: 300)
        }
        print(
            "  SQLite by hand, 1, 8 and 64 in a commit: "
                + byHand.map { String(format: "%.0f", $0) }.joined(separator: ", ")
        )
        let ratio = rates[8, default: 0] / rates[1, default: 1]
        require(ratio >= 4, "eight callers 4 times one: \(String(format: "%.2f", ratio))")
        for (callers, rate) in zip([8, 64], byHand.dropFirst()) {
            let part = rates[callers, default: 0] / rate
            require(
                part >= 0.7,
                "\(callers) callers 0.7 times by hand: \(String(format: "%.2f", part))"
            )
        }
    } else {
        // The most that two threads could gain by joining: their records in one commit.
        func rate(_ body: (Int) throws -> Void) throws -> Double {
            let rates = try (0..<5).map { _ in
                let begin = clock.now
                for number in 0..<5000 { try body(number) }
                return 10_000 / ((clock.now - begin) / .seconds(1))
            }
            return rates.sorted()[2]
        }
        let alone = try rate {
            try store.record(Item(0, $0)); try store.record(Item(1, $0))
        }
        let joined = try rate { try store.record(contentsOf: [Item(0, $0), Item(1, $0)]) }
        print(
            """
              two records in one commit beside two commits: \
            \(String(format: "%.2f", joined / alone)) times (bar for synchronous callers: 1.5)
            """
        )
    }
    try factory.close()
}

if !isSlow {
    try await locked()
    try await heartbeat(.crashSafe, late: 20)
    try await heartbeat(.powerSafe, late: 50)
    try await writers(.crashSafe)
}
try await writers(.powerSafe)
guard misses.isEmpty else {
    print("Missed: \(misses.joined(separator: "; "))")
    exit(1)
}
