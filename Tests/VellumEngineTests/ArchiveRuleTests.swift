import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.ownThreads)
struct ArchiveRuleTests {
    @Test(arguments: ArchiveRule.all)
    func archivesFollowTheRule(_ rule: ArchiveRule) throws {
        var folders: [TemporaryDirectory] = []
        try rule.check { capacity in
            let folder = try TemporaryDirectory()
            folders.append(folder)
            return try open(folder).archive(named: "rule", capacity: capacity)
        }
    }

    /// The clock starts at the time that the rules use: with a later clock the file would reclaim
    /// entries that are valid to the rules.
    private func open(_ folder: TemporaryDirectory) throws -> DatabaseFile {
        try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: ManualClock().wallClock)
    }

    /// The same rules while another archive of the file is written in between, which must not
    /// affect them.
    @Test(arguments: ArchiveRule.all)
    func archivesFollowTheRuleBesideAnotherArchive(_ rule: ArchiveRule) throws {
        let folder = try TemporaryDirectory()
        let file = try open(folder)
        let other = ArchiveHarness(try file.archive(named: "other", capacity: Capacity(100)))
        var number = 0
        try rule.check { capacity in
            number += 1
            try other.store(count: 60, EntryKey("\(number)"))
            return try file.archive(named: "rule \(number)", capacity: capacity)
        }
        #expect(try other.archive.totals() == StorageUsage(entries: 1, bytes: 60))
    }
}
