import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C2: the size of the log is bounded, whatever other processes do.
@Suite(.ownThreads, .serialized)
struct LogSizeTests {
    private let folder: TemporaryDirectory

    private final class Reading: Sendable {
        let continues = Locked(true)
        let reads = Locked(0)
    }

    init() throws { folder = try TemporaryDirectory() }

    /// P51: a snapshot that is always in use is released regularly, so that another process can
    /// restart the log.
    @Test func theLogIsBoundedWhileAnotherProcessReadsContinuously() throws {
        let archives = try SharedArchives(in: folder.url.path)
        try archives.put(.safe, "k", 1)
        let writer = try Spawned(["flood", folder.url.path, "24"])
        _ = writer.line()
        let reading = Reading()
        let store = try archives.store(.safe)
        let reader = OnThread {
            defer { reading.continues.withLock { $0 = false } }
            return Result<Void, any Error> {
                while reading.continues.withLock({ $0 }) {
                    _ = try store.statistics()
                    reading.reads.withLock { $0 += 1 }
                }
            }
        }
        var largestLog = 0
        while let line = writer.line() {
            #expect(line == "written")
            largestLog = max(largestLog, folder.size(of: "Archives.sqlite-wal"))
            // No read lasts for longer than a few writes, however slowly its thread runs.
            let before = reading.reads.withLock { $0 }
            blockUntil("another read is over") {
                reading.reads.withLock { $0 } > before + 1 || !reading.continues.withLock { $0 }
            }
            #expect(writer.send("go on"))
        }
        reading.continues.withLock { $0 = false }
        try reader.result().get()
        #expect(reading.reads.withLock { $0 } > 10)
        #expect(writer.end().end == .exited(0))
        #expect(largestLog <= 8 << 20)
        try archives.file.close()
    }
}
