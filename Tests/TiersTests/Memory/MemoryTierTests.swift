import Testing
import Tiers
import TiersTesting

@Suite(.timeLimit(.minutes(1)))
struct MemoryTierTests {
    @Test(arguments: TierLaw.all)
    func keeps(_ law: TierLaw) throws {
        try law.check { capacity in MemoryTier<Entry>(capacity: capacity) }
    }
}
