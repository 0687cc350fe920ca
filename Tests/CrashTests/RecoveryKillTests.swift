import CrashScript
import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A process killed during the repair of a damaged file leaves everything that the next
/// process needs to finish: every readable entry survives, and all damaged files are kept.
@Suite(.ownThreads(.longSuite), .serialized)
struct RecoveryKillTests {
    /// How a file is damaged.
    enum Damage: String, CaseIterable {
        /// Its totals; every entry can be read.
        case totals
        /// Some of its pages, at the beginning.
        case pages
        /// Its schema table, without which it cannot be opened.
        case schema
    }

    private let root: TemporaryDirectory
    private let now: Int64 = 1_767_225_700_000

    init() throws { root = try TemporaryDirectory() }

    private var manager: FileManager { .default }

    private func copy(_ folder: String, to name: String) throws -> String {
        let target = root.file(name).path
        try manager.copyItem(atPath: folder, toPath: target)
        return target
    }

    /// A folder with a database and its log, left by a killed process.
    private func makeFolder(_ random: inout SeededGenerator) throws -> String {
        let folder = try copy(Template.of(.indexing).folder, to: "sound \(random.next())")
        let journal = root.file("journal").path
        if manager.fileExists(atPath: journal) { try manager.removeItem(atPath: journal) }
        let start = try Journal(journal)
        for line in try Template.of(.indexing).model.lines { start.append(line) }
        let child = try Spawned(
            ["script", folder, journal, Script.mixed.rawValue, "\(random.next())", "25"],
            environment: [
                "VELLUM_CRASH_POINT":
                    "closingReadersClosed:\(Int.random(in: 1...2, using: &random))"
            ]
        )
        _ = child.end()
        return folder
    }

    private func damage(_ folder: String, _ damage: Damage, _ random: inout SeededGenerator) throws
    {
        let path = Library.url(in: folder).path
        func change(_ path: String, _ range: Range<Int>, times: Int) throws {
            guard manager.fileExists(atPath: path) else { return }
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let range = range.clamped(to: 0..<bytes.count)
            guard !range.isEmpty else { return }
            for _ in 0..<times {
                bytes[Int.random(in: range, using: &random)] ^= UInt8.random(
                    in: 1...255,
                    using: &random
                )
            }
            try bytes.write(to: URL(fileURLWithPath: path))
        }
        switch damage {
        case .totals:
            try RawDatabase(URL(filePath: path)).execute("UPDATE archives SET bytes = bytes + 7")
        case .pages:
            for _ in 0..<3 {
                let page = Int.random(in: 2...60, using: &random)
                try change(path, page * 4096..<page * 4096 + 12, times: 4)
            }
        case .schema: try change(path, 100..<101, times: 1)
        }
        if damage != .schema { try Data().write(to: URL(fileURLWithPath: path + "-damaged")) }
    }

    /// The entries that can be read from the kept files. Salvaging may copy a log into its
    /// database.
    private func kept(in folder: String, _ random: inout SeededGenerator) throws -> [Contents] {
        let names = try manager.contentsOfDirectory(atPath: folder)
        let databases = names.filter { name in
            name.contains(".damaged-")
                && !["-wal", "-shm", "-journal", "-damaged", "-changes"].contains(
                    where: name.hasSuffix
                )
        }
        return try databases.map { database in
            let target = root.file("kept \(random.next())").path
            try manager.createDirectory(atPath: target, withIntermediateDirectories: true)
            let path = Library.url(in: target).path
            for suffix in ["", "-wal"]
            where manager.fileExists(atPath: folder + "/" + database + suffix) {
                try manager.copyItem(
                    atPath: folder + "/" + database + suffix,
                    toPath: path + suffix
                )
            }
            try Data().write(to: URL(fileURLWithPath: path + "-damaged"))
            return try Contents(of: target, at: now)
        }
    }

    private func live(
        _ mode: String,
        _ folder: String,
        _ point: CrashPoint?,
        _ passing: Int
    ) throws -> CrashSeries.Result {
        var environment = ["VELLUM_COUNT_POINTS": "1"]
        if let point { environment["VELLUM_CRASH_POINT"] = "\(point.rawValue):\(passing)" }
        let child = try Spawned([mode, folder, "\(now)"], environment: environment)
        let (end, lines) = child.end()
        var result = CrashSeries.Result()
        result.wasKilled = end == .killed(SIGKILL)
        if !result.wasKilled, end != .exited(0) {
            result.problems.append("the child ended with \(end)")
        }
        for line in lines {
            let words = line.split(separator: " ")
            if words.count == 2, let point = CrashPoint(rawValue: String(words[0])) {
                result.passings[point] = Int(words[1])
            }
        }
        return result
    }

    private func leftovers(in folder: String) throws -> [String] {
        try manager.contentsOfDirectory(atPath: folder).filter { name in
            !name.contains(".damaged-") && name != "Archives.sqlite" && !name.hasSuffix("-changes")
        }
    }

    @Test func aProcessKilledDuringARepairLosesNoReadableEntry() async throws {
        let seed: UInt64 = 11
        let (tally, now) = (Tally.shared, now)
        let kinds = Damage.allCases
        let failures = await allTogether(
            kinds.enumerated().map { number, damage in
                {
                    var random = SeededGenerator(seed: seed &+ UInt64(number))
                    for round in 1...Tally.count(16, sample: 1) {
                        let damaged = try makeFolder(&random)
                        let before = try Contents(
                            of: try copy(damaged, to: "before \(random.next())"),
                            at: now
                        )
                        try self.damage(damaged, damage, &random)
                        let readable = try Contents(
                            of: try copy(damaged, to: "readable \(random.next())"),
                            at: now
                        )
                        if damage == .totals, !before.missing(in: readable).isEmpty {
                            throw CrashSeries.Failure(description: "a sound file lost something")
                        }
                        let counted = try live(
                            "open",
                            try copy(damaged, to: "counted \(random.next())"),
                            nil,
                            0
                        )
                        // The sample kills at each point once, after one damage or another.
                        for (index, point) in CrashPoint.ofRecovery.enumerated()
                        where Tally.isFull || index % kinds.count == number {
                            guard let passings = counted.passings[point] else { continue }
                            let folder = try copy(
                                damaged,
                                to: "\(damage) \(point) \(random.next())"
                            )
                            let context =
                                "\(damage), seed \(seed), round \(round), killed at \(point)"
                            var result = try live(
                                "open",
                                folder,
                                point,
                                .random(in: 1...passings, using: &random)
                            )
                            tally.add(result, .at(point, passing: 1))
                            // Sometimes the next process is killed, too, at any point.
                            if Bool.random(using: &random) {
                                let next =
                                    CrashPoint.ofRecovery.randomElement(using: &random) ?? point
                                let again = try live("open", folder, next, 1)
                                tally.add(again, .at(next, passing: 1))
                            }
                            let found = try Contents(of: folder, at: now + 1000)
                            result.problems = found.problems
                            let missing = readable.missing(in: found)
                            if !missing.isEmpty {
                                result.problems.append(
                                    """
                                    missing \(missing.count) of \(readable.count): \
                                    \(missing.prefix(5))
                                    """
                                )
                            }
                            let kept = try kept(in: folder, &random)
                            if kept.count != 1 || !readable.missing(in: kept[0]).isEmpty {
                                result.problems.append(
                                    "\(kept.count) files are kept, and less can be read of them"
                                )
                            }
                            let left = try leftovers(in: folder)
                            if !left.isEmpty { result.problems.append("left over: \(left)") }
                            result.problems = result.problems.map { "\(context): \($0)" }
                            result.wasKilled = false
                            tally.add(result, .none)
                            if result.problems.isEmpty { try manager.removeItem(atPath: folder) }
                        }
                    }
                }
            }
        )
        expectNothingLost(failures, CrashPoint.ofRecovery)
    }

    private func expectNothingLost(_ failures: [String], _ points: [CrashPoint]) {
        let now = Tally.shared.now
        #expect(failures == [])
        #expect(now.problems == [])
        let enough = Tally.count(20, sample: 1)
        for point in points {
            #expect(now.killsAtPoints[point] ?? 0 >= enough, "too few died at \(point)")
        }
        Tally.shared.printFigures()
    }
}
