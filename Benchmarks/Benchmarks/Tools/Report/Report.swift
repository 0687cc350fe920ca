import Foundation
import Samples

/// Prints all measurements of a run as one table, and writes them to the file that the first
/// argument names.
@main
enum Report {
    static func main() throws {
        let workspace = Workspace()
        let outcomes = try workspace.outcomes()
        var limits: [Limit] = []
        for work in Work.allCases {
            let rows = outcomes.filter { $0.work == work }.sorted { $0.order < $1.order }
            guard !rows.isEmpty else { continue }
            print("\n" + work.title)
            for outcome in rows { limits += ComparisonTable.print(outcome) }
        }
        limits += CoderMeans.print(outcomes)
        limits += FigureTable.print(try workspace.figures())
        print("\nLimits: \(limits.count { $0.isMet }) of \(limits.count) met.")
        for limit in limits where !limit.isMet { print("  not met: \(limit.title)") }
        printLosses(outcomes)
        guard CommandLine.arguments.count > 1 else { return }
        let summary = Summary(
            workspace,
            outcomes.sorted { $0.order < $1.order },
            try workspace.figures(),
            limits
        )
        try summary.write(to: URL(fileURLWithPath: CommandLine.arguments[1]))
    }

    /// How often what is ours is slower than what is beside it, whether or not something is
    /// promised.
    private static func printLosses(_ outcomes: [Outcome]) {
        let ratios = outcomes.flatMap { outcome in
            outcome.sides.dropFirst().filter { $0.notRun == nil }.map {
                Summary.ratio(of: outcome.sides[0], to: $0)
            }
        }
        print("Slower than what is beside it: \(ratios.count { $0 > 1 }) of \(ratios.count).")
    }
}

/// A limit, and whether it is met.
struct Limit: Codable {
    var title: String
    var isMet: Bool
}

extension Outcome {
    /// Structs before airports before values by size, few before many.
    fileprivate var order: Int {
        let subjects = [
            "six fields", "nested", "arrays of numbers", "long strings", "optionals and enums",
            "residents", "airports", "100 B", "1 KiB",
            "64 KiB", "4 MiB",
        ]
        let scales = ["8", "100", "1 k", "10 k", "20 k", "28 k", "100 k", "1 M"]
        return (subjects.firstIndex(of: subject) ?? subjects.count) * 20
            + (scales.firstIndex(of: scale) ?? 19)
    }
}
