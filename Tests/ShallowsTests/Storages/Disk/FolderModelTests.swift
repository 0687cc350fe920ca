import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import Shallows

/// Any operations on any keys, in folders that the original wrote into, against a dictionary.
@Suite(.ownThreads)
struct FolderModelTests {
    @Test(arguments: 0..<10 as Range<UInt64>)
    func aFolderBehavesLikeADictionary(seed: UInt64) throws {
        let scratch = try Scratch()
        var generator = SeededGenerator(seed: seed)
        let encoder = generator.element(of: TestEncoder.allCases).encoder
        let rule = generator.element(of: CaseSensitivity.allCases)
        let calls = rule == .insensitive ? FileSystem.withoutCase : .system
        let keys: [Filename] = [
            "", "a", "A", "a/b", "a/c", "A/b", "a/b/c", "a.", "..", "???", "b???", "o?>", "é", "É",
            "e\u{301}", "~sh-p-a",
            Filename(rawValue: String(repeating: "o?", count: 200)),
            Filename(rawValue: String(repeating: "O?", count: 200)),
        ]
        var model: [Filename: String] = [:]

        // What the original can have written: where a name led to another key's file, or to a
        // folder, it does not count.
        for key in keys.shuffled(using: &generator).prefix(6) where model[key] == nil {
            let names = FileNames(encoder: encoder, caseSensitivity: .sensitive)
            let path = encoder.encodedString(representing: key)
            let file = names.file(of: key)
            guard
                ([file.name] + names.originalPaths(of: key, file)).contains(where: {
                    $0.hasSameBytes(as: path)
                })
            else { continue }
            if rule == .insensitive,
                model.keys.contains(where: {
                    $0.rawValue.lowercased().hasPrefix("a") || $0.rawValue.lowercased() == "é"
                })
            {
                continue
            }
            let parts = path.utf8.split(separator: UInt8(ascii: "/"))
            let isBlocked = (1...parts.count).contains { count in
                let prefix = parts.prefix(count).map { String(Substring($0)) }.joined(
                    separator: "/"
                )
                var isFolder: ObjCBool = false
                let isThere = FileManager.default.fileExists(
                    atPath: scratch.folder.path + "/" + prefix,
                    isDirectory: &isFolder
                )
                return isThere && isFolder.boolValue == (count == parts.count)
            }
            guard !isBlocked else { continue }
            try scratch.plant("old \(key.rawValue)", at: path)
            model[key] = "old \(key.rawValue)"
        }

        for step in 0..<LongRun.number(80, usually: 32) {
            let files = FolderFiles(
                .init(
                    folder: scratch.folder,
                    encoder: encoder,
                    caseSensitivity: rule,
                    fileSystem: calls
                )
            )
            let key = generator.element(of: keys)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8:
                try files.write("\(step)", for: key)
                model[key] = "\(step)"
            case 8..<15:
                #expect(
                    try files.remove(key) == (model.removeValue(forKey: key) != nil),
                    "seed \(seed), step \(step)"
                )
            case 15..<19: #expect(try files.string(key) == model[key], "seed \(seed), step \(step)")
            default:
                try files.clear()
                model = [:]
            }
            guard step % 4 == 0 else { continue }
            for key in keys {
                #expect(try files.string(key) == model[key], "seed \(seed), step \(step), \(key)")
            }
            let listed = try files.keys()
            #expect(
                Set(listed) == Set(model.keys) && listed.count == model.count,
                "seed \(seed), step \(step)"
            )
            #expect(try scratch.files().count == model.count, "seed \(seed), step \(step)")
        }
    }
}
