import CrashScript
import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A process that keeps a file locked while it is alone lets others in, and loses nothing at any step of that.
@Suite(.timeLimit(.minutes(60)), .serialized)
struct KeptLockTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func open(_ mode: LockingMode = .shared) throws -> SharedArchives { try SharedArchives(in: folder.url.path, mode) }

    /// A process that keeps the file locked, and has recorded 1 under the key `k`.
    private func keeper(_ environment: [String: String] = [:]) throws -> Spawned {
        let child = try Spawned(["obey", folder.url.path, "exclusive"], environment: environment)
        try #require(child.ask("put safe k 1") == "done")
        return child
    }

    private func waitUntilStopped(_ child: Spawned) {
        var status: Int32 = 0
        while waitpid(child.identifier, &status, WUNTRACED) < 0, errno == EINTR {}
    }

    @Test func anotherProcessGetsInAndBothGoOn() throws {
        let archives = try open(.exclusive)
        #expect(archives.file.isKeptLocked)
        try archives.put(.safe, "k", 1)
        try archives.put(.relaxed, "r", 2)
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("read safe k") == "1")
        #expect(other.ask("read relaxed r") == "2")
        #expect(!archives.file.isKeptLocked)
        #expect(archives.file.isShared)
        #expect(other.ask("put safe k 3") == "done")
        #expect(try archives.find(.safe, "k") == 3)
        try archives.put(.safe, "k", 4)
        #expect(other.ask("read safe k") == "4")
        _ = other.kill()
        #expect(try archives.file.verify().isIntact)
        try archives.file.close()
    }

    @Test func aProcessThatFindsTheFileOpenSharesIt() throws {
        let first = try open()
        let second = try Spawned(["obey", folder.url.path, "exclusive"])
        #expect(second.ask("put safe k 1") == "done")
        #expect(try first.find(.safe, "k") == 1)
        _ = second.kill()
        try first.file.close()
    }

    @Test func aFileIsLockedAgainOnlyWhenItIsOpenedAnew() throws {
        let child = try keeper()
        let shared = try open(.exclusive)
        #expect(!shared.file.isKeptLocked)
        _ = child.kill()
        try shared.put(.safe, "k", 2)
        #expect(!shared.file.isKeptLocked)
        try shared.file.close()
        let alone = try open(.exclusive)
        #expect(alone.file.isKeptLocked)
        #expect(try alone.find(.safe, "k") == 2)
        try alone.file.close()
        #expect(!alone.file.isKeptLocked)
    }

    @Test func aStoppedProcessIsNamedAndLetsOthersInWhenItContinues() throws {
        let child = try keeper()
        kill(child.identifier, SIGSTOP)
        waitUntilStopped(child)
        let error = #expect(throws: VellumError.self) { _ = try open() }
        #expect(error?.code == .busy)
        #expect(error?.description.contains("Process \(child.identifier) ") ?? false)
        kill(child.identifier, SIGCONT)
        let archives = try open()
        #expect(try archives.find(.safe, "k") == 1)
        #expect(child.ask("put safe k 2") == "done")
        #expect(try archives.find(.safe, "k") == 2)
        _ = child.kill()
        try archives.file.close()
    }

    @Test func aKilledProcessIsFollowedAtOnce() throws {
        _ = try keeper().kill()
        let archives = try open(.exclusive)
        #expect(archives.file.isKeptLocked)
        #expect(try archives.find(.safe, "k") == 1)
        #expect(try archives.file.verify().isIntact)
        try archives.file.close()
    }

    @Test(arguments: [CrashPoint.lockEnds, .lockEnded, .fileShared])
    func aProcessKilledWhileItLetsOthersInLosesNothing(at point: CrashPoint) throws {
        let child = try keeper(["VELLUM_CRASH_POINT": "\(point.rawValue):1"])
        let archives = try open()
        #expect(try archives.find(.safe, "k") == 1)
        #expect(child.end().end == .killed(SIGKILL))
        try archives.put(.safe, "k", 2)
        #expect(try archives.file.verify().isIntact)
        try archives.file.close()
    }

    @Test(arguments: [CrashPoint.lockEnds, .lockEnded, .fileShared])
    func aProcessStoppedWhileItLetsOthersInLosesNothing(at point: CrashPoint) throws {
        let child = try keeper(["VELLUM_CRASH_POINT": "\(point.rawValue):1", "VELLUM_CRASH_SIGNAL": "\(SIGSTOP)"])
        if point == .lockEnds {
            // It has the lock until it continues.
            let error = #expect(throws: VellumError.self) { _ = try open() }
            #expect(error?.code == .busy)
            kill(child.identifier, SIGCONT)
        }
        let archives = try open()
        #expect(try archives.find(.safe, "k") == 1)
        try archives.put(.safe, "k", 2)
        kill(child.identifier, SIGCONT)
        #expect(child.ask("read safe k") == "2")
        _ = child.kill()
        #expect(try archives.file.verify().isIntact)
        try archives.file.close()
    }

    @Test func aProcessKilledWhileItWaitsForTheLockHarmsNobody() throws {
        let archives = try open(.exclusive)
        try archives.put(.safe, "k", 1)
        let killed = try Spawned(["obey", folder.url.path], environment: ["VELLUM_CRASH_POINT": "lockRequested:1"])
        #expect(killed.end().end == .killed(SIGKILL))
        #expect(try archives.find(.safe, "k") == 1)
        try archives.put(.safe, "k", 2)
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("read safe k") == "2")
        _ = other.kill()
        try archives.file.close()
    }

    @Test func callsGoOnWhileOthersGetIn() throws {
        for round in 0..<Tally.count(100, sample: 5) {
            let archives = try open(.exclusive)
            let isOver = Locked(false)
            let writes = Locked(0)
            let file = archives.file
            let threads = try [ScriptArchive.power, .safe, .relaxed].map { archive in
                let store = try archives.store(archive)
                return OnThread {
                    problem {
                        var version = 0
                        while !isOver.withLock({ $0 }) {
                            version += 1
                            try store.record(Item(archive: archive, key: "t", version: version, filling: 50), forKey: "t")
                            store.trimMemory(to: 0)
                            guard try store.value(forKey: "t")?.version == version else { throw CocoaError(.fileReadUnknown) }
                            writes.withLock { $0 += 1 }
                        }
                    }
                }
            }
            while writes.withLock({ $0 < 50 }) { sched_yield() }
            let other = try Spawned(["obey", folder.url.path, "exclusive"])
            #expect(other.ask("put safe k \(round)") == "done")
            let before = writes.withLock { $0 }
            while writes.withLock({ $0 < before + 50 }) { sched_yield() }
            isOver.withLock { $0 = true }
            for thread in threads { #expect(thread.result() == nil, "round \(round)") }
            #expect(try archives.find(.safe, "k") == round)
            _ = other.kill()
            #expect(try file.verify().isIntact)
            try file.close()
        }
    }

    @Test func aSuspendedFileIsNotLocked() throws {
        let archives = try open(.exclusive)
        try archives.put(.safe, "k", 1)
        try archives.file.suspend()
        #expect(!archives.file.isKeptLocked)
        let other = try Spawned(["obey", folder.url.path, "exclusive"])
        #expect(other.ask("put safe k 2") == "done")
        try archives.file.resume()
        #expect(!archives.file.isKeptLocked)
        #expect(try archives.find(.safe, "k") == 2)
        _ = other.kill()
        try archives.file.close()
    }

    @Test func aFileThatIsVerifiedIsShared() throws {
        let archives = try open(.exclusive)
        try archives.put(.safe, "k", 1)
        #expect(try archives.file.verify().isIntact)
        #expect(!archives.file.isKeptLocked)
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("read safe k") == "1")
        _ = other.kill()
        try archives.file.close()
    }

    @Test func anotherFileInTheProcessStaysLocked() throws {
        let archives = try open(.exclusive)
        let more = try SharedArchives(in: folder.file("more").path, .exclusive)
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("put safe k 1") == "done")
        #expect(!archives.file.isKeptLocked)
        #expect(more.file.isKeptLocked)
        _ = other.kill()
        try archives.file.close()
        try more.file.close()
    }

    @Test func aFileThatNobodyCanAskForIsShared() throws {
        let archives = try open(.exclusive)
        try archives.put(.safe, "k", 1)
        try FileManager.default.removeItem(at: folder.file("Archives.sqlite-changes"))
        // The next check of the file's location notices it.
        while archives.file.isKeptLocked {
            try archives.put(.safe, "k", 2)
            sched_yield()
        }
        let other = try Spawned(["obey", folder.url.path])
        #expect(other.ask("read safe k") == "2")
        _ = other.kill()
        try archives.file.close()
    }

    @Test(arguments: ["Shared/AppGroup/A1", "Library/Group Containers/group"])
    func aFileInTheFolderOfAnAppGroupIsNeverKeptLocked(path: String) throws {
        let archives = try SharedArchives(in: folder.file(path).path, .exclusive)
        #expect(!archives.file.isKeptLocked)
        try archives.file.close()
    }
}

/// Returns a description of the error that `body` throws.
private func problem(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return String(reflecting: error)
    }
}
