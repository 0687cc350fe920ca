import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.ownThreads)
struct FailureTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(_ calls: FileSystem = .system, _ sync: FileSync = .none) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, sync: sync, fileSystem: calls))
    }

    private static let long = Filename(rawValue: String(repeating: "k", count: 1000))

    /// P31, P34.
    @Test(
        arguments: [
            (
                FileError.Step.creating,
                FileSystem { $0.open = { $1 == .creating ? -ENOSPC : SystemCalls.open($0, $1) } }
            ),
            (.writing, FileSystem { $0.write = { _, _, _ in Int(-ENOSPC) } }),
            (
                .writing,
                FileSystem {
                    $0.write = { file, bytes, count in
                        count > 3 ? SystemCalls.write(file, bytes, 3) : Int(-ENOSPC)
                    }
                }
            ),
            (.writing, FileSystem { $0.write = { _, _, _ in 0 } }),
            (
                .writing,
                FileSystem {
                    $0.sync = { file, purpose in
                        purpose == .creating ? -EIO : SystemCalls.sync(file, purpose)
                    }
                }
            ),
            (
                .writing,
                FileSystem {
                    $0.close = {
                        _ = SystemCalls.close($0); return -ENOSPC
                    }
                }
            ),
            (.renaming, FileSystem { $0.rename = { _, _ in -EACCES } }),
        ],
        ["key", long]
    )
    func aWriteThatFailsKeepsTheOldValueAndLeavesNothing(
        failing: (FileError.Step, FileSystem),
        key: Filename
    ) throws {
        try files().write("old", for: key)
        let failure = #expect(throws: FileError.self) {
            try files(failing.1, .complete).write("a new value", for: key)
        }
        #expect(failure?.step == failing.0)
        #expect(try files().string(key) == "old")
        #expect(try scratch.files().count == 1)
    }

    @Test func aFolderThatCannotBeSyncedIsReported() throws {
        let calls = FileSystem {
            $0.sync = { file, purpose in
                purpose == .syncingFolder ? -EIO : SystemCalls.sync(file, purpose)
            }
        }
        try files().write("old", for: "key")
        let failure = #expect(throws: FileError.self) {
            try files(calls, .complete).write("new", for: "key")
        }
        #expect(failure?.step == .syncing)
        #expect(try files().string("key") == "new")
        #expect(try scratch.files().count == 1)
    }

    @Test func aSystemThatTakesLittleAtATimeGetsEverything() throws {
        let calls = FileSystem {
            $0.read = { SystemCalls.read($0, $1, min($2, 1000)) }
            $0.write = { SystemCalls.write($0, $1, min($2, 7)) }
        }
        let value = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
        try files(calls).write(value, for: "key")
        #expect(try files().read("key") == value)
    }

    /// A large file whose bytes come in pieces.
    @Test func aFileThatComesInPiecesIsReadWhole() throws {
        let value = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try files().write(value, for: "key")
        let calls = FileSystem { $0.read = { SystemCalls.read($0, $1, min($2, 69632)) } }
        #expect(try files(calls).read("key") == value)
    }

    @Test func aFileThatGrowsWhileItIsReadIsReadToItsEnd() throws {
        let value = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        try files().write(value, for: "key")
        let calls = FileSystem {
            $0.status = { file in
                guard case .value(var status) = SystemCalls.status(file) else {
                    return .failure(-EIO)
                }
                status.size = 70_000
                return .value(status)
            }
        }
        #expect(try files(calls).read("key") == value)
    }

    /// A miss is a value, a failure is an error.
    @Test(arguments: [
        (FileError.Step.opening, FileSystem { $0.open = { _, _ in -EACCES } }),
        (.reading, FileSystem { $0.read = { _, _, _ in Int(-EIO) } }),
    ])
    func aFileThatCannotBeReadIsAFailureAndNotAMiss(failing: (FileError.Step, FileSystem)) throws {
        for key in ["key", Self.long] {
            try files().write(Data(count: 100_000), for: key)
            let failure = #expect(throws: FileError.self) { try files(failing.1).read(key) }
            #expect(failure?.step == failing.0)
        }
    }

    @Test func aFileInThePlaceOfTheFolderIsAFailureAndNotAMiss() throws {
        try Data("a file".utf8).write(to: scratch.folder)
        #expect(throws: FileError.self) { try files().read("key") }
        #expect(throws: FileError.self) { try files().remove("key") }
        #expect(throws: FileError.self) { try files().keys() }
        let failure = #expect(throws: FileError.self) { try files().write("value", for: "key") }
        #expect(failure?.code == ENOTDIR)
        #expect(try Data(contentsOf: scratch.folder) == Data("a file".utf8))
    }

    @Test func aFolderThatCannotBeMadeIsReported() throws {
        try Data("a file".utf8).write(to: scratch.folder)
        let files = FolderFiles(.init(folder: scratch.folder.appendingPathComponent("a/b")))
        let failure = #expect(throws: FileError.self) { try files.write("value", for: "key") }
        #expect(failure?.code == ENOTDIR)
        let refused = self.files(FileSystem { $0.makeFolder = { _ in -EROFS } })
        try FileManager.default.removeItem(at: scratch.folder)
        let failure2 = #expect(throws: FileError.self) { try refused.write("value", for: "key") }
        #expect(failure2?.step == .makingFolder)
        #expect(failure2?.code == EROFS)
    }

    @Test func aPipeIsNotReadAsAValue() throws {
        try files().write("value", for: "key")
        let path = scratch.folder.path + "/" + files().fileName(for: "other")
        #expect(mkfifo(path, 0o600) == 0)
        let failure = #expect(throws: FileError.self) { try files().read("other") }
        #expect(failure?.code == EINVAL)
    }

    @Test func aFolderPathWithNULIsRefused() throws {
        let folder = Folder("/a\0/b")
        let failure = #expect(throws: FileError.self) { try folder.path(of: "name".utf8) }
        #expect(failure?.code == EINVAL)
    }

    @Test(arguments: ["https://example.com/folder", "data:,text", "file://", "file:folder"])
    func everyCallFailsOnAURLThatIsNotAFolder(text: String) throws {
        let called = Countdown(0)
        let files = FolderFiles(
            .init(
                folder: try #require(URL(string: text)),
                fileSystem: FileSystem {
                    $0.unlink = { _ in
                        #expect(called.next())
                        return -EACCES
                    }
                    $0.makeFolder = { _ in
                        #expect(called.next())
                        return -EACCES
                    }
                    $0.removeFolder = { _ in
                        #expect(called.next())
                        return -EACCES
                    }
                }
            )
        )
        let failures = [
            #expect(throws: FileError.self) { try files.read("key") },
            #expect(throws: FileError.self) { try files.write("value", for: "key") },
            #expect(throws: FileError.self) { _ = try files.remove("key") },
            #expect(throws: FileError.self) { try files.keys() },
            #expect(throws: FileError.self) { try files.clear() },
        ]
        #expect(failures.allSatisfy { $0?.code == EINVAL })
    }

    /// Not being allowed to read is no reason to say that nothing can be written.
    @Test func onlyAStepThatWritesFindsAFolderReadOnly() {
        for code in [EACCES, EPERM, EROFS] {
            for step in [FileError.Step.opening, .reading, .listing] {
                #expect(
                    ShallowsError(FileError(step, code, ""), layer: "", key: nil).code
                        == .inputOutput
                )
            }
            for step in [
                FileError.Step.makingFolder, .creating, .writing, .renaming, .removing,
                .removingOriginal,
            ] {
                #expect(
                    ShallowsError(FileError(step, code, ""), layer: "", key: nil).code == .readOnly
                )
            }
        }
    }

    @Test func aFailureTellsNoNames() throws {
        let files = FolderFiles(
            .init(
                folder: scratch.folder,
                encoder: .noEncoding,
                fileSystem: FileSystem { $0.rename = { _, _ in -EACCES } }
            )
        )
        let failure = try #require(throws: FileError.self) {
            try files.write("value", for: "secret")
        }
        #expect(!String(describing: failure).contains("secret"))
        #expect(!failure.localizedDescription.contains("secret"))
        // The folder is the program's choice, and answers which file: decision 0040.
        #expect(String(describing: failure).contains(scratch.folder.path))
        #expect(String(reflecting: failure).contains("secret"))
        #expect(failure.underlying.code == .EACCES)
        #expect(
            String(describing: failure)
                == """
                A file could not be renamed: Permission denied (13), at \(scratch.folder.path). \
                Check that this program may write there.
                """
        )
    }

    /// P33. A small volume of its own, where making one is permitted.
    @Test func aFullDiskKeepsTheOldValueAndLeavesNothing() throws {
        #if os(Linux)
            try FileManager.default.createDirectory(
                at: scratch.folder,
                withIntermediateDirectories: true
            )
            guard mount("none", scratch.folder.path, "tmpfs", 0, "size=256k") == 0 else {
                print("Skipped: no volume may be mounted here.")
                return
            }
            defer { #expect(umount(scratch.folder.path) == 0) }
            let files = files()
            try files.write(Data(repeating: 1, count: 100_000), for: "key")
            for key in ["key", "other", Self.long] {
                let failure = #expect(throws: FileError.self) {
                    try files.write(Data(repeating: 2, count: 200_000), for: key)
                }
                #expect(failure?.code == ENOSPC)
            }
            #expect(try files.read("key") == Data(repeating: 1, count: 100_000))
            #expect(try files.keys() == ["key"])
            #expect(try scratch.files().count == 1)
            try files.write("small", for: "key")
            #expect(try files.string("key") == "small")
        #endif
    }

    /// As root, permissions do not stop a write: a volume that cannot be written does.
    @Test func aReadOnlyVolumeIsReadAndNotWritten() throws {
        #if os(Linux)
            try FileManager.default.createDirectory(
                at: scratch.folder,
                withIntermediateDirectories: true
            )
            guard mount("none", scratch.folder.path, "tmpfs", 0, "size=256k") == 0 else {
                print("Skipped: no volume may be mounted here.")
                return
            }
            defer { #expect(umount(scratch.folder.path) == 0) }
            let files = files()
            try files.write("value", for: "key")
            #expect(
                mount(
                    "none",
                    scratch.folder.path,
                    "tmpfs",
                    UInt(MS_REMOUNT | MS_RDONLY),
                    "size=256k"
                )
                    == 0
            )
            #expect(throws: FileError.self) { try files.write("new", for: "key") }
            #expect(throws: FileError.self) { try files.remove("key") }
            #expect(throws: FileError.self) { try files.clear() }
            #expect(try files.string("key") == "value")
        #endif
    }
}
