import CrashScript
import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C10: a process must not use a store that was open when it was forked. Attempts fail and do not affect the parent.
@Suite(.timeLimit(.minutes(1)))
struct ForkTests {
    @Test func aStoreOfTheParentIsRejectedInTheChild() throws {
        let folder = try TemporaryDirectory()
        let process = try Spawned(["fork", folder.url.path])
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(
            said == [
                "hit: forked", "miss: forked", "record: forked", "count: forked", "flush: forked", "close: done", "open: forked",
                "face: forked", "another handle: forked", "factory: done",
                "after: 1",
                "sound: true",
            ])
        #expect(try SharedArchives(in: folder.url.path).find(.safe, "k") == 3)
    }

    /// The advice of the error message works. The tests with child processes show that a new process may execute a program that opens the
    /// file.
    @Test func aFileOpenedAfterAForkCanBeUsedInTheChild() throws {
        let folder = try TemporaryDirectory()
        let process = try Spawned(["fork-first", folder.url.path])
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(said == ["child: done", "parent: 1"])
        for advice in ["execute a program", "fork before this process opens it"] { #expect(VellumError.forked.message.contains(advice)) }
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
}
