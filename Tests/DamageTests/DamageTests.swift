import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C14: whatever happens to the files, nothing crashes, no value is another's, and what can be read is kept.
@Suite(.timeLimit(.minutes(DamagePlan.isWhole || DamagePlan.sampled > 100 ? 120 : 60)))
struct DamageTests {
    static let sample = Result { try SampleStore(pageSize: 512, seed: 1) }
    static let another = Result { try SampleStore(pageSize: 512, seed: 2) }
    static let slices = DamagePlan.isWhole ? 4 : 2

    @Test(arguments: Damage.Kind.allCases, 0..<slices)
    func noDamageIsReadAsAValueOrEndsTheProcess(_ kind: Damage.Kind, _ slice: Int) async throws {
        let (sample, another) = try (Self.sample.get(), Self.another.get())
        let folder = try DamageFolder()
        let examination = Examination(folder: folder.url, sample: sample)
        let damages = DamagePlan.chosen(kind, of: sample, slice: slice, of: Self.slices)
        let slot = Damage.Kind.allCases.firstIndex(of: kind)! * 2 % 12 + slice
        for damage in damages {
            CaseGuard.begin("\(damage)", slice: slot)
            let findings = await examination.examine(
                damage.applied(to: sample, another: another), besides: damage.bringsAnother ? another.history : [:])
            CaseGuard.end(slice: slot)
            Figures.shared.add(damage, findings, of: sample)
            #expect(findings.wrong == [], "\(damage)")
            if findings.seconds > 5 {
                // How long a sound store takes at this moment is the measure: the machine may be busy.
                let sound = await examination.examine(sample.files).seconds
                #expect(findings.seconds < 100 * sound, "\(damage)")
            }
            #expect(!findings.isBroken, "\(damage) is not mended by opening again: \(findings.remains)")
            let losesTheEnd = damage.damaged.contains("-wal") || damage.isOlderWhole
            #expect(findings.outdated.isEmpty || findings.isTold || losesTheEnd, "\(damage) brings back what was overwritten")
            #expect(findings.lost.isEmpty || findings.isTold || damage.leavesNothing, "\(damage) hides something and nobody is told")
        }
        Figures.shared.tell()
    }

    /// P36: what is allocated is in proportion to the files.
    @Test func fewBytesOfMemoryAreTaken() throws {
        _ = try Self.sample.get()
        #expect(Figures.memoryOfDatabases() < 64 << 20)
    }
}
