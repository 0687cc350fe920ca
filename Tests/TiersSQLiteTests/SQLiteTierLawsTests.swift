import Foundation
import Testing
import Tiers
import TiersSQLite
import TiersTesting

@Suite(.timeLimit(.minutes(1)))
struct SQLiteTierLawsTests {
    @Test(arguments: TierLaw.all)
    func keeps(_ law: TierLaw) throws {
        var folders: [TemporaryStore] = []
        try law.check { capacity in
            let folder = try TemporaryStore()
            folders.append(folder)
            return try SQLiteFile.open(at: folder.file("Archives.sqlite")).tier(named: "law", capacity: capacity)
        }
    }

    /// The same with another archive in the file that writes in between, which must change nothing.
    @Test(arguments: TierLaw.all)
    func keepsBesideAnotherArchive(_ law: TierLaw) throws {
        let folder = try TemporaryStore()
        let file = try SQLiteFile.open(at: folder.file("Archives.sqlite"))
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
