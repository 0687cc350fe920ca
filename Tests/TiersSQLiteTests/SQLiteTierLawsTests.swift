import Foundation
import Testing
import Tiers
import TiersSQLite
import TiersTesting

@Suite(.timeLimit(.minutes(60)))
struct SQLiteTierLawsTests {
    @Test(arguments: TierLaw.all)
    func keeps(_ law: TierLaw) throws {
        var folders: [TemporaryStore] = []
        try law.check { capacity in
            let folder = try TemporaryStore()
            folders.append(folder)
            return try open(folder).tier(named: "law", capacity: capacity)
        }
    }

    /// At the moment at which the laws begin: a file whose clock is ahead would sweep what is valid to them.
    private func open(_ folder: TemporaryStore) throws -> SQLiteFile {
        try SQLiteFile.open(at: folder.file("Archives.sqlite"), clock: ManualClock().wallClock)
    }

    /// The same with another archive in the file that writes in between, which must change nothing.
    @Test(arguments: TierLaw.all)
    func keepsBesideAnotherArchive(_ law: TierLaw) throws {
        let folder = try TemporaryStore()
        let file = try open(folder)
        let other = TierDriver(try file.tier(named: "other", capacity: Capacity(100)))
        var number = 0
        try law.check { capacity in
            number += 1
            try other.store(count: 60, EntryKey("\(number)"))
            return try file.tier(named: "law \(number)", capacity: capacity)
        }
        #expect(try other.tier.totals() == TierTotals(entries: 1, bytes: 60))
    }
}
