import Foundation
import Tiers

/// What came of all cases.
final class Figures: Sendable {
    static let shared = Figures()

    private struct Counts: Sendable {
        var cases = 0
        var wrong = 0
        var refused = 0
        var told = 0
        var setAside = 0
        var silent = 0
        var outdated = 0
        var lost = 0
        var expected = 0
        var remains = 0
        var seconds = 0.0
    }

    private let counts = Locked<[Damage.Kind: Counts]>([:])

    func add(_ damage: Damage, _ findings: Findings, of sample: SampleStore) {
        counts.withLock { all in
            var counts = all[damage.kind] ?? Counts()
            counts.cases += 1
            counts.wrong += findings.wrong.count
            counts.refused += findings.refusal == nil ? 0 : 1
            counts.told += findings.isTold ? 1 : 0
            counts.setAside += findings.setAside
            counts.outdated += findings.outdated.isEmpty ? 0 : 1
            counts.expected += sample.present.count
            counts.lost += findings.refusal == nil ? findings.lost.count : 0
            counts.silent += !findings.isTold && !findings.lost.isEmpty ? 1 : 0
            counts.remains += findings.refusal == nil && !findings.remains.isEmpty ? 1 : 0
            counts.seconds += findings.seconds
            all[damage.kind] = counts
        }
        if let path = ProcessInfo.processInfo.environment["VELLUM_DAMAGE_LOG"], let file = FileHandle(forWritingAtPath: path) {
            file.seekToEndOfFile()
            let line =
                "\(damage)\twrong \(findings.wrong)\trefusal \(findings.refusal?.description ?? "-")\ttold \(findings.isTold)\taside \(findings.setAside)\tsalvaged \(findings.salvaged)\tlost \(findings.lost.count)\toutdated \(findings.outdated.count)\tremains \(findings.remains)\n"
            file.write(Data(line.utf8))
            try? file.close()
        }
    }

    func tell(_ kind: Damage.Kind, _ slice: Int) {
        counts.withLock { print("FIGURES \(kind.rawValue) \(slice): \($0[kind] ?? Counts())") }
    }
}
