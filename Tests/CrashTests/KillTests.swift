import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Processes killed at any time and between any two steps leave every acknowledged write intact.
///
/// `VELLUM_KILLS` in the environment runs thousands of kills, with twenty at each point;
/// `VELLUM_SEED` changes the random numbers.
@Suite(.ownThreads(.longSuite), .serialized)
struct KillTests {
    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 6
    }

    private let tally = Tally.shared

    private func expectNothingLost(_ failures: [String]) {
        #expect(failures == [])
        #expect(tally.now.problems == [])
        tally.printFigures()
    }

    @Test func aProcessKilledAtAnyTimeKeepsAcknowledgedWrites() async {
        let kills = Tally.count(100, sample: 1)
        expectNothingLost(
            await allTogether(
                Script.allCases.enumerated().map { number, script in
                    {
                        try Killer(script: script, tally: tally).killFromOutside(
                            kills,
                            seed: Self.seed &+ UInt64(number)
                        )
                    }
                }
            )
        )
    }

    /// The points that a script reaches. Those of recovery and of files of the original MiniCache
    /// have separate tests.
    @Test func aProcessKilledBetweenAnyTwoStepsKeepsAcknowledgedWrites() async {
        let passings = Locked<[Script: [CrashPoint: Int]]>([:])
        var failures = await allTogether(
            Script.allCases.map { script in
                {
                    let counts = try Killer(script: script, tally: tally).passings(seed: Self.seed)
                    passings.withLock { $0[script] = counts }
                }
            }
        )
        let counted = passings.withLock { $0 }
        var random = SeededGenerator(seed: Self.seed)
        let isEnough: (Int) -> Bool = { $0 >= Tally.count(20, sample: 1) }
        var work: [@Sendable () throws -> Void] = []
        // The sample kills once at each of the points that one child of each script passes.
        let reached = CrashPoint.ofScripts.filter { point in
            counted.values.contains { $0[point] ?? 0 > 0 }
        }
        let points = Tally.isFull ? CrashPoint.ofScripts : reached
        for point in points {
            // The child that passes the point most often certainly reaches it; others may reach it,
            // too.
            let scripts = Script.allCases.filter { counted[$0]?[point] ?? 0 > 0 }.sorted {
                counted[$0]?[point] ?? 0 > counted[$1]?[point] ?? 0
            }
            #expect(!scripts.isEmpty, "Seed \(Self.seed): no script reaches \(point).")
            for (number, script) in scripts.prefix(Tally.count(3, sample: 1)).enumerated() {
                let (seed, passings) = (random.next(), counted[script]?[point] ?? 1)
                let kills = number == 0 ? Tally.count(20, sample: 1) : 8
                work.append {
                    try Killer(script: script, tally: tally).kill(
                        at: point,
                        kills,
                        passings: passings,
                        seed: seed
                    )
                }
            }
        }
        failures += await allTogether(work)
        // Background work may start only after the end of so short a process: then others are
        // killed.
        await until("enough processes have died at each point, with the seed \(Self.seed)") {
            let killed = tally.now.killsAtPoints
            let missing = points.filter { !isEnough(killed[$0] ?? 0) }
            guard missing.count > (Tally.isFull ? 0 : points.count / 4) else { return true }
            failures += await allTogether(
                missing.compactMap { point in
                    let most = Script.allCases.max {
                        counted[$0]?[point] ?? 0 < counted[$1]?[point] ?? 0
                    }
                    guard let script = most, let passings = counted[script]?[point] else {
                        return nil
                    }
                    let (killer, seed) = (Killer(script: script, tally: tally), random.next())
                    return { try killer.kill(at: point, 1, passings: passings, seed: seed) }
                }
            )
            return false
        }
        expectNothingLost(failures)
    }
}

extension CrashPoint {
    /// The points that only the recovery of a damaged file passes.
    static let ofRecovery: [CrashPoint] = [
        .damageMarked, .damagedFileRetired, .replacementBegins, .salvageBegins,
        .salvageBatchCommitted, .salvaged, .asidePathRecorded,
        .replacementCompleted, .damagedFileMoved, .damagedFileAside, .replacementInPlace,
    ]

    /// The points that only the import of data of an original library passes.
    static let ofOriginals: [CrashPoint] = [.originalMoved, .originalsImported]

    /// The points that only a backup passes.
    static let ofBackups: [CrashPoint] = [
        .backupCreated, .backupPortionCopied, .backupCopied, .backupSynced, .backupInPlace,
    ]

    /// The points that only a removal on a full disk passes.
    static let ofFullDisks: [CrashPoint] = [.removalsMarked, .removedDeleted]

    static let ofScripts = allCases.filter {
        !(ofRecovery + ofOriginals + ofBackups + ofFullDisks).contains($0)
    }
}
