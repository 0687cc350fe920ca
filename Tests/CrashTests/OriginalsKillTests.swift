import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

/// A process that is killed while it imports data of an original library, or several that do it at
/// once, lose nothing and change nothing.
@Suite(.ownThreads(.longSuite), .serialized)
struct OriginalsKillTests {
    struct Item: ArchiveCodable {
        static var archiveName: String { "crash item" }
        var primaryKey: String { key }
        var key: String
        var text: String
        var tags: [String]
    }

    /// More than one transaction has.
    static let count = LongRun.number(2500, usually: 2100)

    private let root: TemporaryDirectory
    /// The files of the original, which are made once.
    private static let objects = Result { try makeObjects() }

    init() throws { root = try TemporaryDirectory() }

    private static func makeObjects() throws -> TemporaryDirectory {
        let original = try TemporaryDirectory()
        let folder = original.file("originals/crash item")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            let file = folder.appendingPathComponent("\(number).vlm")
            try JSONEncoder().encode(Item(key: "\(number)", text: "text \(number)", tags: []))
                .write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: date(number)],
                ofItemAtPath: file.path
            )
        }
        for number in 0..<5 {
            try Data("{".utf8).write(to: folder.appendingPathComponent("broken \(number).vlm"))
        }
        return original
    }

    static func date(_ number: Int) -> Date {
        Date(timeIntervalSince1970: 1_600_000_000 + Double(number))
    }

    private func live(
        _ mode: String,
        _ folder: URL,
        _ point: CrashPoint?,
        _ passing: Int
    ) throws -> CrashSeries.Result {
        var environment = ["VELLUM_COUNT_POINTS": "1"]
        if let point { environment["VELLUM_CRASH_POINT"] = "\(point.rawValue):\(passing)" }
        let (end, lines) = try Spawned([mode, folder.path], environment: environment).end()
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

    private func copy(_ name: String, of caches: URL? = nil) throws -> URL {
        let original = try caches ?? Self.objects.get().url
        let target = root.file(name)
        // Keeps the dates of the files.
        #expect(try Child.run("cp", ["-a", original.path, target.path]).end == .exited(0))
        return target
    }

    private func factory(in folder: URL) -> ArchivesFactory {
        ArchivesFactory(
            directory: folder.appendingPathComponent("archives"),
            importing: folder.appendingPathComponent("originals")
        )
    }

    /// What is wrong once another process has opened the archive.
    private func problems(_ folder: URL) throws -> [String] {
        var problems: [String] = []
        let factory = factory(in: folder)
        let store = try factory.store(for: Item.self)
        let found = try store.fetch()
        if Set(found.map(\.key)) != Set((0..<Self.count).map(String.init))
            || found.count != Self.count
        {
            problems.append("\(found.count) objects")
        }
        if found.contains(where: { $0.text != "text \($0.key)" }) {
            problems.append("objects have changed")
        }
        let order = try store.keys()
        if order != (0..<Self.count).reversed().map(String.init) {
            problems.append("the order has changed: \(order.prefix(5))")
        }
        for number in stride(from: 0, to: Self.count, by: 100)
        where try store.metadata(forKey: "\(number)")?.written != Self.date(number) {
            problems.append("the date of \(number) has changed")
        }
        try factory.close()
        if try !DatabaseFile.open(at: folder.appendingPathComponent("archives/Archives.sqlite"))
            .verify().isIntact
        {
            problems.append("damaged")
        }
        return problems
    }

    /// What is wrong once another process has opened the cache.
    private func cacheProblems(_ folder: URL) throws -> [String] {
        let manager = MiniCacheManager(name: "Caches", directory: folder)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "safe",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        var problems: [String] = []
        if try cache.count() != Self.cacheCount { problems.append("\(try cache.count()) entries") }
        for number in 0..<Self.cacheCount where try cache.value(forKey: "k\(number)") != number {
            problems.append("k\(number)")
        }
        try manager.close()
        let original = folder.appendingPathComponent("Caches.sqlite.original").path
        if try OriginalFile.count(at: original) != Self.cacheCount + 2 {
            problems.append("the original file has changed")
        }
        return problems
    }

    @Test func aProcessKilledDuringAnImportLosesNothing() async throws {
        try await killing("originals", [.originalsImported], problems)
    }

    private static let cacheCount = 1300

    @Test func aProcessKilledDuringAnImportOfACacheLosesNothing() async throws {
        let original = root.file("original caches")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
        try OriginalFile.make(
            at: original.appendingPathComponent("Caches.sqlite").path,
            entries: Self.cacheCount
        )
        try await killing("original-caches", CrashPoint.ofOriginals, of: original, cacheProblems)
    }

    private func killing(
        _ mode: String,
        _ points: [CrashPoint],
        of caches: URL? = nil,
        _ problems: @escaping @Sendable (URL) throws -> [String]
    ) async throws {
        let counted = try live(mode, try copy("counted", of: caches), nil, 0)
        let rounds = Tally.count(24, sample: 1)
        #expect(counted.problems == [])
        let tally = Tally.shared
        let failures = await allTogether(
            points.enumerated().map { number, point in
                {
                    var random = SeededGenerator(seed: 19 &+ UInt64(number))
                    for round in 1...rounds {
                        let folder = try copy("\(point) \(round)", of: caches)
                        let passings = max(1, counted.passings[point] ?? 0)
                        var result = try live(
                            mode,
                            folder,
                            point,
                            .random(in: 1...passings, using: &random)
                        )
                        if !result.wasKilled { result.problems.append("nobody died at \(point)") }
                        tally.add(result, .at(point, passing: 1))
                        // Sometimes the next process is killed, too; that of the only round is.
                        if rounds == 1 || Bool.random(using: &random) {
                            let next = try live(mode, folder, .originalsImported, 1)
                            tally.add(next, .at(point, passing: 1))
                        }
                        let problems = try problems(folder).map {
                            "killed at \(point), round \(round): \($0)"
                        }
                        tally.add(CrashSeries.Result(problems: problems), .none)
                        if problems.isEmpty { try FileManager.default.removeItem(at: folder) }
                    }
                }
            }
        )
        let now = tally.now
        #expect(failures == [])
        #expect(now.problems == [])
        for point in points where Tally.isFull {
            #expect(now.killsAtPoints[point] ?? 0 >= 20, "too few died at \(point)")
        }
        tally.printFigures()
    }

    @Test func anObjectDeletedBeforeAnImportGoesOnDoesNotComeBack() throws {
        let folder = try copy("deleted")
        #expect(try live("originals", folder, .originalsImported, 1).wasKilled)
        let older = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        let some = try older.store(for: Item.self)
        #expect(try (1..<Self.count).contains(some.count()))
        #expect(try some.delete(archiveWithKey: "7"))
        try older.close()
        let factory = factory(in: folder)
        let store = try factory.store(for: Item.self)
        #expect(try store.count() == Self.count - 1)
        #expect(try !store.contains(archiveWithKey: "7"))
        try factory.close()
    }

    @Test func severalProcessesAtOnceImportEachObjectOnce() async throws {
        let folder = try copy("together")
        let failures = await allTogether(
            (0..<3).map { _ in
                {
                    let result = try live("originals", folder, nil, 0)
                    #expect(result.problems == [])
                }
            },
            threads: 3
        )
        #expect(failures == [])
        #expect(try problems(folder) == [])
    }
}
