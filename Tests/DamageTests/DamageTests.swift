import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C14: whatever happens to the files, nothing crashes, no value is returned for another key, and
/// everything readable is kept.
@Suite(.ownThreads(.longSuite))
struct DamageTests {
    static let sample = Result { try SampleStore(pageSize: 512, seed: 1) }
    static let another = Result { try SampleStore(pageSize: 512, seed: 2) }
    static let slices = DamagePlan.isWhole ? 4 : 2

    @Test(arguments: Damage.Kind.allCases, 0..<slices)
    func damageNeverReturnsWrongValuesOrCrashes(_ kind: Damage.Kind, _ slice: Int) async throws {
        let (sample, another) = try (Self.sample.get(), Self.another.get())
        let folder = try DamageFolder()
        let examination = Examination(folder: folder.url, sample: sample)
        let damages = DamagePlan.chosen(kind, of: sample, slice: slice, of: Self.slices)
        let slot = try #require(Damage.Kind.allCases.firstIndex(of: kind)) * 2 % 12 + slice
        Work.damages.count(damages.count)
        for damage in damages {
            CaseGuard.begin("\(damage)", slice: slot)
            let findings = await examination.examine(
                damage.applied(to: sample, another: another),
                besides: damage.bringsAnother ? another.history : [:]
            )
            CaseGuard.end(slice: slot)
            Figures.shared.add(damage, findings, of: sample)
            #expect(findings.wrong == [], "\(damage)")
            #expect(
                !findings.isBroken,
                "\(damage) is not repaired by opening again: \(findings.remains)"
            )
            let losesTheEnd = damage.damaged.contains("-wal") || damage.isOlderWhole
            #expect(
                findings.outdated.isEmpty || findings.isReported || losesTheEnd,
                "\(damage) brings back what was overwritten"
            )
            #expect(
                findings.lost.isEmpty || findings.isReported || damage.leavesNothing,
                "\(damage) loses entries without a report"
            )
        }
        Figures.shared.printSummary()
    }

    /// P36: memory use is proportional to the size of the files.
    @Test func memoryUseIsBoundedByTheSizeOfTheFiles() throws {
        _ = try Self.sample.get()
        // Of the whole process, where other suites may run beside this one.
        #expect(Figures.memoryOfDatabases() < 256 << 20)
    }
}
