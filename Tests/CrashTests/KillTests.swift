import CrashScript
import Foundation
import Testing
import Tiers
import TiersSQLite
import TiersTesting

/// Processes that are killed at any instant and between any two steps leave what was acknowledged, whole.
///
/// With `VELLUM_KILLS` in the environment there are thousands, and every point is one of them twenty times; `VELLUM_SEED` draws others.
@Suite(.timeLimit(.minutes(60)), .serialized)
struct KillTests {
    private static var seed: UInt64 { ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 6 }

    private let tally = Tally.shared

    private func expectNothingLost(_ failures: [String]) {
        #expect(failures == [])
        #expect(tally.now.problems == [])
        tally.printFigures()
    }

    @Test(arguments: Script.allCases)
    func aScriptThatIsNotKilledDoesWhatTheModelSays(_ script: Script) throws {
        let lane = try Lane(script)
        for seed in 1...2 as ClosedRange<UInt64> {
            let result = try lane.round(.none, seed: seed, count: 40, isFresh: false)
            #expect(result.problems == [], "seed \(seed)")
        }
    }

    @Test func aProcessThatIsKilledAtAnyInstantLeavesWhatItAcknowledged() {
        let kills = Tally.count(100, sample: 2)
        expectNothingLost(
            inPairs(
                Script.allCases.enumerated().map { number, script in
                    { try Killer(script: script, tally: tally).killFromOutside(kills, seed: Self.seed &+ UInt64(number)) }
                }))
    }

    /// The points that a script reaches. Those of recovery and of files of the original MiniCache have tests of their own.
    @Test func aProcessThatIsKilledBetweenAnyTwoStepsLeavesWhatItAcknowledged() throws {
        let passings = Locked<[Script: [CrashPoint: Int]]>([:])
        var failures = inPairs(
            Script.allCases.map { script in
                {
                    let counts = try Killer(script: script, tally: tally).passings(seed: Self.seed)
                    passings.withLock { $0[script] = counts }
                }
            })
        let counted = passings.withLock { $0 }
        var random = SeededGenerator(seed: Self.seed)
        var work: [@Sendable () throws -> Void] = []
        for point in CrashPoint.ofScripts {
            // Where it is passed often a child surely gets there; but every script that reaches it has its turn.
            let scripts = Script.allCases.filter { counted[$0]?[point] ?? 0 > 0 }
            #expect(!scripts.isEmpty, "No script reaches \(point).")
            let kills = Tally.count(20, sample: scripts.isEmpty ? 0 : 1)
            for (number, script) in scripts.shuffled(using: &random).prefix(Tally.isFull ? 2 : 1).enumerated() {
                let (seed, passings) = (random.next(), counted[script]?[point] ?? 1)
                work.append {
                    let share = number == 0 ? kills : kills / 2
                    try Killer(script: script, tally: tally).kill(at: point, share, passings: passings, seed: seed)
                }
            }
        }
        failures += inPairs(work)
        let killed = tally.now.killsAtPoints
        for point in CrashPoint.ofScripts {
            #expect(killed[point] ?? 0 >= Tally.count(20, sample: 1), "Seed \(Self.seed): too few died at \(point).")
        }
        expectNothingLost(failures)
    }
}

extension CrashPoint {
    /// Those that only the recovery of a damaged file passes.
    static let ofRecovery: [CrashPoint] = [
        .damageMarked, .damagedFileMoved, .freshFileMade, .salvageBegins, .salvageBatchCommitted, .salvaged,
    ]

    /// Those that only a file of the original MiniCache lets anyone pass.
    static let ofTakeover: [CrashPoint] = [
        .originalLocked, .takeoverBegins, .takeoverBatchCommitted, .takeoverCopied, .takeoverCompleted, .originalMoved, .takeoverInPlace,
    ]

    static let ofScripts = allCases.filter { !ofRecovery.contains($0) && !ofTakeover.contains($0) }
}
