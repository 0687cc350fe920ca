import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What is advised when a file cannot be opened.
@Suite(.ownThreads)
struct OpeningProblemTests {
    private static let problem = OpeningProblem(path: "/data/file", kind: .file, folder: "/data")

    @Test func permissionsOfOnesOwnFileCanBeChanged() {
        var problem = Self.problem
        problem.isReadable = false
        #expect(
            problem.advice
                == """
                Its permissions do not let this user read it. Change them (chmod u+rw), or choose \
                another path.
                """
        )
        (problem.isReadable, problem.isWritable) = (true, false)
        #expect(
            problem.advice
                == """
                Its permissions do not let this user write it. Change them (chmod u+w), or choose \
                another path.
                """
        )
    }

    /// Only where a device is locked with its files: elsewhere the system says EPERM for other
    /// reasons.
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
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: folder.file("missing/file").path)
        }
        #expect(error?.systemError == ENOENT)
    }

    @Test func theOwnerOfAnotherUsersFileIsNamed() {
        var problem = Self.problem
        (problem.isReadable, problem.owner) = (false, "ann")
        let advice = """
            It belongs to the user ann, and its permissions do not let this user read it. Run the \
            program as ann, have an administrator change the owner (chown), or choose another path.
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
        #expect(
            problem.advice
                == """
                \(reason) It belongs to the user ann: run the program as ann, or choose another \
                folder.
                """
        )
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
        let problem = OpeningProblem(
            path: gone.appendingPathComponent("Archives.sqlite").path,
            .ENOENT
        )
        #expect(
            problem.advice
                == """
                The folder \(gone.path) is gone: it was removed or renamed meanwhile. Try again.
                """
        )
    }
}

/// Names and paths that are too long, and how many files may be open (FS5, FS7).
@Suite(.ownThreads)
struct PathLengthTests {
    /// A file that can be opened can also be repaired: the names of all that is made of it fit,
    /// too.
    @Test(arguments: [100, 200, 207, 208, 215, 216, 219, 230, 240, 255, 300])
    func aNameThatCanBeOpenedCanBeRepaired(length: Int) throws {
        let folder = try TemporaryDirectory()
        let url = folder.file(String(repeating: "n", count: length))
        guard length <= FilePaths.longestName else {
            let error = #expect(throws: VellumError.self) { _ = try DatabaseFile.open(at: url) }
            #expect(error?.code == .cannotOpen)
            #expect(error?.message.contains("has \(length) bytes, and at most") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
            return
        }
        try repair(url)
    }

    @Test(arguments: [400, 493, 494, 495, 504, 505, 512, 600, 5000])
    func aPathThatCanBeOpenedCanBeRepaired(length: Int) throws {
        let folder = try TemporaryDirectory()
        var path = try FileSystem.resolved(folder.url.path)
        while path.utf8.count < length - 100 {
            path += "/" + String(repeating: "f", count: min(90, length - 50 - path.utf8.count))
        }
        path += "/" + String(repeating: "n", count: length - path.utf8.count - 1)
        #expect(path.utf8.count == length)
        let url = URL(fileURLWithPath: path)
        guard length <= FilePaths.longestPath else {
            let error = #expect(throws: VellumError.self) { _ = try DatabaseFile.open(at: url) }
            #expect(error?.code == .cannotOpen)
            #expect(error?.message.contains("bytes") == true, "\(String(describing: error))")
            return
        }
        try repair(url)
    }

    private func repair(_ url: URL) throws {
        func store() throws -> Store<Data> {
            try DatabaseFile.open(at: url).store(named: "a", codec: IdentityCodec(), StoreOptions())
        }
        try store().record(Data([1]), forKey: "k")
        try DatabaseFile.open(at: url).close()
        Recovery.markDamaged(url.path)
        // Repairing looks at the file, and finds it sound; a damaged page makes it copy the
        // entries.
        let file = try FileHandle(forUpdating: url)
        try file.seek(toOffset: 4096 * 2)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 100))
        try file.close()
        #expect(try store().count() <= 1)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: url.deletingLastPathComponent().path
        )
        #expect(names.contains { $0.contains(".damaged-") })
        #expect(try DatabaseFile.open(at: url).verify().isIntact)
        try DatabaseFile.open(at: url).close()
    }

    @Test(arguments: [EMFILE, ENFILE])
    func tooManyOpenFilesAreNamed(code: Int32) {
        let problem = OpeningProblem(path: "/tmp/file", POSIXErrorCode(rawValue: code))
        #expect(problem.advice.contains("ulimit -n"))
    }
}
