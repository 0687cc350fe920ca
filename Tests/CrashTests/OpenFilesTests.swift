import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A process without free file descriptors gets an error, and loses nothing.
@Suite(.ownThreads)
struct OpenFilesTests {
    @Test func tooManyOpenFilesAreATemporaryError() throws {
        let folder = try TemporaryDirectory()
        let process = try Spawned(["descriptors", folder.url.path])
        var said: [String] = []
        while let line = process.line() { said.append(line) }
        #expect(process.end().end == .exited(0))
        #expect(
            said == [
                "open: cannotOpen", "memory: cannotOpen", "put: done", "find: 1", "again: 2",
                "sound: true",
            ]
        )
    }
}
