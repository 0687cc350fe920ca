import Foundation
import VellumCore
import VellumEngine

#if canImport(SQLite3)
    import SQLite3
#else
    import CSQLite
#endif

/// The results of all cases.
final class Figures: Sendable {
    static let shared = Figures()

    private struct Counts: Sendable {
        var cases: [Damage.Kind: Int] = [:]
        var wrong = 0
        var reported = 0
        var refused = 0
        var setAside = 0
        var salvaged = 0
        var lost = 0
    }

    private let counts = Locked(Counts())
    /// The file for a line about each case, if any.
    private let log = ProcessInfo.processInfo.environment["VELLUM_DAMAGE_LOG"].flatMap {
        fopen($0, "a")
    }.map { UInt(bitPattern: $0) }

    func add(_ damage: Damage, _ findings: Findings, of sample: SampleStore) {
        counts.withLock { counts in
            counts.cases[damage.kind, default: 0] += 1
            counts.wrong += findings.wrong.count
            counts.reported += findings.isReported ? 1 : 0
            counts.refused += findings.refusal == nil ? 0 : 1
            counts.setAside += findings.setAside
            counts.salvaged += findings.salvaged
            counts.lost += findings.refusal == nil ? findings.lost.count : 0
        }
        if let log, let file = UnsafeMutablePointer<FILE>(bitPattern: log) {
            let parts = [
                "\(damage)", "wrong \(findings.wrong)",
                "refusal \(findings.refusal?.description ?? "-")",
                "reported \(findings.isReported)",
                "aside \(findings.setAside)", "salvaged \(findings.salvaged)",
                "lost \(findings.lost.count)",
                "outdated \(findings.outdated.count)", "remains \(findings.remains)",
            ]
            fputs(parts.joined(separator: "\t") + "\n", file)
        }
    }

    /// Prints the results so far.
    func printSummary() {
        let counts = counts.withLock { $0 }
        let cases = Damage.Kind.allCases.map { "\($0.rawValue)=\(counts.cases[$0] ?? 0)" }.joined(
            separator: " "
        )
        print(
            """
            FIGURES \(cases) crashes=0 wrongValues=\(counts.wrong) reported=\(counts.reported) \
            refused=\(counts.refused) setAside=\(counts.setAside) salvaged=\(counts.salvaged) \
            lost=\(counts.lost)
            """
        )
    }

    /// The largest number of bytes that SQLite has held in this process.
    static func memoryOfDatabases() -> Int { Int(sqlite3_memory_highwater(0)) }
}
