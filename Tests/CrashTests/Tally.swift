import CrashScript
import Foundation
import VellumCore
import VellumEngine

/// Counts of the kill tests, for the figures at their end.
final class Tally: Sendable {
    static let shared = Tally()

    struct Counts {
        var kills = 0
        var killsAtPoints: [CrashPoint: Int] = [:]
        var openings: [Duration] = []
        var problems: [String] = []
    }

    private let counts = Locked(Counts())

    /// Whether this is the full run with thousands of kills.
    static var isFull: Bool { ProcessInfo.processInfo.environment["VELLUM_KILLS"] != nil }

    /// The number of kills of a kind: `sample` in a short run.
    static func count(_ full: Int, sample: Int) -> Int { isFull ? full : sample }

    func add(_ result: CrashSeries.Result, _ death: CrashSeries.Death) {
        counts.withLock { counts in
            if result.wasKilled {
                counts.kills += 1
                if case .at(let point, _) = death { counts.killsAtPoints[point, default: 0] += 1 }
            }
            if result.opening > .zero { counts.openings.append(result.opening) }
            counts.problems += result.problems
        }
    }

    var now: Counts { counts.withLock { $0 } }

    /// Prints the figures so far.
    func printFigures() {
        let now = now
        let openings = now.openings.sorted()
        let median = openings.isEmpty ? Duration.zero : openings[openings.count / 2]
        let least = now.killsAtPoints.values.min() ?? 0
        print(
            """
            FIGURES kills=\(now.kills) points=\(now.killsAtPoints.count) perPointMinimum=\(least) \
            lost=\(now.problems.count) openingMedian=\(median) \
            openingSlowest=\(openings.last ?? .zero)
            """
        )
    }
}
