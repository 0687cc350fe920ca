import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct FileSystemPathsTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.url.path }

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: [("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("a", "a")])
    func theFolderOfAPathIsTheOneAbove(path: String, folder: String) {
        #expect(FileSystem.folder(of: path) == folder)
    }

    @Test func aFileIsCreatedOnceAndOnlyItsOwnerMayReadIt() throws {
        #expect(try FileSystem.createIfMissing(path + "/file"))
        #expect(try !FileSystem.createIfMissing(path + "/file"))
        #expect(
            try FileManager.default.attributesOfItem(atPath: path + "/file")[.posixPermissions]
                as? Int == 0o600
        )
        #expect(throws: FileError.self) { try FileSystem.createIfMissing(path + "/none/file") }
    }

    @Test func movingAMissingFileFailsUnlessItMayBeMissing() throws {
        #expect(try !FileSystem.moveIfPresent(path + "/none", to: path + "/file"))
        let error = #expect(throws: FileError.self) {
            try FileSystem.move(path + "/none", to: path + "/file")
        }
        #expect(error?.code == ENOENT)
        try FileSystem.remove(path + "/none")
    }

    @Test func aFolderThatCannotBeSyncedIsAnError() throws {
        try FileSystem.syncFolder(of: path + "/file")
        let failing = FileSystem { $0.sync = { _, _ in -EIO } }
        let error = #expect(throws: FileError.self) {
            try failing.syncNames(beside: path + "/file")
        }
        #expect(error?.step == .syncing && error?.code == EIO)
    }

    @Test func missingParentsAreMadeFirstAndReported() throws {
        var made: [String] = []
        try FileSystem.system.makeFolders(path + "/a/b") { made.append($0) }
        #expect(made == [path + "/a", path + "/a/b"])
        let full = FileSystem { $0.makeFolder = { _ in -ENOSPC } }
        let error = #expect(throws: FileError.self) { try full.makeFolders(path + "/c") { _ in } }
        #expect(error?.isDiskFull == true && error?.step == .makingFolder)
    }
}
