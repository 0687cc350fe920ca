import CrashScript
import Foundation
import RawDatabase
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A process stopped during a read prevents the log from restarting: it is identified, and writers
/// continue.
@Suite(.ownThreads, .serialized)
struct HeldLogTests {
    private final class ReceivedEvent: Sendable {
        let process = Locked<Int32??>(nil)
    }

    @Test func theProcessThatHoldsTheLogIsReportedAndTheLogRestartsWhenItContinues() async throws {
        let folder = try TemporaryDirectory()
        let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
        let store = try file.store(
            named: "a",
            codec: IdentityCodec(),
            memory: Capacity(1.megaByte),
            disk: Capacity(20.megaByte),
            caching: .values
        )
        try store.record(Data(count: 1), forKey: "first")
        let received = ReceivedEvent()
        let events = store.events.events()
        let listener = Task {
            for await case .logHeldBack(let process, let size) in events {
                #expect(size >= 2.megaByte)
                received.process.withLock { $0 = .some(process) }
            }
        }
        let reader = try Spawned(["hold", folder.url.path])
        #expect(reader.line() == "holds")

        var number = 0
        func write() throws {
            try store.record(Data(repeating: 1, count: 10_000), forKey: EntryKey("\(number % 500)"))
            number += 1
        }
        try await until("it is reported who holds the log") {
            try write()
            return received.process.withLock { $0 != nil }
        }
        #expect(received.process.withLock { $0 } == .some(.some(reader.identifier)))

        #expect(reader.ask("go on") == "released")
        _ = reader.end()
        // A restarted log is truncated to four megabytes.
        try await until("the log has begun anew") {
            try write()
            return folder.size(of: "Archives.sqlite-wal") <= 5 << 20
        }
        try store.close()
        try file.close()
        await listener.value
    }

    @Test func openingAndClosingHandlesKeepsTheLocksOfTheProcess() throws {
        let folder = try TemporaryDirectory()
        for round in 0..<LongRun.number(40, usually: 12) {
            // Another thread releases and closes it, while this one reopens the file.
            var archives: SharedArchives? = try SharedArchives(in: folder.url.path)
            try archives?.put(.relaxed, "k", round)
            let last = Locked<SharedArchives?>(archives)
            archives = nil
            let releasing = OnThread { last.withLock { $0 = nil } }
            let next = try SharedArchives(in: folder.url.path)
            releasing.result()
            #expect(try next.find(.relaxed, "k") == round)
            let who = try Spawned(["who", folder.url.path]).end().lines
            #expect(who == ["\(getpid())"], "round \(round)")
            try next.file.close()
        }
    }

    @Test func onlyOtherProcessesWithTheFileOpenAreDetected() throws {
        let folder = try TemporaryDirectory()
        let archives = try SharedArchives(in: folder.url.path)
        try archives.put(.relaxed, "k", 1)
        #expect(!archives.file.isShared)
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("read relaxed k") == "1")
        #expect(archives.file.isShared)
        Foundation.kill(other.identifier, SIGKILL)
        _ = other.end()
        #expect(!archives.file.isShared)
        try archives.file.suspend()
        try archives.file.resume()
        #expect(!archives.file.isShared)
        try archives.file.close()
    }

    /// A process that opens the file sees relaxed writes that were acknowledged before.
    @Test func aProcessThatOpensTheFileSeesEarlierAcknowledgedWrites() throws {
        for round in 0..<10 {
            let folder = try TemporaryDirectory()
            let archives = try SharedArchives(in: folder.url.path)
            try archives.put(.relaxed, "k", round)
            let other = try Spawned(["obey", folder.url.path])
            try archives.put(.relaxed, "k", round + 1)
            #expect(Int(other.ask("read relaxed k") ?? "") == round + 1)
            try archives.file.close()
            _ = other.end
        }
    }

    /// A process stands still in a transaction of relaxed writes while this one opens the file.
    @Test func whoOpensAFileWaitsForAnOpenTransactionOfRelaxedWrites() async throws {
        let folder = try TemporaryDirectory()
        let writer = try Spawned(["obey", folder.url.path])
        #expect(writer.ask("stop relaxedWriteInMemory") == "done")
        #expect(writer.send("put relaxed k 1"))
        writer.waitUntilStopped()
        // Counts how often somebody asks for the lock of writers.
        let script = DiskScript(folder: folder.url)
        defer { script.remove() }
        let url = Library.url(in: folder.url.path)
        let hasLooked = Locked(false)
        let opening = OnThread {
            Result<Int, any Error> {
                // Also if this thread sees only after two seconds that the lock is asked for.
                let file = try DatabaseFile.$longestWaitForBatches.withValue(600_000) {
                    try DatabaseFile.open(at: url)
                }
                let count = try RawDatabase(url).int("SELECT count(*) FROM entries")
                hasLooked.withLock { $0 = true }
                try file.close()
                return count
            }
        }
        await until("the lock is asked for in vain, or nobody waits for it") {
            script.calls(fitting: .locked) >= 30 || hasLooked.withLock { $0 }
        }
        writer.proceed()
        #expect(writer.line() == "done")
        #expect(try opening.result().get() == 1)
        _ = writer.kill()
    }
}
