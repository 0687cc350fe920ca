import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

/// On a folder that does not tell letters apart, as the file systems of most Macs: simulated where
/// they do.
@Suite(.ownThreads)
struct CaseInsensitiveTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(_ encoder: Filename.Encoder = .base64) -> FolderFiles {
        FolderFiles(
            .init(
                folder: scratch.folder,
                encoder: encoder,
                caseSensitivity: .insensitive,
                fileSystem: .withoutCase
            )
        )
    }

    @Test func theSimulatedFolderDoesNotTellLettersApart() throws {
        try scratch.plant("value", at: "Abc")
        let open: (String) -> Int32 = { path in
            path.withCString { FileSystem.withoutCase.call.open($0, .reading) }
        }
        for name in ["Abc", "abc", "ABC"] {
            let file = open(scratch.folder.path + "/" + name)
            #expect(file >= 0)
            #expect(SystemCalls.close(file) == 0)
        }
        #expect(open(scratch.folder.path + "/abd") == -ENOENT)
    }

    /// P4. The base64 of these differs by case alone.
    @Test func keysWhoseNamesDifferByCaseAreTwo() throws {
        let (first, second): (Filename, Filename) = ("foo", "ff/")
        #expect(first.base64Encoded().lowercased() != second.base64Encoded().lowercased())
        let keys: [Filename] = [
            "a", "A", "Abc", "aBc", "abC", "ABC", "abc", "É", "é", "ß", "SS", "ss",
        ]
        for encoder in [Filename.Encoder.base64, .base64URL, .noEncoding] {
            let files = files(encoder)
            for key in keys { try files.write(key.rawValue, for: key) }
            for key in keys { #expect(try files.string(key) == key.rawValue) }
            #expect(try Set(files.keys()) == Set(keys))
            #expect(try scratch.files().count == keys.count)
            for key in keys {
                #expect(try files.remove(key))
                #expect(try files.read(key) == nil)
            }
            #expect(try scratch.files().isEmpty)
        }
    }

    @Test func base64ThatDiffersByCaseAloneIsTwoFiles() throws {
        var keys: [String: Filename] = [:]
        var pair: (Filename, Filename)?
        var generator = SeededGenerator(seed: 5)
        while pair == nil {
            let key = Filename(
                rawValue: String(
                    (0..<3).map { _ in
                        Character(UnicodeScalar(UInt8.random(in: 33...126, using: &generator)))
                    }
                )
            )
            if let other = keys.updateValue(key, forKey: key.base64Encoded().lowercased()),
                other != key
            {
                pair = (key, other)
            }
        }
        let (first, second) = try #require(pair)
        try files().write("first", for: first)
        #expect(try files().read(second) == nil)
        try files().write("second", for: second)
        #expect(try files().string(first) == "first")
        #expect(try files().string(second) == "second")
    }

    @Test(arguments: TestEncoder.allCases)
    func everyKeyIsSafe(encoder: TestEncoder) throws {
        let files = files(encoder.encoder)
        for (index, key) in Filename.tricky.enumerated() {
            try files.write("value \(index)", for: key)
        }
        for (index, key) in Filename.tricky.enumerated() {
            #expect(try files.string(key) == "value \(index)")
        }
        #expect(try Set(files.keys()) == Set(Filename.tricky))
    }

    @Test func aFileOfTheOriginalIsFoundOnlyInItsOwnCase() throws {
        try scratch.plant("old", at: "Photo.JPG")
        let files = files(.noEncoding)
        #expect(try files.string("Photo.JPG") == "old")
        for other in ["photo.jpg", "PHOTO.JPG", "Photo.jpg"] as [Filename] {
            #expect(try files.read(other) == nil)
            #expect(try files.remove(other) == false)
        }
        #expect(try files.keys() == ["Photo.JPG"])
        try files.write("new", for: "Photo.JPG")
        #expect(try files.string("Photo.JPG") == "new")
        #expect(try scratch.files() == ["~sh-p-%50hoto.%4a%50%47"])
    }

    @Test func writingAKeyLeavesTheFileThatDiffersByCase() throws {
        try scratch.plant("old", at: "ABC")
        let files = files(.noEncoding)
        try files.write("new", for: "abc")
        #expect(try files.string("abc") == "new")
        #expect(try files.string("ABC") == "old")
        #expect(try files.read("Abc") == nil)
        #expect(try Set(files.keys()) == ["abc", "ABC"])
        #expect(try files.remove("ABC"))
        #expect(try files.string("abc") == "new")
    }

    @Test func aNewerValueOfTheOtherKeyStays() throws {
        let files = files(.noEncoding)
        try files.write("new", for: "ABC")
        try scratch.plant("old", at: "ABC")
        try files.write("lower", for: "abc")
        #expect(try files.string("ABC") == "new")
        #expect(try files.string("abc") == "lower")
    }

    @Test func anOldPathIsFoundInItsOwnCase() throws {
        try scratch.plant("old", at: "Yj8/Pw==")
        #expect(try files().string("b???") == "old")
        #expect(try files().keys() == ["b???"])
        try scratch.plant("old", at: "Folder/File")
        let plain = files(.noEncoding)
        #expect(try plain.string("Folder/File") == "old")
        #expect(try plain.read("folder/File") == nil)
        #expect(try plain.remove("folder/File") == false)
        #expect(try plain.remove("Folder/File"))
    }

    /// P4: one key in either spelling, on a volume that keeps the spelling and does not tell it
    /// apart.
    @Test(arguments: ["caf\u{E9}", "cafe\u{301}"])
    func bothSpellingsAreOneKey(text: String) throws {
        try scratch.plant("old", at: text)
        let files = files(.noEncoding)
        #expect(try files.string("caf\u{E9}") == "old")
        #expect(try files.string("cafe\u{301}") == "old")
        try files.write("new", for: "cafe\u{301}")
        #expect(try scratch.files().count == 1)
        #expect(try files.string("caf\u{E9}") == "new")
    }
}

extension FileSystem {
    /// A volume that takes names for one which differ by case, and keeps that of the first.
    static let withoutCase = FileSystem {
        $0.open = { path, purpose in found(path) { SystemCalls.open($0, purpose) } }
        $0.rename = { path, target in
            found(path) { path in found(target) { SystemCalls.rename(path, $0) } }
        }
        $0.unlink = { path in found(path, SystemCalls.unlink) }
        $0.makeFolder = { path in found(path, SystemCalls.makeFolder) }
        $0.removeFolder = { path in found(path, SystemCalls.removeFolder) }
        $0.statusAt = { path in found(path, SystemCalls.statusAt) }
        $0.list = { path in found(path, SystemCalls.list) }
        $0.spelling = { path in found(path, SystemCalls.spelling) }
    }

    /// Calls `body` with the path as the folders on the way spell it.
    private static func found<Result>(_ path: Path, _ body: (Path) -> Result) -> Result {
        var spelled = ""
        for part in String(cString: path).utf8.split(separator: UInt8(ascii: "/")).map({
            String(Substring($0))
        }) {
            var name = part
            if spelled.contains("/shallows-"),
                case .value(let entries) = (spelled + "/").withCString(SystemCalls.list)
            {
                let names = entries.map { String(decoding: $0.name, as: UTF8.self) }
                name = names.first { $0.lowercased() == part.lowercased() } ?? part
            }
            spelled += "/" + name
        }
        return spelled.withCString(body)
    }
}
