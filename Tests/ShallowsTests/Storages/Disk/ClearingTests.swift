import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct ClearingTests {
    let scratch: Scratch
    let files: FolderFiles

    init() throws {
        scratch = try Scratch()
        files = FolderFiles(.init(folder: scratch.folder))
    }

    @Test func clearingRemovesEverythingAndTheFolder() throws {
        for key in Filename.tricky { try files.write("value", for: key) }
        try scratch.plant("old", at: "deep/er/file")
        try scratch.plant("temporary", at: TemporaryFiles.nextName())
        try files.clear()
        #expect(try scratch.contents().isEmpty)
        for key in Filename.tricky { #expect(try files.read(key) == nil) }
    }

    @Test func clearingAMissingFolderIsFine() throws {
        try files.clear()
        try files.clear()
    }

    @Test func aClearedFolderCanBeWritten() throws {
        try files.write("one", for: "a")
        try files.clear()
        try files.write("two", for: "b")
        #expect(try files.keys() == ["b"])
    }

    @Test func aLinkIsRemovedAndItsTargetStays() throws {
        let outside = scratch.url.appendingPathComponent("outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data().write(to: outside.appendingPathComponent("file"))
        try files.write("value", for: "a")
        try FileManager.default.createSymbolicLink(
            at: scratch.folder.appendingPathComponent("link"),
            withDestinationURL: outside
        )
        try files.clear()
        #expect(try scratch.contents() == ["outside", "outside/file"])
    }

    @Test func aNameThatIsNotUTF8IsRemovedToo() throws {
        try files.write("value", for: "a")
        let path = scratch.folder.path.utf8CString.dropLast() + [47, -1, -2, 0]
        let file = try Array(path).withUnsafeBufferPointer {
            SystemCalls.open(try #require($0.baseAddress), .creating)
        }
        #expect(SystemCalls.close(file) == 0)
        #expect(try files.keys() == ["a"])
        try files.clear()
        #expect(try scratch.contents().isEmpty)
    }

    @Test func clearingSaysWhyItFailed() throws {
        try Data().write(to: scratch.folder)
        let failure = #expect(throws: FileError.self) { try files.clear() }
        #expect(failure?.step == .listing)
        #expect(failure?.code == ENOTDIR)
    }

    @Test func clearingThatIsRefusedThrows() throws {
        let refusing = FolderFiles(
            .init(folder: scratch.folder, fileSystem: FileSystem { $0.unlink = { _ in -EACCES } })
        )
        try refusing.write("value", for: "a")
        let failure = #expect(throws: FileError.self) { try refusing.clear() }
        #expect(failure?.step == .removing)
        #expect(failure?.code == EACCES)
        #expect(try refusing.string("a") == "value")
    }

    @Test func aWriteInBetweenIsClearedToo() throws {
        let writes = Countdown(3)
        let folder = scratch.folder
        let calls = FileSystem {
            $0.removeFolder = { path in
                if writes.next() {
                    #expect(throws: Never.self) {
                        try Data().write(to: folder.appendingPathComponent("late"))
                    }
                }
                return SystemCalls.removeFolder(path)
            }
        }
        let files = FolderFiles(.init(folder: folder, fileSystem: calls))
        try files.write("value", for: "a")
        try files.clear()
        #expect(try scratch.contents().isEmpty)
    }

    /// Whoever never stops writing cannot keep a call from ending.
    @Test func concurrentWritesDoNotFailClearing() throws {
        let folder = scratch.folder
        let calls = FileSystem {
            $0.removeFolder = { path in
                #expect(throws: Never.self) {
                    try Data().write(to: folder.appendingPathComponent("late"))
                }
                return SystemCalls.removeFolder(path)
            }
        }
        let files = FolderFiles(.init(folder: folder, fileSystem: calls))
        try files.write("value", for: "a")
        try files.clear()
        #expect(try scratch.files() == ["late"])
    }

    @Test func concurrentSetsAndClearsAllSucceed() async throws {
        let files = files
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    // A write tries a hundred times, and each try that fails needs another clear.
                    for number in 0..<(task == 0 ? 90 : 200) {
                        #expect(throws: Never.self) {
                            if task == 0 {
                                try files.clear()
                            } else {
                                try files.write(
                                    "\(number)",
                                    for: number.isMultiple(of: 2) ? "a" : "b?>"
                                )
                            }
                        }
                    }
                }
            }
        }
        try files.clear()
        #expect(try scratch.contents().isEmpty)
    }
}
