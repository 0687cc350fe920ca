import CrashScript
import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A file is opened after a process was killed, whatever its size. The figures say how long that
/// takes.
@Suite(.ownThreads(.longSuite), .serialized)
struct OpeningTests {
    private let folder: TemporaryDirectory
    private let now: Int64 = 1_767_225_700_000

    init() throws { folder = try TemporaryDirectory() }

    private func open() throws -> (DatabaseFile, Store<Item>) {
        let file = try DatabaseFile.open(
            at: Library.url(in: folder.url.path),
            clock: Library.Clock(now).wallClock
        )
        return (
            file,
            try file.store(
                named: ScriptArchive.safe.rawValue,
                codec: ItemCodec(.safe),
                memory: Capacity(1.megaByte),
                disk: .unlimited
            )
        )
    }

    /// Inserts rows without the engine, which would take longer. They need not match their
    /// checksums.
    private func fill(_ count: Int) throws {
        let (file, _) = try open()
        try file.close()
        try RawDatabase(Library.url(in: folder.url.path)).execute(
            """
            WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < \
            \(count))
            INSERT INTO entries(id, hash, key, written, stamp, checksum, type_version, bytes)
            SELECT (1 << 40) + i, i, CAST('filled ' || i AS BLOB), \(now - 1000), \(now - 1000) << \
            20 | i, 0, 0, zeroblob(64) FROM numbers;
            UPDATE archives SET entries = \(count), bytes = \(count) * 64, next = \(count) + 1 \
            WHERE id = 1;
            """
        )
    }

    @Test func openingAfterAKillFindsEverything() throws {
        let count = Tally.count(1_000_000, sample: 20_000)
        try fill(count)
        var openings: [Duration] = []
        for round in 1...Tally.count(11, sample: 2) {
            let child = try Spawned(["touch", folder.url.path, "\(now)", "300"])
            var acknowledged = 0
            while acknowledged < 20 * round, child.line() != nil { acknowledged += 1 }
            child.kill(afterMicroseconds: 0)
            acknowledged += child.end().lines.count

            let start = ContinuousClock().now
            let (file, store) = try open()
            let last = try store.value(forKey: EntryKey("touched \(acknowledged - 1)"))
            openings.append(ContinuousClock().now - start)

            #expect(last?.version == acknowledged - 1, "round \(round)")
            #expect(try store.count() >= count + acknowledged)
            #expect(try store.metadata(forKey: "touched 0") != nil)
            try file.close()
        }
        openings.sort()
        let median = openings[openings.count / 2]
        print(
            """
            FIGURES entries=\(count) openingsAfterKill=\(openings.count) openingMedian=\(median) \
            openingSlowest=\(openings.last ?? .zero)
            """
        )
    }
}
