import Foundation
import RawDatabase
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Room is reserved without a lock that would keep another process from copying the log into the file meanwhile.
@Suite(.timeLimit(.minutes(1)))
struct ReservationTests {
    private let folder: TemporaryDirectory
    private let other: RawDatabase

    init() throws {
        folder = try TemporaryDirectory()
        other = try RawDatabase(folder.file("Archives.sqlite"))
        try other.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE pages (value BLOB)")
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

    @Test func aPageThatIsCopiedMeanwhileStaysAsItIs() throws {
        let connection = try Connection(path: path)
        _ = try connection.int("SELECT count(*) FROM pages")
        let pages = try other.int("PRAGMA page_count")
        let bytes = Int64(pages) * 4096 + 1
        #expect(FileSystem.size(path) < bytes)
        _ = try SizeLookups.after({ #expect(throws: Never.self) { try other.execute("PRAGMA wal_checkpoint(PASSIVE)") } }) {
            try connection.extendFile(to: bytes)
        }
        try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        #expect(FileSystem.size(path) >= bytes - 1)
        try expectAll(100)
    }

    @Test func aFrameThatIsWrittenMeanwhileStaysAsItIs() throws {
        let connection = try Connection(path: path)
        _ = try connection.int("SELECT count(*) FROM pages")
        let bytes = Int64(FileSystem.size(path + "-wal")) + 1 << 20
        let isInserted = try SizeLookups.after({ #expect(throws: Never.self) { try insert() } }) { try connection.extendLog(to: bytes) }
        #expect(FileSystem.size(path + "-wal") >= bytes)
        try expectAll(isInserted ? 200 : 100)
    }

    /// Another library of the process may use the file, too: its locks must not end with ours.
    @Test func theLocksOfAnotherConnectionOfTheProcessOutliveOurs() throws {
        do {
            let connection = try Connection(path: path)
            _ = try connection.int("SELECT count(*) FROM pages")
            try connection.extendFile(to: 10 << 20)
        }
        // If our descriptor's closing had released them, a process that opens and closes the file would take the log away.
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        child.arguments = [
            "python3", "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM pages').fetchone(); c.close()", path,
        ]
        try child.run()
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { return }
        #expect(FileIdentity(path: path + "-wal") != nil)
    }
}
