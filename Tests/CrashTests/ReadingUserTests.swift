import CrashScript
import Foundation
import TestThreads
import Testing
import VellumTestSupport

/// Files that belong to another user, in a folder in which the reader may not write. Only root can
/// become another user.
@Suite(.ownThreads, .enabled(if: geteuid() == 0))
struct ReadingUserTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: folder.url.path
        )
        let pairs = try Pairs(writingIn: folder.url)
        for number in 0..<10 { try pairs.write(number, by: 1) }
        try pairs.backUp(to: folder.file("backup.sqlite"))
        try pairs.close()
        for name in ["Archives.sqlite", "backup.sqlite"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644],
                ofItemAtPath: folder.file(name).path
            )
        }
    }

    private func read(_ name: String) throws -> String {
        try Spawned(["read-as", "65534", folder.file(name).path]).end().lines.joined(separator: " ")
    }

    @Test func aBackupIsReadByAnyUser() throws { #expect(try read("backup.sqlite") == "10") }

    @Test func aFileWithALogNeedsAFolderThatTheUserCanWrite() throws {
        let error = try read("Archives.sqlite")
        #expect(error.hasPrefix("cannotOpen: "))
        #expect(error.contains("backup(to:)"))
        #expect(error.contains(folder.file("Archives.sqlite").path))
        #expect(error.contains("root"))
        // In one that the user may write, SQLite would leave files that the owner's programs
        // refuse.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777],
            ofItemAtPath: folder.url.path
        )
        #expect(
            try read("Archives.sqlite").hasPrefix("cannotOpen: The file belongs to the user root")
        )
        #expect(!FileManager.default.fileExists(atPath: folder.file("Archives.sqlite-shm").path))
        // Unless nobody can write it.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o555],
            ofItemAtPath: folder.url.path
        )
        #expect(try read("Archives.sqlite") == "10")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: folder.url.path
        )
        // The user may not read the file itself.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: folder.file("backup.sqlite").path
        )
        #expect(try read("backup.sqlite").hasPrefix("cannotOpen: "))
    }
}
