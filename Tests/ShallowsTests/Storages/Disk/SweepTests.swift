import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

/// Temporary files that a killed process left are removed by the first write of a later process,
/// once they are an hour old.
@Suite(.ownThreads)
struct SweepTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private var folder: Folder { Folder(scratch.folder) }

    private func files(_ fileSystem: FileSystem = .system) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, fileSystem: fileSystem))
    }

    /// A file that another process began so many seconds ago.
    private func plantTemporary(_ age: TimeInterval, at name: String = "~sh-t-0-1") throws {
        try scratch.plant("partial", at: name)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)],
            ofItemAtPath: scratch.folder.path + "/" + name
        )
    }

    @Test func noTwoTemporaryNamesAreTheSame() {
        #expect(Set((0..<1000).map { _ in TemporaryFiles.nextName() }).count == 1000)
    }

    /// Also those of other machines that use the folder.
    @Test(arguments: ["~sh-t-0-1", "~sh-t-something else"])
    func aTemporaryFileIsRemovedAfterAnHour(name: String) throws {
        let begin = Date.now
        try scratch.plant("partial", at: name)
        #expect(try TemporaryFiles.sweep(folder, at: begin + 59 * 60) == 0)
        #expect(try scratch.files() == [name])
        #expect(try TemporaryFiles.sweep(folder, at: Date(timeIntervalSinceNow: 61 * 60)) == 1)
        #expect(try scratch.files().isEmpty)
    }

    /// P31.
    @Test func theFirstWriteSweeps() throws {
        try plantTemporary(2 * 3600)
        let files = files()
        #expect(try files.read("key") == nil)
        #expect(try scratch.files() == ["~sh-t-0-1"])
        try files.write("value", for: "key")
        #expect(try scratch.files() == [files.fileName(for: "key")])
        try plantTemporary(2 * 3600)
        try files.write("value", for: "key")
        #expect(try scratch.files().count == 2)
    }

    @Test func aFileThatIsBeingWrittenIsNotSwept() throws {
        let folder = folder
        let fileSystem = FileSystem {
            $0.rename = { path, target in
                #expect(throws: Never.self) { try #require(try TemporaryFiles.sweep(folder) == 0) }
                return SystemCalls.rename(path, target)
            }
        }
        try files(fileSystem).write("value", for: "key")
        #expect(try files().string("key") == "value")
    }

    /// A process that was stopped for an hour in the middle of a write finds its file swept.
    @Test(arguments: [true, false])
    func aFileThatWasSweptWhileItWasWrittenIsWrittenAgain(makesFolders: Bool) throws {
        try files().write("old", for: "key")
        let folder = folder
        let sweeps = Countdown(2)
        let fileSystem = FileSystem {
            $0.rename = { path, target in
                if sweeps.next() {
                    #expect(throws: Never.self) {
                        try TemporaryFiles.sweep(folder, at: Date(timeIntervalSinceNow: 2 * 3600))
                    }
                }
                return SystemCalls.rename(path, target)
            }
        }
        try FolderFiles(
            .init(folder: scratch.folder, makesFolders: makesFolders, fileSystem: fileSystem)
        ).write("value", for: "key")
        #expect(try files().string("key") == "value")
        #expect(try scratch.files().count == 1)
    }

    @Test func nothingElseIsSwept() throws {
        let names = ["Zm9v", "~sh-p-a", ".dat.nosync", "folder/~sh-t-x"]
        for name in names { try scratch.plant("value", at: name) }
        #expect(try TemporaryFiles.sweep(folder, at: .distantFuture) == 0)
        #expect(try scratch.files() == names.sorted())
    }

    @Test func aSweepThatFailsDoesNotStopAWrite() throws {
        let fileSystem = FileSystem { $0.list = { _ in .failure(-EACCES) } }
        try files(fileSystem).write("value", for: "key")
        #expect(try files().string("key") == "value")
        #expect(throws: FileError.self) {
            try TemporaryFiles.sweep(Folder(scratch.folder, on: fileSystem))
        }
    }

    @Test func aMissingFolderHasNothingToSweep() throws {
        #expect(try TemporaryFiles.sweep(folder) == 0)
    }
}
