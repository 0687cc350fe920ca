import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C10: a process must not use a store that was open when it was forked. Attempts fail and do not
/// affect the parent.
@Suite(.ownThreads)
struct ForkTests {
    @Test func aStoreOfTheParentIsRejectedInTheChild() throws {
        let folder = try TemporaryDirectory()
        let process = try Spawned(["fork", folder.url.path])
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(
            said == [
                "hit: forked", "miss: forked", "record: forked", "count: forked", "flush: forked",
                "close: done", "open: forked",
                "face: forked", "another handle: forked", "check: forked", "factory: done",
                "after: 1",
                "sound: true",
            ]
        )
        #expect(try SharedArchives(in: folder.url.path).find(.safe, "k") == 3)
    }

    /// The advice of the error message works. The tests with child processes show that a new
    /// process may execute a program that opens the file.
    @Test func aFileOpenedAfterAForkCanBeUsedInTheChild() throws {
        let folder = try TemporaryDirectory()
        let process = try Spawned(["fork-first", folder.url.path])
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(said == ["child: done", "parent: 1"])
        for advice in ["execute a program", "fork before this process opens it"] {
            #expect(VellumError.forked.message.contains(advice))
        }
    }

    /// And it is gone when the process exits, also while a global variable holds it.
    @Test func archivesInMemoryBelongToTheProcessThatMadeThem() throws {
        let process = try Spawned(["fork-memory"])
        let folder = try #require(process.line())
        #expect(FileManager.default.fileExists(atPath: folder))
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(said == ["opened before: forked", "unused: forked", "afterwards: done"])
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// What a killed process left is removed by the next one, and what a living one has is not
    /// (FS8).
    @Test func theFolderOfAKilledProcessIsRemovedByTheNext() throws {
        // Any process with archives in memory removes what it finds in its temporary folder.
        let temporary = try TemporaryDirectory()
        let own = ["TMPDIR": temporary.url.path]
        let killed = try Spawned(["in-memory"], environment: own)
        let living = try Spawned(["in-memory"], environment: own)
        let folders = [try #require(killed.line()), try #require(living.line())]
        _ = killed.kill()
        #expect(folders.map(FileManager.default.fileExists) == [true, true])
        let next = try Spawned(["in-memory"], environment: own)
        let folder = try #require(next.line())
        #expect((folders + [folder]).map(FileManager.default.fileExists) == [false, true, true])
        for process in [living, next] { _ = process.kill() }
        _ = try Spawned(["fork-memory"], environment: own).end()
        #expect(![folders[1], folder].contains(where: FileManager.default.fileExists))
    }

    /// Its owner could lead us elsewhere while it is removed.
    @Test(.enabled(if: geteuid() == 0)) func theFolderOfAnotherUserStays() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Vellum-in-memory-\(UUID().uuidString)"
        ).path
        #expect(mkdir(folder, 0o777) == 0 && chown(folder, 12345, 12345) == 0)
        defer { rmdir(folder) }
        let next = try Spawned(["in-memory"])
        _ = try #require(next.line())
        #expect(FileManager.default.fileExists(atPath: folder))
        _ = next.kill()
    }

    /// Without `HOME` the files lie in the user's home all the same, and not in a folder that all
    /// users have (FS7).
    @Test(arguments: [
        ["HOME": ""], ["HOME": "", "XDG_CACHE_HOME": ""],
        ["HOME": "", "XDG_CACHE_HOME": "/data/cache"], ["HOME": "/data/home"],
    ])
    func filesLieInTheHomeOfTheUser(environment: [String: String]) throws {
        let lines = try Spawned(
            ["folders"],
            environment: ["XDG_CACHE_HOME": ""].merging(environment) { _, new in new }
        ).end().lines
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
        let caches =
            environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.cache"
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix(caches + "/") }, "\(lines)")
    }
}
