import Foundation
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Public bug reports about long chains of objects. Where this fails, the process may end: kept
/// apart from the others.
@Suite(.ownThreads)
struct ChainReportTests {
    final class Block: Archivable {
        let primaryKey: String
        var previous: Block?

        init(_ primaryKey: String, previous: Block? = nil) {
            (self.primaryKey, self.previous) = (primaryKey, previous)
        }

        func archive() throws -> Data { Data(primaryKey.utf8) }

        static func deArchive(fromData data: Data) throws -> any Archivable {
            Block(String(decoding: data, as: UTF8.self))
        }
    }

    /// realm/realm-swift#5906: writing an object at the end of a chain of 2,000 ends the process.
    @Test(arguments: [100, 2000, 10_000])
    func aLongChainOfObjectsIsRecorded(count: Int) throws {
        let temporary = TemporaryArchives()
        let blocks = try temporary.factory.store(for: Block.self, diskLimit: 50.megaByte)
        var chain = (1..<count).reduce(Block("0")) { Block("\($1)", previous: $0) }
        do {
            try blocks.record(chain)
            #expect(try blocks.count() == count)
        } catch let error as VellumError {
            // Refused: then nothing is recorded.
            #expect(count > 100)
            #expect(try blocks.count() == 0, "\(error)")
        }
        // One after the other, because releasing the chain at once recurses, too.
        while let previous = chain.previous {
            chain.previous = nil
            chain = previous
        }
    }
}
