import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

@Suite(.ownThreads)
struct FolderFilesTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(
        _ encoder: TestEncoder = .base64,
        _ rule: CaseSensitivity = .sensitive
    ) -> FolderFiles {
        FolderFiles(.init(folder: scratch.folder, encoder: encoder.encoder, caseSensitivity: rule))
    }

    @Test func aMissingValueIsNil() throws {
        #expect(try files().read("a") == nil)
        #expect(try files().keys().isEmpty)
        #expect(try files().remove("a") == false)
    }

    /// S1, P1, P2, P4, P6.
    @Test(arguments: TestEncoder.allCases, CaseSensitivity.allCases)
    func everyKeyIsSafe(encoder: TestEncoder, rule: CaseSensitivity) throws {
        let files = files(encoder, rule)
        for (index, key) in Filename.tricky.enumerated() {
            try files.write("value \(index)", for: key)
        }
        for (index, key) in Filename.tricky.enumerated() {
            #expect(try files.string(key) == "value \(index)")
        }
        let keys = try files.keys()
        #expect(Set(keys) == Set(Filename.tricky) && keys.count == Filename.tricky.count)
        // Nothing lies outside of the folder or in folders inside it, and there is one file for
        // each key.
        let isFlat = try scratch.contents().allSatisfy { path in
            path == "folder"
                || path.utf8.starts(with: "folder/".utf8)
                    && path.utf8.count { $0 == UInt8(ascii: "/") } == 1
        }
        #expect(isFlat)
        #expect(try scratch.files().count == Filename.tricky.count)
        for key in Filename.tricky {
            #expect(try files.remove(key))
            #expect(try files.read(key) == nil)
        }
        #expect(try scratch.files().isEmpty)
    }

    /// P1.
    @Test func aKeyOf64KiBIsSafe() throws {
        let key = Filename(rawValue: String(repeating: "k", count: 65536))
        try files().write("value", for: key)
        #expect(try files().string(key) == "value")
        #expect(try files().keys() == [key])
    }

    /// P4.
    @Test(arguments: TestEncoder.allCases)
    func bothSpellingsOfAKeyAreOneFile(encoder: TestEncoder) throws {
        try files(encoder).write("one", for: "\u{E9}")
        try files(encoder).write("two", for: "e\u{301}")
        #expect(try files(encoder).string("\u{E9}") == "two")
        #expect(try scratch.files().count == 1)
        #expect(try files(encoder).remove("e\u{301}"))
        #expect(try files(encoder).read("\u{E9}") == nil)
    }

    /// Around the sizes at which reading changes its ways.
    @Test(arguments: [0, 1, 4095, 4096, 4097, 69631, 69632, 69633, 1 << 20, 4 << 20])
    func aValueOfAnySizeIsReadBack(size: Int) throws {
        var generator = SeededGenerator(seed: UInt64(size))
        let words = (0..<(size + 7) / 8).map { _ in generator.next() }
        let value = words.withUnsafeBytes { Data($0.prefix(size)) }
        let long = Filename(rawValue: String(repeating: "k", count: 1000))
        for key in ["key", long] {
            try files().write(value, for: key)
            let read = try #require(try files().read(key))
            #expect(read == value)
            #expect(read.startIndex == 0)
        }
    }

    @Test func aValueIsReplaced() throws {
        try files().write(Data(count: 100_000), for: "a")
        try files().write("b", for: "a")
        #expect(try files().string("a") == "b")
        #expect(try scratch.files().count == 1)
    }

    @Test func aSliceOfDataIsWrittenAsItIs() throws {
        try files().write(Data("0123456789".utf8)[3..<6], for: "a")
        #expect(try files().string("a") == "345")
    }

    @Test func aValueThatWasReadCanBeChanged() throws {
        let long = Filename(rawValue: String(repeating: "k", count: 1000))
        for key in ["key", long] {
            try files().write(Data(repeating: 1, count: 100_000), for: key)
            var value = try #require(try files().read(key))
            value.append(2)
            value[0] = 3
            #expect(
                value.count == 100_001 && value[0] == 3 && value[100_000] == 2 && value[99_999] == 1
            )
        }
    }

    @Test func aFileAndItsFolderAreTheirOwnersAlone() throws {
        let deep = scratch.folder.appendingPathComponent("a/b")
        let files = FolderFiles(.init(folder: deep, encoder: .noEncoding))
        try files.write("value", for: "key")
        for (path, mode) in [("", 0o700), ("/a", 0o700), ("/a/b", 0o700), ("/a/b/key", 0o600)] {
            #expect(
                try FileManager.default.attributesOfItem(atPath: scratch.folder.path + path)[
                    .posixPermissions
                ] as? Int == mode
            )
        }
    }

    @Test func theNameOfAFileIsWhereItsValueIs() throws {
        try files().write("value", for: "a/b?")
        let url = scratch.folder.appendingPathComponent(files().fileName(for: "a/b?"))
        #expect(try Data(contentsOf: url) == Data("value".utf8))
        #expect(files().fileName(for: "foo") == "Zm9v")
        let long = Filename(rawValue: String(repeating: "k", count: 1000))
        try files().write("value", for: long)
        #expect(
            FileManager.default.fileExists(
                atPath: scratch.folder.path + "/" + files().fileName(for: long)
            )
        )
    }

    /// P7.
    @Test func aFolderThatWasRemovedIsMadeAgain() throws {
        let files = files()
        try files.write("one", for: "a")
        try FileManager.default.removeItem(at: scratch.folder)
        #expect(try files.read("a") == nil)
        #expect(try files.remove("a") == false)
        #expect(try files.keys().isEmpty)
        try files.write("two", for: "a")
        #expect(try files.string("a") == "two")
    }

    /// P7: between the two steps of a write.
    @Test func aFolderThatIsRemovedWhileAValueIsWrittenIsMadeAgain() throws {
        let url = scratch.folder
        let removals = Countdown(2)
        let calls = FileSystem {
            $0.rename = { path, target in
                if removals.next() { #expect(unlink(path) == 0 && rmdir(url.path) == 0) }
                return SystemCalls.rename(path, target)
            }
        }
        let files = FolderFiles(.init(folder: url, fileSystem: calls))
        try files.write("value", for: "a")
        #expect(try files.string("a") == "value")
        #expect(removals.next() == false)
    }

    @Test func theFolderItselfCanBeALink() throws {
        let target = scratch.url.appendingPathComponent("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: scratch.folder, withDestinationURL: target)
        try files().write("value", for: "a")
        #expect(try files().keys() == ["a"])
        try files().clear()
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
        try files().write("value", for: "a")
    }

    @Test func aFolderCanHaveNoEndInASlashOrOne() throws {
        let slashed = FolderFiles(
            .init(folder: URL(fileURLWithPath: scratch.folder.path + "/", isDirectory: true))
        )
        try slashed.write("value", for: "a")
        #expect(try files().string("a") == "value")
    }

    @Test func manyThreadsSeeWholeValuesAlone() async throws {
        let files = files()
        let long = Filename(rawValue: String(repeating: "k", count: 1000))
        let keys: [Filename] = ["a", "o?>", long]
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(task))
                    for _ in 0..<100 {
                        let key = generator.element(of: keys)
                        switch Int.random(in: 0..<4, using: &generator) {
                        case 0:
                            let byte = UInt8.random(in: .min ... .max, using: &generator)
                            #expect(throws: Never.self) {
                                try files.write(
                                    Data(repeating: byte, count: 1 + Int(byte) * 500),
                                    for: key
                                )
                            }
                        case 1: #expect(throws: Never.self) { try files.remove(key) }
                        case 2: #expect(throws: Never.self) { try files.keys() }
                        default:
                            #expect(throws: Never.self) {
                                guard let value = try files.read(key) else { return }
                                #expect(value.count == 1 + Int(value[0]) * 500)
                                #expect(value.allSatisfy { $0 == value[0] })
                            }
                        }
                    }
                }
            }
        }
        for key in keys { _ = try files.remove(key) }
        #expect(try scratch.files().isEmpty)
    }
}
