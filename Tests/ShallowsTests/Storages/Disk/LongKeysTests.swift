import Foundation
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.timeLimit(.minutes(1)))
struct LongKeysTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let keys = (0..<5).map { Filename(rawValue: String(repeating: "k", count: 1000) + "\($0)") }

    /// Every key has the same digest.
    private func colliding(_ encoder: Filename.Encoder = .base64) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, encoder: encoder, digest: KeyDigest { _ in (0, 7) }))
    }

    /// P3.
    @Test func anEqualDigestNeverGivesAnotherKeysValue() throws {
        let files = colliding()
        try files.write("zero", for: Self.keys[0])
        #expect(try files.read(Self.keys[1]) == nil)
        #expect(try files.remove(Self.keys[1]) == false)
        #expect(try files.string(Self.keys[0]) == "zero")
    }

    /// P3.
    @Test func keysOfOneDigestAllHaveAFile() throws {
        let files = colliding()
        for (index, key) in Self.keys.enumerated() { try files.write("\(index)", for: key) }
        for (index, key) in Self.keys.enumerated() { #expect(try files.string(key) == "\(index)") }
        #expect(try Set(files.keys()) == Set(Self.keys))
        #expect(try scratch.files().count == 5)
        try files.write("new", for: Self.keys[3])
        #expect(try files.string(Self.keys[3]) == "new")
        #expect(try scratch.files().count == 5)
    }

    @Test(arguments: 0..<5)
    func removingOneOfThemKeepsTheOthers(removed: Int) throws {
        let files = colliding()
        for (index, key) in Self.keys.enumerated() { try files.write("\(index)", for: key) }
        #expect(try files.remove(Self.keys[removed]))
        for (index, key) in Self.keys.enumerated() { #expect(try files.string(key) == (index == removed ? nil : "\(index)")) }
        #expect(try scratch.files().count == 4)
    }

    /// P11: as many files as keys, after any operations.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func anyOperationsLeaveOneFileForEachKey(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var model: [Filename: String] = [:]
        let files = colliding(.noEncoding)
        for step in 0..<100 {
            let key = generator.element(of: Self.keys)
            if Bool.random(using: &generator) {
                try files.write("\(step)", for: key)
                model[key] = "\(step)"
            } else {
                #expect(try files.remove(key) == (model.removeValue(forKey: key) != nil), "seed \(seed)")
            }
            for key in Self.keys { #expect(try files.string(key) == model[key], "seed \(seed)") }
            #expect(try scratch.files().count == model.count, "seed \(seed)")
        }
        #expect(try Set(files.keys()) == Set(model.keys))
    }

    /// P36: power was lost while it was written, or somebody else wrote it.
    @Test(arguments: ["", "too short", "long enough, but without the mark", "\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}shallows"])
    func aDamagedFileIsAMissAndIsReplaced(damage: String) throws {
        let files = colliding()
        try files.write("value", for: Self.keys[0])
        let name = try #require(try scratch.files().first)
        try scratch.plant(damage, at: name)
        #expect(try files.read(Self.keys[0]) == nil)
        #expect(try files.keys().isEmpty)
        try files.write("new", for: Self.keys[0])
        #expect(try files.string(Self.keys[0]) == "new")
        #expect(try scratch.files() == [name])
    }

    @Test func aDamagedFileDoesNotHideOthers() throws {
        let files = colliding()
        for (index, key) in Self.keys.prefix(3).enumerated() { try files.write("\(index)", for: key) }
        try scratch.plant("damage", at: LongKeyFile.name(digest: KeyDigest { _ in (0, 7) }.digits(of: ""), number: 0))
        #expect(try files.string(Self.keys[1]) == "1")
        #expect(try files.string(Self.keys[2]) == "2")
        try files.write("new", for: Self.keys[2])
        #expect(try files.string(Self.keys[2]) == "new")
        #expect(try files.remove(Self.keys[1]))
        #expect(try files.string(Self.keys[2]) == "new")
        #expect(try files.remove(Self.keys[2]))
        #expect(try files.read(Self.keys[2]) == nil)
    }

    /// As one that is damaged.
    @Test(arguments: [EACCES, EIO])
    func aFileThatCannotBeReadIsReplaced(code: Int32) throws {
        let key = Self.keys[0]
        try FolderFiles(.init(folder: scratch.folder)).write("old", for: key)
        let refusals = Countdown(1)
        let calls = FileSystem {
            $0.open = { path, purpose in
                purpose == .reading && refusals.next() ? -code : SystemCalls.open(path, purpose)
            }
        }
        let files = FolderFiles(.init(folder: scratch.folder, fileSystem: calls))
        try files.write("new", for: key)
        #expect(try files.string(key) == "new")
        #expect(try scratch.files().count == 1)
    }

    @Test func aFolderInTheWayIsPassed() throws {
        let name = LongKeyFile.name(digest: KeyDigest { _ in (0, 7) }.digits(of: ""), number: 0)
        try scratch.plant("foreign", at: name + "/file")
        let files = colliding()
        try files.write("value", for: Self.keys[0])
        #expect(try files.string(Self.keys[0]) == "value")
        #expect(try files.remove(Self.keys[0]))
        #expect(try files.read(Self.keys[0]) == nil)
    }

    @Test func aLongKeyIsFoundUnderTheOtherBase64() throws {
        let key = Filename(rawValue: String(repeating: "o?>", count: 100))
        try colliding(.base64).write("one", for: key)
        #expect(try colliding(.base64URL).string(key) == "one")
        try colliding(.base64URL).write("two", for: key)
        #expect(try colliding(.base64).string(key) == "two")
        #expect(try scratch.files().count == 1)
        #expect(try colliding(.base64).keys() == [key])
    }
}
