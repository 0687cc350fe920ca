import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Room is reserved without a lock that would keep another process from copying the log into the
/// file meanwhile.
@Suite(.ownThreads, .serialized)  // The hook of `SizeLookups` is one of the process.
struct ReservationTests {
    private let folder: TemporaryDirectory
    private let other: RawDatabase

    init() throws {
        folder = try TemporaryDirectory()
        other = try RawDatabase(folder.file("Archives.sqlite"))
        try other.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE pages (value \
            BLOB)
            """
        )
        try insert()
    }

    private var path: String { folder.file("Archives.sqlite").path }
    /// Each value fills a page up to its last byte.
    private let value = "replace(hex(zeroblob(8180)), '0', 'x')"

    private func insert() throws {
        for _ in 0..<100 { try other.execute("INSERT INTO pages VALUES (\(value))") }
    }

    private func expectAll(_ count: Int) throws {
        let reader = try RawDatabase(folder.file("Archives.sqlite"))
        #expect(try reader.int("SELECT count(*) FROM pages WHERE value = \(value)") == count)
        #expect(try reader.text("PRAGMA integrity_check") == "ok")
    }

    /// Between the look at the size and the reservation, another process copies the log. SQLite
    /// itself must not look again: what it writes then is a byte in each block
    /// (`SQLITE_FCNTL_SIZE_HINT`).
    @Test func aPageThatIsCopiedMeanwhileStaysAsItIs() throws {
        let connection = try Connection(path: path)
        _ = try connection.int("SELECT count(*) FROM pages")
        let (pages, present) = (try other.int("PRAGMA page_count"), Int64(FileSystem.size(path)))
        let bytes = Int64(pages) * 4096 + 1
        #expect(present < bytes)
        try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        #expect(FileSystem.size(path) > present)
        let looked = try SizeLookups.after({ Issue.record("SQLite looked at the size.") }) {
            try connection.extendFile(from: present, to: bytes)
        }
        #expect(!looked)
        #expect(FileSystem.size(path) >= bytes)
        try expectAll(100)
    }

    @Test func aFrameThatIsWrittenMeanwhileStaysAsItIs() throws {
        let connection = try Connection(path: path)
        _ = try connection.int("SELECT count(*) FROM pages")
        let bytes = Int64(FileSystem.size(path + "-wal")) + 1 << 20
        let looked = try SizeLookups.after({ #expect(throws: Never.self) { try insert() } }) {
            try connection.extendLog(to: bytes)
        }
        #expect(!looked)
        #expect(FileSystem.size(path + "-wal") >= bytes)
        try insert()
        try expectAll(200)
    }

    private static let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(
        separator: ":"
    ).contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/python3")
    }

    /// Another library of the process may use the file, too: its locks must not end with ours.
    @Test(.enabled(if: hasPython)) func theLocksOfAnotherConnectionOfTheProcessOutliveOurs() throws
    {
        do {
            let connection = try Connection(path: path)
            _ = try connection.int("SELECT count(*) FROM pages")
            try connection.extendFile(from: 0, to: 10 << 20)
        }
        // If our descriptor's closing had released them, a process that opens and closes the file
        // would take the log away.
        let script =
            """
            import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('SELECT \
            count(*) FROM pages').fetchone()); c.close()
            """
        #expect(try Child.run("python3", ["-c", script, path]).end == .exited(0))
        #expect(FileIdentity(path: path + "-wal") != nil)
        try expectAll(100)
    }

    /// A folder that is renamed while another process has its database open, and this one has not.
    @Test func roomIsReservedWhereTheDatabaseIsNow() throws {
        do {
            let connection = try Connection(path: path)
            _ = try connection.int("SELECT count(*) FROM pages")
        }
        let renamed = folder.file("Renamed.sqlite").path
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: renamed + suffix)
        }
        let connection = try Connection(path: renamed)
        _ = try connection.int("SELECT count(*) FROM pages")
        try connection.extendFile(from: 0, to: 10 << 20)
        #expect(FileSystem.size(renamed) >= 10 << 20)
    }
}
