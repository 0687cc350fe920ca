import Foundation
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What is advised when a file cannot be opened.
@Suite(.timeLimit(.minutes(1)))
struct OpeningProblemTests {
    private static let problem = OpeningProblem(path: "/data/file", kind: .file, folder: "/data")

    @Test func permissionsOfOnesOwnFileCanBeChanged() {
        var problem = Self.problem
        problem.isReadable = false
        #expect(problem.advice == "Its permissions do not let this user read it. Change them (chmod u+rw), or choose another path.")
        (problem.isReadable, problem.isWritable) = (true, false)
        #expect(problem.advice == "Its permissions do not let this user write it. Change them (chmod u+w), or choose another path.")
    }

    /// Only where a device is locked with its files: elsewhere the system says EPERM for other reasons.
    @Test func aLockedDeviceIsNoPermissionProblem() {
        #expect(SQLiteError.meansLockedDevice(EPERM, locks: true))
        #expect(!SQLiteError.meansLockedDevice(EACCES, locks: true))
        #expect(!SQLiteError.meansLockedDevice(EPERM, locks: false))
        let error = VellumError.deviceLocked(cause: POSIXError(.EPERM))
        #expect(error.code == .deviceLocked)
        #expect(error.message.contains("until it is unlocked"))
    }

    /// What SQLite knows of the system's error is kept.
    @Test func anErrorOfOpeningHasTheErrorOfTheSystem() throws {
        let folder = try TemporaryDirectory()
        let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: folder.file("missing/file").path) }
        #expect(error?.systemError == ENOENT)
    }

    @Test func theOwnerOfAnotherUsersFileIsNamed() {
        var problem = Self.problem
        (problem.isReadable, problem.owner) = (false, "ann")
        let advice = """
            It belongs to the user ann, and its permissions do not let this user read it. Run the program as ann, have an administrator \
            change the owner (chown), or choose another path.
            """
        #expect(problem.advice == advice)
        (problem.isReadable, problem.isWritable) = (true, false)
        #expect(problem.advice == advice.replacingOccurrences(of: "read it", with: "write it"))
    }

    @Test func theOwnerOfAnotherUsersFolderIsNamed() {
        var problem = Self.problem
        (problem.kind, problem.isFolderWritable) = (.missing, false)
        let reason = "The folder /data does not let this user create files in it."
        #expect(problem.advice == "\(reason) Change its permissions, or choose another folder.")
        problem.folderOwner = "ann"
        #expect(problem.advice == "\(reason) It belongs to the user ann: run the program as ann, or choose another folder.")
    }

    @Test func theOwnerOfAFileIsFound() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("file")
        try Data().write(to: file)
        #expect(OpeningProblem(path: file.path).owner == nil)
        #expect(OpeningProblem(path: folder.file("missing").path).owner == nil)
        // Only root may give a file away.
        guard geteuid() == 0 else { return }
        #expect(chown(file.path, 1, 1) == 0)
        #expect(OpeningProblem(path: file.path).owner?.isEmpty == false)
        #expect(chown(file.path, 54_321, 1) == 0)
        #expect(OpeningProblem(path: file.path).owner == "54321")
    }

    @Test func aFolderThatIsGoneIsNamed() throws {
        let folder = try TemporaryDirectory()
        let gone = folder.file("gone")
        let problem = OpeningProblem(path: gone.appendingPathComponent("Archives.sqlite").path, .ENOENT)
        #expect(problem.advice == "The folder \(gone.path) is gone: it was removed or renamed meanwhile. Try again.")
    }
}
