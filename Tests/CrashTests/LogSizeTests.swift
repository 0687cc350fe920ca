import CrashScript
import Foundation
import Testing
import Tiers
import TiersSQLite
import TiersTesting

/// C2: the log is bounded, whatever other processes do.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct LogSizeTests {
    private let folder: TemporaryStore

    init() throws { folder = try TemporaryStore() }

    /// P51: a snapshot that is always in use is let go of all the same, so that another process can begin the log anew.
    @Test func theLogIsBoundedThoughAnotherProcessReadsAllTheTime() async throws {
        let archives = try SharedArchives(in: folder.url.path)
        try archives.put(.safe, "k", 1)
        let writer = try Spawned(["flood", folder.url.path, "24"])
        _ = writer.line()
        let reading = Locked(true)
        async let reader: Int = {
            var reads = 0
            while reading.withLock({ $0 }) {
                _ = try archives.store(.safe).statistics()
                reads += 1
            }
            return reads
        }()
        var largestLog = 0
        while let line = writer.line() {
            #expect(line == "written")
            largestLog = max(largestLog, folder.size(of: "Archives.sqlite-wal"))
        }
        reading.withLock { $0 = false }
        #expect(try await reader > 100)
        #expect(writer.end().end == .exited(0))
        #expect(largestLog <= 8 << 20)
        try archives.file.close()
    }
}
