import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct FileSyncTests {
    let scratch: Scratch
    let calls = Recorder()

    init() throws { scratch = try Scratch() }

    private func files(_ sync: FileSync) -> FolderFiles {
        let (calls, root) = (calls, scratch.url.path)
        let name: @Sendable (UnsafePointer<CChar>) -> String = { path in
            let name = String(cString: path).replacing(root, with: "")
            return name.contains(FileName.temporaryPrefix) ? "temporary" : name
        }
        return FolderFiles(
            .init(
                folder: scratch.folder.appendingPathComponent("inner"),
                encoder: .noEncoding,
                sync: sync,
                fileSystem: FileSystem {
                    $0.open = { path, purpose in
                        if purpose != .reading { calls.add("open \(name(path))") }
                        return SystemCalls.open(path, purpose)
                    }
                    $0.sync = { file, purpose in
                        calls.add(purpose == .creating ? "sync file" : "sync folder")
                        return SystemCalls.sync(file, purpose)
                    }
                    $0.rename = { path, target in
                        calls.add("rename \(name(target))")
                        return SystemCalls.rename(path, target)
                    }
                    $0.unlink = { path in
                        calls.add("unlink \(name(path))")
                        return SystemCalls.unlink(path)
                    }
                    $0.makeFolder = { path in
                        let answer = SystemCalls.makeFolder(path)
                        if answer == 0 { calls.add("make \(name(path))") }
                        return answer
                    }
                }
            )
        )
    }

    @Test func aCompleteWriteSyncsTheFileBeforeItHasItsNameAndTheFolderAfterwards() throws {
        let files = files(.complete)
        try files.write("one", for: "key")
        calls.clear()
        try files.write("two", for: "key")
        #expect(
            calls.all == [
                "open temporary", "sync file", "rename /folder/inner/key", "open /folder/inner/",
                "sync folder",
            ]
        )
    }

    @Test func foldersThatAreMadeAreSyncedFromAbove() throws {
        try files(.complete).write("one", for: "key")
        let made = calls.all.drop { !$0.hasPrefix("make") }.prefix(6)
        #expect(
            Array(made) == [
                "make /folder", "open /", "sync folder", "make /folder/inner", "open /folder/",
                "sync folder",
            ]
        )
    }

    @Test func aCompleteRemovalSyncsTheFolder() throws {
        let files = files(.complete)
        try files.write("one", for: "key")
        calls.clear()
        #expect(try files.remove("key"))
        #expect(calls.all == ["unlink /folder/inner/key", "open /folder/inner/", "sync folder"])
    }

    @Test func aCompleteClearingSyncsTheFolderAndTheOneAbove() throws {
        let files = files(.complete)
        try files.write("one", for: "key")
        calls.clear()
        try files.clear()
        #expect(
            calls.all == [
                "unlink /folder/inner/key", "open /folder/inner/", "sync folder", "open /folder/",
                "sync folder",
            ]
        )
    }

    @Test func withoutSyncNothingWaitsForTheDisk() throws {
        let files = files(.none)
        try files.write("one", for: "key")
        calls.clear()
        try files.write("two", for: "key")
        #expect(try files.remove("key"))
        #expect(
            calls.all == ["open temporary", "rename /folder/inner/key", "unlink /folder/inner/key"]
        )
    }

    /// The old file is removed after the new one is there, and before it when the key is removed.
    @Test func anOlderValueIsNeverTheOnlyOne() throws {
        let files = files(.none)
        try files.write("one", for: "other")
        try scratch.plantOriginal("old", for: "inner/a/b", .noEncoding)
        calls.clear()
        try files.write("new", for: "a/b")
        #expect(
            calls.all == [
                "open temporary", "rename /folder/inner/~sh-p-a%2fb", "unlink /folder/inner/a/b",
            ]
        )
        try scratch.plantOriginal("old", for: "inner/a/b", .noEncoding)
        calls.clear()
        #expect(try files.remove("a/b"))
        #expect(calls.all == ["unlink /folder/inner/a/b", "unlink /folder/inner/~sh-p-a%2fb"])
    }
}
