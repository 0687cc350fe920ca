import CrashScript
import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C2: the size of the log is bounded, whatever other processes do.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct LogSizeTests {
    private let folder: TemporaryDirectory

    private final class Reading: Sendable {
        let continues = Locked(true)
        let reads = Locked(0)
    }

    init() throws { folder = try TemporaryDirectory() }

    /// P51: a snapshot that is always in use is released regularly, so that another process can restart the log.
    @Test func theLogIsBoundedWhileAnotherProcessReadsContinuously() throws {
        let archives = try SharedArchives(in: folder.url.path)
        try archives.put(.safe, "k", 1)
        let writer = try Spawned(["flood", folder.url.path, "24"])
        _ = writer.line()
        let reading = Reading()
        let store = try archives.store(.safe)
        let reader = Thread {
            while reading.continues.withLock({ $0 }) {
                // At the end the file is closed during reads.
                do { _ = try store.statistics() } catch { return }
                reading.reads.withLock { $0 += 1 }
            }
        }
        reader.start()
        var largestLog = 0
        while let line = writer.line() {
            #expect(line == "written")
            largestLog = max(largestLog, folder.size(of: "Archives.sqlite-wal"))
        }
        reading.continues.withLock { $0 = false }
        #expect(reading.reads.withLock { $0 } > 10)
        #expect(writer.end().end == .exited(0))
        #expect(largestLog <= 8 << 20)
        try archives.file.close()
    }
}
