import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct ListingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(_ encoder: Filename.Encoder = .base64) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, encoder: encoder))
    }

    @Test func withoutAWayBackKeysCannotBeListed() throws {
        let files = files(.custom { $0.rawValue })
        try files.write("value", for: "secret")
        let failure = #expect(throws: FileError.self) { try files.keys() }
        #expect(failure?.step == .decodingNames)
        #expect(failure.map { String(describing: $0).contains("custom(_:decode:)") } == true)
        #expect(failure.map { String(describing: $0).contains("secret") } == false)
    }

    @Test func aDecoderThatDoesNotInvertTheEncoderListsNoWrongKey() throws {
        let files = files(
            .custom {
                "v2-" + $0.rawValue
            } decode: {
                Filename(rawValue: $0)
            }
        )
        try files.write("value", for: "a")
        #expect(try files.keys().isEmpty)
        #expect(try files.string("a") == "value")
    }

    @Test func filesOfOtherProgramsAreNotListed() throws {
        try files().write("value", for: "a")
        for name in [
            ".DS_Store", "not base64", "Zg", "Zh==", "gICA", "folder/Zg==", "~sh-x", "~sh-p-%zz",
            "~sh-p-Zm9v",
        ] {
            try scratch.plant("foreign", at: name)
        }
        #expect(try files().keys() == ["a"])
    }

    @Test func temporaryFilesAreNotListed() throws {
        try scratch.plant("temporary", at: TemporaryFiles.nextName())
        for encoder in [Filename.Encoder.base64, .noEncoding] {
            #expect(try files(encoder).keys().isEmpty)
        }
    }

    @Test func everyListedKeyHasAValue() throws {
        for path in [
            "a/b", "a/.hidden", "a//", "x.", "~sh-p-a%2fc", "~sh-p-b", "e\u{301}",
            "\u{301}/\u{301}", "deep/er/file",
        ]
        where !path.hasSuffix("/") {
            try scratch.plant(path, at: path)
        }
        let keys = try files(.noEncoding).keys()
        #expect(
            Set(keys) == [
                "a/b", "a/.hidden", "x.", "a/c", "e\u{301}", "\u{301}/\u{301}", "deep/er/file",
            ]
        )
        for key in keys { #expect(try files(.noEncoding).read(key) != nil) }
    }

    /// What is inside cannot be retrieved; the rest is listed.
    @Test(arguments: [EACCES, EIO])
    func aFolderOrFileThatCannotBeReadHidesNoOtherKey(code: Int32) throws {
        let long = Filename(rawValue: String(repeating: "k", count: 1000))
        try files().write("value", for: "a")
        try files().write("value", for: long)
        try scratch.plant("old", at: "locked/file")
        let calls = FileSystem {
            $0.open = { path, purpose in
                String(cString: path).contains(FileName.escapedPrefix)
                    ? -code : SystemCalls.open(path, purpose)
            }
            $0.list = { path in
                String(cString: path).contains("locked") ? .failure(-code) : SystemCalls.list(path)
            }
        }
        #expect(try FolderFiles(.init(folder: scratch.folder, fileSystem: calls)).keys() == ["a"])
        #expect(try Set(files().keys()) == ["a", long])
    }

    @Test func aFolderThatCannotBeListedIsAFailureAndNotEmpty() throws {
        try files().write("value", for: "a")
        let files = FolderFiles(
            .init(
                folder: scratch.folder,
                fileSystem: FileSystem { $0.list = { _ in .failure(-EACCES) } }
            )
        )
        let failure = #expect(throws: FileError.self) { try files.keys() }
        #expect(failure?.step == .listing)
    }
}
