import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

@Suite(.ownThreads)
struct OriginalNamesTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(_ encoder: Filename.Encoder) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, encoder: encoder))
    }

    /// Keys whose base64 has a `/`, or another letter that the alphabets do not share, or is longer
    /// than one name.
    private static let base64Keys: [Filename] = [
        "settings", "???", "b???", "oé?", "o?>", "c👍",
        Filename(
            rawValue: "x?" + String(repeating: "k", count: 150) + "c👍"
                + String(repeating: "k", count: 100)
        ),
    ]

    /// S1.
    @Test(arguments: [TestEncoder.base64, .base64URL])
    func filesOfTheOriginalAreFoundUnderTheirBase64(encoder: TestEncoder) throws {
        let files = files(encoder.encoder)
        for key in Self.base64Keys {
            let name = encoder.encoder.encodedString(representing: key)
            guard name.split(separator: "/").allSatisfy({ $0.utf8.count <= 255 }) else { continue }
            try scratch.plantOriginal("old", for: key, encoder.encoder)
            #expect(try files.string(key) == "old")
            #expect(try files.keys() == [key])
            try files.write("new", for: key)
            #expect(try files.string(key) == "new")
            #expect(try files.keys() == [key])
            #expect(try scratch.files() == [files.fileName(for: key)])
            #expect(try files.remove(key))
            #expect(try files.read(key) == nil)
            #expect(try scratch.files().isEmpty)
            try files.clear()
        }
    }

    @Test(arguments: ["a/b", "deep/er/file", "a.", "a ", ".../x", "é/e\u{301}"])
    func aKeyThatWasAPathIsFoundWithoutAnEncoding(text: String) throws {
        let key = Filename(rawValue: text)
        try scratch.plantOriginal("old", for: key, .noEncoding)
        let files = files(.noEncoding)
        #expect(try files.string(key) == "old")
        #expect(try files.keys() == [key])
        try files.write("new", for: key)
        #expect(try files.string(key) == "new")
        #expect(try scratch.files().count == 1)
        #expect(try files.remove(key))
        #expect(try scratch.files().isEmpty)
    }

    /// C6. The original made a folder of the scheme.
    @Test(arguments: [
        "https://example.com/a?b=c", "HTTP://x", "file:///a/b", "app+x.y-1://host/path/ü",
    ])
    func aURLIsFoundWithoutAnEncoding(text: String) throws {
        let key = Filename(rawValue: text)
        try scratch.plantOriginal("old", for: key, .noEncoding)
        let files = files(.noEncoding)
        #expect(try files.string(key) == "old")
        #expect(try files.keys() == [key])
        try files.write("new", for: key)
        #expect(try files.string(key) == "new")
        #expect(try files.keys() == [key])
        #expect(try scratch.files().count == 1)
        #expect(try files.remove(key))
        #expect(try scratch.files().isEmpty)
    }

    /// The original had one file for both.
    @Test func aURLWithOneSlashIsTheSameFile() throws {
        try scratch.plantOriginal("old", for: "https://example.com", .noEncoding)
        let files = files(.noEncoding)
        #expect(try files.string("https:/example.com") == "old")
        try files.write("new", for: "https://example.com")
        #expect(try files.string("https://example.com") == "new")
        #expect(try files.read("https:/example.com") == nil)
    }

    /// C6. Names that this package makes begin in the same way.
    @Test(arguments: ["~sh-", "~sh-x", "~sh-pa", "~SH-x", "~sh-x/y"])
    func aKeyWithOurPrefixIsFoundWithoutAnEncoding(text: String) throws {
        let key = Filename(rawValue: text)
        try scratch.plantOriginal("old", for: key, .noEncoding)
        let files = files(.noEncoding)
        #expect(try files.string(key) == "old")
        #expect(try files.keys() == [key])
        try files.write("new", for: key)
        #expect(try files.string(key) == "new")
        #expect(try files.keys() == [key])
        #expect(try scratch.files().count == 1)
        #expect(try files.remove(key))
        #expect(try scratch.files().isEmpty)
    }

    @Test func filesOfACustomEncoderAreFound() throws {
        let encoder = Filename.Encoder.custom { "v1/" + $0.rawValue }
        try scratch.plantOriginal("old", for: "a", encoder)
        #expect(try files(encoder).string("a") == "old")
        try files(encoder).write("new", for: "a")
        #expect(try files(encoder).string("a") == "new")
        #expect(try scratch.files() == ["~sh-p-v1%2fa"])
    }

    /// P4.
    @Test(
        arguments: TestEncoder.allCases,
        [
            ("caf\u{E9}", "caf\u{E9}"), ("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}"),
            ("cafe\u{301}", "cafe\u{301}"),
        ]
    )
    func aFileOfEitherSpellingIsFoundUnderBoth(
        encoder: TestEncoder,
        spellings: (String, String)
    ) throws {
        let asked = Filename(rawValue: spellings.1)
        try scratch.plantOriginal("old", for: Filename(rawValue: spellings.0), encoder.encoder)
        let files = files(encoder.encoder)
        #expect(try files.string(asked) == "old")
        #expect(try files.keys() == [asked])
        try files.write("new", for: asked)
        #expect(try files.keys() == [asked])
        #expect(try scratch.files().count == 1)
        #expect(try files.remove(asked))
        #expect(try scratch.files().isEmpty)
    }

    @Test func filesOfBothSpellingsAreOneKey() throws {
        try scratch.plantOriginal("one", for: "\u{E9}", .noEncoding)
        try scratch.plantOriginal("two", for: "e\u{301}", .noEncoding)
        #expect(try files(.noEncoding).keys() == ["é"])
        #expect(try files(.noEncoding).string("e\u{301}") == "one")
        #expect(try files(.noEncoding).remove("é"))
        #expect(try scratch.files().isEmpty)
    }

    /// P2: no key leads to the file of another, or outside.
    @Test(arguments: [
        "a//b", "a/./b", "a/../a/b", "/a/b", "a/b/", "../folder/a/b", "x/../../outside",
        "../outside",
    ])
    func aKeyThatDiffersFromItsPathFindsNothing(text: String) throws {
        try scratch.plant("inside", at: "a/b")
        try scratch.plant("x", at: "x/y")
        try scratch.plant("outside", at: "../outside")
        let files = files(.noEncoding)
        let key = Filename(rawValue: text)
        #expect(try files.read(key) == nil)
        #expect(try files.remove(key) == false)
        try files.write("new", for: key)
        #expect(try files.remove(key))
        #expect(try files.string("a/b") == "inside")
        #expect(FileManager.default.fileExists(atPath: scratch.url.path + "/outside"))
    }

    @Test func aFileInThePlaceOfAFolderDoesNotFailReading() throws {
        let files = files(.noEncoding)
        try files.write("file", for: "a")
        #expect(try files.read("a/b") == nil)
        try files.write("other", for: "a/b")
        #expect(try files.string("a") == "file")
        #expect(try files.string("a/b") == "other")
        #expect(try files.remove("a/b"))
        #expect(try files.string("a") == "file")
    }

    /// The folder that the original made for "a/b" has the name of the file for "a".
    @Test func aFolderInThePlaceOfAFileDoesNotFailWriting() throws {
        try scratch.plantOriginal("old", for: "a/b", .noEncoding)
        let files = files(.noEncoding)
        #expect(try files.read("a") == nil)
        #expect(try files.remove("a") == false)
        try files.write("beside", for: "a")
        #expect(try files.string("a") == "beside")
        #expect(try files.string("a/b") == "old")
        #expect(try Set(files.keys()) == ["a", "a/b"])
        #expect(try files.remove("a/b"))
        #expect(try files.string("a") == "beside")
        try files.write("newer", for: "a")
        #expect(try files.string("a") == "newer")
        #expect(try files.remove("a"))
        #expect(try files.read("a") == nil)
        #expect(try files.keys().isEmpty)
    }

    @Test func aLongNameIsWrittenBesideAFolderToo() throws {
        let key = Filename(rawValue: String(repeating: "k", count: 255))
        try scratch.plant("old", at: key.rawValue + "/b")
        let files = files(.noEncoding)
        try files.write("beside", for: key)
        #expect(try files.string(key) == "beside")
        #expect(try Set(files.keys()) == [key, Filename(rawValue: key.rawValue + "/b")])
        #expect(try files.remove(key))
        #expect(try files.read(key) == nil)
    }

    @Test func aFolderOfTheNameOfAnEscapedFileIsReported() throws {
        try scratch.plant("foreign", at: "~sh-p-a%2fb/file")
        let failure = #expect(throws: FileError.self) {
            try files(.noEncoding).write("value", for: "a/b")
        }
        #expect(failure?.code == EISDIR)
        #expect(try scratch.files() == ["~sh-p-a%2fb/file"])
    }

    /// An old value never comes back.
    @Test func anOldFileThatCannotBeRemovedIsReported() throws {
        try scratch.plantOriginal("old", for: "a/b", .noEncoding)
        let calls = FileSystem {
            $0.unlink = { path in
                String(cString: path).hasSuffix("a/b") ? -EACCES : SystemCalls.unlink(path)
            }
        }
        let files = FolderFiles(
            .init(folder: scratch.folder, encoder: .noEncoding, fileSystem: calls)
        )
        let failure = #expect(throws: FileError.self) { try files.write("new", for: "a/b") }
        #expect(failure?.step == .removingOriginal)
        #expect(try files.string("a/b") == "new")
        #expect(throws: FileError.self) { try files.remove("a/b") }
        #expect(try files.string("a/b") == "new")
    }

    /// A read that misses the new file and then the old one, because the value was written in
    /// between, looks again.
    @Test func aValueThatMovesWhileItIsReadIsFound() throws {
        try scratch.plantOriginal("old", for: "a/b", .noEncoding)
        let folder = scratch.folder
        let writes = Countdown(1)
        let calls = FileSystem {
            $0.open = { path, purpose in
                if String(cString: path).hasSuffix("/a/b"), writes.next() {
                    #expect(throws: Never.self) {
                        try FolderFiles(.init(folder: folder, encoder: .noEncoding)).write(
                            "new",
                            for: "a/b"
                        )
                    }
                }
                return SystemCalls.open(path, purpose)
            }
        }
        #expect(
            try FolderFiles(.init(folder: folder, encoder: .noEncoding, fileSystem: calls)).string(
                "a/b"
            ) == "new"
        )
    }

    @Test func nothingIsLookedForBesideTheUsualName() throws {
        let paths = Recorder()
        let calls = FileSystem {
            $0.open = { path, purpose in
                paths.add(String(cString: path))
                return SystemCalls.open(path, purpose)
            }
            $0.unlink = { path in
                paths.add(String(cString: path))
                return SystemCalls.unlink(path)
            }
        }
        let files = FolderFiles(.init(folder: scratch.folder, fileSystem: calls))
        try files.write("value", for: "settings")
        paths.clear()
        try files.write("value", for: "settings")
        #expect(try files.read("settings") != nil)
        #expect(try files.read("missing") == nil)
        #expect(paths.all.count == 3)
    }

    /// P2: a link in the folder may lead anywhere.
    @Test(arguments: [(TestEncoder.base64, "ab?c", "YWI", "Yw=="), (.noEncoding, "a/b", "a", "b")])
    func aPathThroughALinkIsNotRead(
        encoder: TestEncoder,
        text: String,
        link: String,
        file: String
    ) throws {
        let key = Filename(rawValue: text)
        #expect(encoder.encoder.encodedString(representing: key) == link + "/" + file)
        try scratch.plant("outside", at: "../outside/" + file)
        try FileManager.default.createDirectory(
            at: scratch.folder,
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(
            at: scratch.folder.appendingPathComponent(link),
            withDestinationURL: scratch.url.appendingPathComponent("outside")
        )
        let files = files(encoder.encoder)
        #expect(try files.read(key) == nil)
        #expect(try files.remove(key) == false)
        try files.write("new", for: key)
        #expect(try files.string(key) == "new")
        #expect(try files.remove(key))
        #expect(
            try String(
                contentsOf: scratch.url.appendingPathComponent("outside/" + file),
                encoding: .utf8
            )
                == "outside"
        )
    }
}
