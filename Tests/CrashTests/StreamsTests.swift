import Foundation
import TestThreads
import Testing
import VellumEngine
import VellumTestSupport

/// What a program writes to its standard streams never reaches a file, whichever of them were
/// closed (FS1).
@Suite(.ownThreads)
struct StreamsTests {
    /// In every run each of them alone, and all.
    private static let masks = LongRun.number(8, usually: 4) == 8 ? Array(0..<8) : [1, 2, 4, 7]

    @Test(arguments: masks, ["first", "later"])
    func noFileHasTheDescriptorOfAStream(mask: Int, moment: String) throws {
        let folder = try TemporaryDirectory()
        _ = try Spawned(["streams", folder.url.path, "\(mask)", moment]).end()
        let result = try String(
            contentsOf: folder.url.appendingPathComponent("result"),
            encoding: .utf8
        )
        #expect(result == "50 objects, 50 values, 50 files")
        for (path, kind) in [("archives", FileKind.archives), ("caches", .caches)] {
            let files = try FileManager.default.contentsOfDirectory(
                atPath: folder.url.appendingPathComponent("files/\(path)").path
            )
            let name = try #require(files.first { $0.hasSuffix(".sqlite") })
            let file = try DatabaseFile.open(
                at: folder.url.appendingPathComponent("files/\(path)/\(name)"),
                kind: kind
            )
            #expect(try file.verify().isIntact)
        }
    }
}
