import CrashScript
import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

/// A backup whose process is killed is whole and of one moment, or is not there, while two other
/// processes write.
///
/// `VELLUM_BACKUP_KILLS` is the number of kills, and `VELLUM_SEED` another seed.
@Suite(.ownThreads(.longSuite), .serialized)
struct BackupKillTests {
    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    private let folder: TemporaryDirectory
    private let targets: TemporaryDirectory

    init() throws { (folder, targets) = (try TemporaryDirectory(), try TemporaryDirectory()) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: targets.url.path) }
    }

    /// - Returns: How many copies there are.
    private func checkCopies(_ death: String) throws -> Int {
        let copies = try names.filter { $0.hasSuffix(".sqlite") }
        for name in copies {
            let copy = targets.file(name)
            let factory = ArchivesFactory(readingOnly: copy)
            let problems = try Pairs(in: factory).problems()
            #expect(problems == [], "\(death): \(name)")
            #expect(try factory.openFile().verify().isIntact, "\(death): \(name)")
            try factory.close()
            try FileManager.default.removeItem(at: copy)
        }
        // One of the process that was killed: those before it were removed.
        let left = try names
        #expect(
            left.count <= 1 && left.allSatisfy { $0.hasPrefix(".vellum-backup-") },
            "\(death): \(left)"
        )
        return copies.count
    }

    @Test func aKilledBackupIsWholeOrNotThereWhileOthersWrite() async throws {
        let seed = Self.number("VELLUM_SEED").map { UInt64($0) } ?? 8
        var random = SeededGenerator(seed: seed)
        let pairs = try Pairs(writingIn: folder.url)
        try pairs.fill()
        let writers = try (0..<2).map { try Spawned(["pairs", folder.url.path, "\($0)"]) }
        for writer in writers { #expect(writer.line() == "begins") }
        let kills = Self.number("VELLUM_BACKUP_KILLS") ?? LongRun.number(15, usually: 8)
        // Each fourth at one of the steps, of a few kills every other.
        let step = kills < 15 ? 2 : 4
        var (copies, finished, atPoints) = (0, 0, [CrashPoint: Int]())
        for kill in 0..<kills {
            let isAtPoint = kill % step == step - 1
            let number = kill / step % CrashPoint.ofBackups.count
            let point = isAtPoint ? CrashPoint.ofBackups[number] : nil
            let passing = Int.random(in: 1...3, using: &random)
            let microseconds = Int(pow(10, Double.random(in: 2.5...5.1, using: &random)))
            let environment =
                point.map { ["VELLUM_CRASH_POINT": "\($0.rawValue):\(passing)"] } ?? [:]
            let child = try Spawned(
                ["back-up", folder.url.path, targets.url.path, "\(kill)"],
                environment: environment
            )
            #expect(child.line() == "begins")
            if let point {
                let (end, lines) = child.end()
                #expect(end == .killed(SIGKILL))
                finished += lines.count
                atPoints[point, default: 0] += 1
            } else {
                child.kill(afterMicroseconds: microseconds)
                finished += child.kill().count
            }
            copies += try checkCopies(
                """
                seed \(seed), kill \(kill), \
                \(point.map { "\($0) \(passing)" } ?? "\(microseconds) µs")
                """
            )
        }
        // The next is made, and removes what is left.
        let last = try Spawned(["back-up", folder.url.path, targets.url.path, "last"])
        while let line = last.line(), line != "1" {}
        _ = last.kill()
        copies += try checkCopies("seed \(seed), the last")
        for writer in writers { _ = writer.kill() }
        #expect(try pairs.problems() == [])
        #expect(copies > 0)
        print(
            """
            FIGURES seed=\(seed) backupKills=\(kills) atPoints=\(atPoints.values.reduce(0, +)) \
            copies=\(copies) finished=\(finished)
            """
        )
    }

    /// Each step of restoring, how often it is passed, and whether the new file is found from there
    /// on.
    private static let steps: [(CrashPoint, passing: Int, isRestored: Bool)] = [
        (.backupCreated, 1, false), (.backupSynced, 1, false), (.replacementCompleted, 1, true),
        (.damagedFileMoved, 1, true), (.damagedFileMoved, 2, true),
        (.damagedFileMoved, 3, true), (.replacementInPlace, 1, true),
    ]

    @Test func whoeverIsKilledWhileRestoringLeavesTheOldFileOrTheNew() throws {
        let pairs = try Pairs(writingIn: folder.url)
        try pairs.fill()
        for number in 0..<10 { try pairs.write(number, by: 1) }
        let backup = targets.file("backup.sqlite")
        try pairs.backUp(to: backup)
        for number in 10..<30 { try pairs.write(number, by: 1) }
        for (point, passing, isRestored) in Self.steps {
            // A file with a log, as of a process that was killed.
            let place = try TemporaryDirectory()
            for suffix in ["", "-wal", "-shm", "-changes"] {
                let name = "Archives.sqlite\(suffix)"
                try FileManager.default.copyItem(at: folder.file(name), to: place.file(name))
            }
            let file = place.file("Archives.sqlite").path
            let child = try Spawned(
                ["restore", backup.path, file],
                environment: ["VELLUM_CRASH_POINT": "\(point.rawValue):\(passing)"]
            )
            #expect(child.end().end == .killed(SIGKILL), "\(point) \(passing)")
            let found = try Pairs(writingIn: place.url)
            #expect(try found.problems() == [], "\(point) \(passing)")
            #expect(try found.count == (isRestored ? 10 : 30), "\(point) \(passing)")
            try found.close()
        }
        try pairs.close()
    }

    @Test func theErrorOfAFileThatIsOpenSaysInWhichProgram() throws {
        let pairs = try Pairs(writingIn: folder.url)
        let (file, backup) = (folder.file("Archives.sqlite"), targets.file("backup.sqlite"))
        try pairs.backUp(to: backup)
        let child = try Spawned(["pairs", folder.url.path, "0"])
        #expect(child.line() == "begins")
        for program in ["This", "Another"] {
            let error = #expect(throws: VellumError.self) {
                try Pairs.restore(from: backup, to: file)
            }
            #expect(error?.code == .busy)
            #expect(error?.message.hasPrefix("\(program) program has the file open.") == true)
            // A descriptor stays open while another has the file open.
            try pairs.close()
        }
        _ = child.kill()
        #expect(try Pairs.restore(from: backup, to: file) != nil)
    }
}
