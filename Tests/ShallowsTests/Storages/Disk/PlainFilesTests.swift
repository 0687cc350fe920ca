import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct PlainFilesTests {
    let scratch: Scratch
    let files = PlainFiles()

    init() throws { scratch = try Scratch() }

    private var url: URL { scratch.folder.appendingPathComponent("a b/ü?.txt") }

    @Test func aFileIsWrittenAndRead() throws {
        #expect(try files.read(url) == nil)
        try files.write(Data("one".utf8), to: url)
        #expect(try files.read(url) == Data("one".utf8))
        #expect(try Data(contentsOf: url) == Data("one".utf8))
        try files.write(Data("two".utf8), to: url)
        #expect(try files.read(url) == Data("two".utf8))
        #expect(try scratch.files().count == 1)
    }

    @Test func foldersAreMadeOnlyWhereThatIsWanted() throws {
        let strict = PlainFiles(makesFolders: false)
        let failure = #expect(throws: FileError.self) { try strict.write(Data(), to: url) }
        #expect(failure?.code == ENOENT)
        #expect(try scratch.contents().isEmpty)
        try files.write(Data(), to: url)
        try strict.write(Data("value".utf8), to: url)
        #expect(try strict.read(url) == Data("value".utf8))
    }

    /// P7.
    @Test func aFolderThatWasRemovedIsMadeAgain() throws {
        try files.write(Data("one".utf8), to: url)
        try FileManager.default.removeItem(at: scratch.folder)
        #expect(try files.read(url) == nil)
        try files.write(Data("two".utf8), to: url)
        #expect(try files.read(url) == Data("two".utf8))
    }

    @Test func aFolderIsNotReadOrReplacedAsAFile() throws {
        try files.write(Data(), to: url)
        let folder = url.deletingLastPathComponent()
        #expect(throws: FileError.self) { try files.read(folder) }
        #expect(throws: FileError.self) { try files.write(Data(), to: folder) }
        #expect(try scratch.files().count == 1)
    }

    @Test(arguments: ["https://example.com/file", "data:,text"])
    func aURLThatIsNotAFileIsRefused(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: FileError.self) { try files.read(url) }
        #expect(throws: FileError.self) { try files.write(Data(), to: url) }
    }

    /// P31.
    @Test func aWriteThatFailsKeepsTheOldValueAndLeavesNothing() throws {
        try files.write(Data("old".utf8), to: url)
        let failing = PlainFiles(fileSystem: FileSystem { $0.write = { _, _, _ in Int(-ENOSPC) } })
        let failure = #expect(throws: FileError.self) {
            try failing.write(Data("new".utf8), to: url)
        }
        #expect(failure?.code == ENOSPC)
        #expect(try files.read(url) == Data("old".utf8))
        #expect(try scratch.files().count == 1)
    }

    /// P31.
    @Test func theFirstWriteInAFolderSweepsIt() throws {
        let left = "~sh-t-0-1"
        for folder in ["one", "two"] {
            try scratch.plant("partial", at: folder + "/" + left)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7200)],
                ofItemAtPath: scratch.folder.path + "/" + folder + "/" + left
            )
            try files.write(Data(), to: scratch.folder.appendingPathComponent(folder + "/file"))
        }
        #expect(try scratch.files() == ["one/file", "two/file"])
    }
}
