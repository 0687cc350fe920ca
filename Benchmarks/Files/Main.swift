// What a file of a million entries takes: to list, to find by a field, to export, to back up and
// to check. Each beside SQLite by hand in the same run, warm. Copies of both sides are synced. Ends
// with status 1 if a limit is not kept.
//
//     make bench-files

import CSQLite
import Foundation
import Synchronization
import Vellum
import VellumFiles

struct Place: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveName: String { "Place" }
    static var archiveIndexes: [ArchiveIndex<Place>] {
        [.index(\.country, \.elevation), .index(\.name)]
    }
    var primaryKey: String { "\(id)" }
    var id: Int
    var name: String
    var country: String
    var elevation: Int
    var latitude: Double
    var longitude: Double
}

struct Measured {
    let seconds: Double

    init(_ runs: Int = 3, _ body: () throws -> Void) rethrows {
        var times: [Double] = []
        for _ in 0..<runs {
            let start = ContinuousClock.now
            try body()
            times.append((ContinuousClock.now - start) / .seconds(1))
        }
        seconds = times.sorted()[times.count / 2]
    }
}

/// A connection of SQLite by hand.
final class ByHand {
    let handle: OpaquePointer

    init(_ path: String, _ flags: Int32 = SQLITE_OPEN_READONLY) {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
            fatalError("cannot open \(path)")
        }
        handle = opened
    }

    deinit { sqlite3_close_v2(handle) }

    /// Steps through the rows and calls `body` with each.
    func rows(_ sql: String, _ body: (OpaquePointer) -> Void) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement
        else { fatalError("cannot prepare \(sql)") }
        while sqlite3_step(statement) == SQLITE_ROW { body(statement) }
        sqlite3_finalize(statement)
    }

    func backUp(to path: String) {
        let target = ByHand(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            fatalError("no backup")
        }
        while sqlite3_backup_step(backup, 1024) == SQLITE_OK {}
        sqlite3_backup_finish(backup)
    }
}

/// CRC-32C of the whole entries by hand is what a reader must do at least; the sum of all bytes
/// stands for it, which costs about as much.
func sum(_ bytes: UnsafeRawPointer?, _ count: Int32) -> UInt64 {
    guard let bytes else { return 0 }
    var sum: UInt64 = 0
    for index in 0..<Int(count) {
        sum &+= UInt64(bytes.load(fromByteOffset: index, as: UInt8.self))
    }
    return sum
}

func require(_ isTrue: Bool) { if !isTrue { fatalError("The result is wrong.") } }

func sync(_ path: String) {
    let file = open(path, O_RDONLY)
    fsync(file)
    close(file)
}

@main
struct Main {
    nonisolated(unsafe) static var isKept = true

    static func say(
        _ what: String,
        _ seconds: Double,
        limit: Double? = nil,
        byHand: Double? = nil,
        ratio: Double? = nil
    ) {
        var line =
            what.padding(toLength: 44, withPad: " ", startingAt: 0)
            + String(format: "%9.1f ms", seconds * 1000)
        if let byHand, let ratio {
            line += String(
                format: "   by hand %9.1f ms   %.2f (at most %.2f)",
                byHand * 1000,
                seconds / byHand,
                ratio
            )
            if seconds / byHand > ratio { isKept = false; line += "   NOT KEPT" }
        }
        if let limit {
            line += String(format: "   (at most %.0f ms)", limit * 1000)
            if seconds > limit { isKept = false; line += "   NOT KEPT" }
        }
        print(line)
        fflush(nil)
    }

    static func main() throws {
        try run()
        exit(isKept ? 0 : 1)
    }

    static func run() throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 1_000_000
        let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "files-\(UUID().uuidString)")
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch {
                print("The folder \(folder.path) is left.")
            }
        }
        try fill(folder, count)
        let path = folder.path + "/Archives.sqlite"
        let file = try ArchiveFile(at: URL(fileURLWithPath: path))
        guard let places = try file.archive(named: "Place") else { fatalError("no archive") }
        print(
            "\(count) entries, \(try places.summary().size), a file of \(try file.summary().size)"
        )
        let hand = ByHand(path)

        say(
            "list the archives (ls)",
            try Measured { for archive in try file.archives() { _ = try archive.summary() } }
                .seconds,
            limit: 0.05
        )
        say(
            "find by a field, reading all",
            try Measured {
                var found = 0
                try places.find(where: { $0["country"] == "C7" }) { _ in found += 1 }
                require(found == count / 200)
            }.seconds,
            limit: 15
        )
        say(
            "keys, 20 by use",
            try Measured { require(try places.entries(order: .use, limit: 20).count == 20) }
                .seconds,
            limit: 0.1
        )

        var bytes: UInt64 = 0
        let reading = Measured {
            hand.rows(
                """
                SELECT id, key, written, expires, idle, type_version, \
                bytes FROM entries ORDER BY id
                """
            ) { row in
                bytes &+= sum(sqlite3_column_blob(row, 1), sqlite3_column_bytes(row, 1))
                bytes &+= sum(sqlite3_column_blob(row, 6), sqlite3_column_bytes(row, 6))
            }
        }
        var number = 0
        let exporting = try Measured {
            number += 1
            let export = folder.appendingPathComponent("export\(number).jsonl")
            require(try file.export(to: export).entries == count)
            try FileManager.default.removeItem(at: export)
        }
        say("export", exporting.seconds, byHand: reading.seconds, ratio: 2)

        let byHand = Measured {
            number += 1
            let copy = folder.path + "/hand\(number).sqlite"
            hand.backUp(to: copy)
            sync(copy)
            unlink(copy)
        }
        let backup = try Measured {
            number += 1
            let copy = folder.appendingPathComponent("backup\(number).sqlite")
            try file.backup(to: copy)
            try FileManager.default.removeItem(at: copy)
        }
        say("backup", backup.seconds, byHand: byHand.seconds, ratio: 1.3)

        let checking = Measured(1) {
            hand.rows("PRAGMA integrity_check") { _ in }
            hand.rows("SELECT key, bytes FROM entries") { row in
                bytes &+= sum(sqlite3_column_blob(row, 0), sqlite3_column_bytes(row, 0))
                bytes &+= sum(sqlite3_column_blob(row, 1), sqlite3_column_bytes(row, 1))
            }
        }
        say(
            "verify",
            try Measured(1) { require(try file.verify().isIntact) }.seconds,
            byHand: checking.seconds,
            ratio: 1.5
        )

        try restore(file, in: folder)

        let most =
            try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix("VmHWM") }
            .flatMap { Int($0.filter(\.isNumber)) } ?? 0
        print(
            """
            most memory, of both sides: \(most / 1024) MB (the process that filled the file is \
            another); sum \(bytes & 0xFF)
            """
        )
    }

    /// How long opening and closing another file takes, at most, while the file is restored.
    static func restore(_ file: ArchiveFile, in folder: URL) throws {
        let backup = folder.appendingPathComponent("backup.sqlite")
        try file.backup(to: backup)
        let done = DispatchGroup()
        let isOver = Mutex(false)
        done.enter()
        Thread.detachNewThread {
            do {
                let target = folder.appendingPathComponent("restored.sqlite")
                say(
                    "restore",
                    try Measured(1) { try ArchiveFile.restore(from: backup, to: target) }.seconds
                )
            } catch {
                fatalError("\(error)")
            }
            isOver.withLock { $0 = true }
            done.leave()
        }
        let other = ArchivesFactory(directory: folder.appendingPathComponent("other"))
        var longest = 0.0
        while !isOver.withLock({ $0 }) {
            longest = max(
                longest,
                try Measured(1) {
                    _ = try other.file()
                    try other.close()
                }.seconds
            )
        }
        done.wait()
        say("open and close another file meanwhile", longest, limit: 0.05)
    }

    /// Fills the file in a process of its own, so that its memory does not count.
    static func fill(_ folder: URL, _ count: Int) throws {
        if let argument = CommandLine.arguments.dropFirst(2).first {
            let store = try ArchivesFactory(directory: URL(fileURLWithPath: argument)).store(
                for: Place.self,
                memoryLimit: 1.megaByte,
                diskLimit: .unlimited
            )
            var random = SystemRandomNumberGenerator()
            for start in stride(from: 0, to: count, by: 10_000) {
                try store.record(
                    contentsOf: (start..<min(start + 10_000, count)).map { id in
                        Place(
                            id: id,
                            name: "Place \(Int.random(in: 0..<1 << 40, using: &random))",
                            country: "C\(id % 200)",
                            elevation: Int.random(in: 0...4000, using: &random),
                            latitude: Double(id) / 7,
                            longitude: Double(id) / 13
                        )
                    }
                )
            }
            try store.close()
            exit(0)
        }
        let child = Process()
        child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        child.arguments = ["\(count)", folder.path]
        try child.run()
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { fatalError("the file could not be filled") }
    }
}
