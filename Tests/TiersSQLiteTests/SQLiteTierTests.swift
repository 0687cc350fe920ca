import Foundation
import Testing
import Tiers
import TiersSQLite
import TiersTesting

@Suite(.timeLimit(.minutes(1)))
struct SQLiteTierTests {
    @Test(arguments: TierLaw.all)
    func keeps(_ law: TierLaw) throws {
        var folders: [TemporaryStore] = []
        try law.check { capacity in
            let folder = try TemporaryStore()
            folders.append(folder)
            return try SQLiteFile.open(at: folder.file("Archives.sqlite")).tier(named: "law", capacity: capacity)
        }
    }
}
