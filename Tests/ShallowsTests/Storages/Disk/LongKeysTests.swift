import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.ownThreads)
struct LongKeysTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let keys = (0..<5).map {
        Filename(rawValue: String(repeating: "k", count: 1000) + "\($0)")
    }

    private var files: FolderFiles { FolderFiles(.init(folder: scratch.folder)) }

    /// P3. The keys differ in their last letter.
    @Test func everyLongKeyHasAFileOfItsOwn() throws {
        try files.write("zero", for: Self.keys[0])
        #expect(try files.read(Self.keys[1]) == nil)
        #expect(try files.remove(Self.keys[1]) == false)
        for (index, key) in Self.keys.enumerated() { try files.write("\(index)", for: key) }
        for (index, key) in Self.keys.enumerated() { #expect(try files.string(key) == "\(index)") }
        #expect(try Set(files.keys()) == Set(Self.keys))
        #expect(try scratch.files().count == 5)
        #expect(try files.remove(Self.keys[3]))
        #expect(try files.read(Self.keys[3]) == nil)
        #expect(try Set(files.keys()).count == 4)
    }

    /// P36: power was lost while it was written, or somebody else wrote it.
    @Test(arguments: [
        "", "too short", "long enough, but without the mark",
        "\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}shallows",
    ])
    func aDamagedFileIsAMissAndIsReplaced(damage: String) throws {
        try files.write("value", for: Self.keys[0])
        let name = try #require(try scratch.files().first)
        try scratch.plant(damage, at: name)
        #expect(try files.read(Self.keys[0]) == nil)
        #expect(try files.keys().isEmpty)
        try files.write("new", for: Self.keys[0])
        #expect(try files.string(Self.keys[0]) == "new")
        #expect(try scratch.files() == [name])
    }

    @Test func theFileOfAnotherKeyUnderTheNameIsAMiss() throws {
        try files.write("value", for: Self.keys[0])
        let (own, other) = (files.fileName(for: Self.keys[0]), files.fileName(for: Self.keys[1]))
        try FileManager.default.moveItem(
            at: scratch.folder.appendingPathComponent(own),
            to: scratch.folder.appendingPathComponent(other)
        )
        #expect(try files.read(Self.keys[1]) == nil)
        #expect(try files.keys().isEmpty)
    }

    @Test func aFolderOfTheNameIsReported() throws {
        try scratch.plant("foreign", at: files.fileName(for: Self.keys[0]) + "/file")
        #expect(try files.read(Self.keys[0]) == nil)
        let failure = #expect(throws: FileError.self) {
            try files.write("value", for: Self.keys[0])
        }
        #expect(failure?.code == EISDIR)
    }
}
