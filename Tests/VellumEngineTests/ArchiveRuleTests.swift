import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.timeLimit(.minutes(60)))
struct ArchiveRuleTests {
    @Test(arguments: ArchiveRule.all)
    func keeps(_ law: ArchiveRule) throws {
        var folders: [TemporaryDirectory] = []
        try law.check { capacity in
            let folder = try TemporaryDirectory()
            folders.append(folder)
            return try open(folder).archive(named: "law", capacity: capacity)
        }
    }

    /// At the moment at which the laws begin: a file whose clock is ahead would sweep what is valid to them.
    private func open(_ folder: TemporaryDirectory) throws -> DatabaseFile {
        try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: ManualClock().wallClock)
    }

    /// The same with another archive in the file that writes in between, which must change nothing.
    @Test(arguments: ArchiveRule.all)
    func keepsBesideAnotherArchive(_ law: ArchiveRule) throws {
        let folder = try TemporaryDirectory()
        let file = try open(folder)
        let other = ArchiveHarness(try file.archive(named: "other", capacity: Capacity(100)))
        var number = 0
        try law.check { capacity in
            number += 1
            try other.store(count: 60, EntryKey("\(number)"))
            return try file.archive(named: "law \(number)", capacity: capacity)
        }
        #expect(try other.archive.totals() == StorageUsage(entries: 1, bytes: 60))
    }
}
