import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct SharedFolderTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func oneFolderIsSharedHoweverItsPathIsWritten() throws {
        let folder = SharedFolder.shared(for: scratch.folder)
        for path in ["/folder/", "/./folder", "/other/../folder", "//folder"] {
            #expect(
                SharedFolder.shared(for: URL(fileURLWithPath: scratch.url.path + path)) === folder
            )
        }
        #expect(SharedFolder.shared(for: scratch.url) !== folder)
    }

    @Test func aSharedFolderIsReleasedWithItsLastUser() {
        weak var folder: SharedFolder?
        do {
            let used = SharedFolder.shared(for: scratch.folder)
            folder = used
            withExtendedLifetime(used) { #expect(folder != nil) }
        }
        #expect(folder == nil)
    }

    @Test func aFolderIsSweptOnceByAllThatShareIt() throws {
        let lists = Countdown(1)
        let sweptFolders = TemporaryFiles.SweptFolders()
        let calls = FileSystem {
            $0.list = { path in
                #expect(lists.next())
                return SystemCalls.list(path)
            }
        }
        for _ in 0..<3 {
            try FolderFiles(
                .init(folder: scratch.folder, fileSystem: calls, sweptFolders: sweptFolders)
            ).write("value", for: "a")
        }
    }

    /// A set beside a folder, while the last file of the folder is removed.
    @Test func aValueBesideAFolderIsNotLostBetweenTwoStorages() async throws {
        for _ in 0..<200 {
            try scratch.plant("old", at: "a/b")
            let files = (0..<2).map { _ in
                FolderFiles(
                    .init(
                        folder: scratch.folder,
                        encoder: .noEncoding,
                        shared: .shared(for: scratch.folder)
                    )
                )
            }
            await withTaskGroup { group in
                group.addTask {
                    #expect(throws: Never.self) { try files[0].write("value", for: "a") }
                }
                group.addTask { #expect(throws: Never.self) { try files[1].remove("a/b") } }
            }
            #expect(try files[0].string("a") == "value")
            try files[0].clear()
        }
    }
}
