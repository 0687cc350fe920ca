import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// FN10: the rows of the table of parameters of sizes, ages and limits.
@Suite(.ownThreads)
struct CoreInputTests {
    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    static let table: [InputCase] = [
        InputCase(
            "DataSize.bits _",
            "DataSize.nibbles _",
            "DataSize.bytes _",
            "DataSize.kiloBytes _",
            "DataSize.megaBytes _",
            "DataSize.gigaBytes _",
            "DataSize.init floatLiteral",
            "Double.bits",
            "Double.nibbles",
            "Double.byte",
            "Double.bytes",
            "Double.kiloByte",
            "Double.kiloBytes",
            "Double.megaByte",
            "Double.megaBytes",
            "Double.gigaByte",
            "Double.gigaBytes",
            of: HostileInput.seconds
        ) { number in
            let sizes: [DataSize] = [
                .bits(number), .nibbles(number), .bytes(number), .kiloBytes(number),
                .megaBytes(number), .gigaBytes(number),
                DataSize(floatLiteral: number), number.bits, number.nibbles, number.byte,
                number.bytes, number.kiloByte, number.kiloBytes,
                number.megaByte, number.megaBytes, number.gigaByte, number.gigaBytes,
            ]
            for size in sizes {
                try expect(
                    number.isNaN ? size == .zero : number < 0 ? size <= .zero : size >= .zero,
                    "\(size)"
                )
                try expect(
                    !number.isInfinite || size.bytes == (number < 0 ? .min : .max),
                    "\(size)"
                )
            }
        },
        InputCase(
            "DataSize.init bytes",
            "DataSize.init integerLiteral",
            "DataSize.bytes",
            "DataSize.+ left",
            "DataSize.+ right",
            "DataSize.- left",
            "DataSize.- right",
            "DataSize.< left",
            "DataSize.< right",
            "Int.bits",
            "Int.nibbles",
            "Int.byte",
            "Int.bytes",
            "Int.kiloByte",
            "Int.kiloBytes",
            "Int.megaByte",
            "Int.megaBytes",
            "Int.gigaByte",
            "Int.gigaBytes",
            of: HostileInput.counts
        ) { count in
            let sizes: [DataSize] = [
                .bits(count), .nibbles(count), .bytes(count), .kiloBytes(count), .megaBytes(count),
                .gigaBytes(count),
                DataSize(bytes: count), DataSize(integerLiteral: count), count.bits, count.nibbles,
                count.byte, count.bytes,
                count.kiloByte, count.kiloBytes, count.megaByte, count.megaBytes, count.gigaByte,
                count.gigaBytes,
            ]
            for size in sizes {
                // Saturates, and keeps its sign.
                try expect(size.bytes.signum() == count.signum() || size == .zero, "\(size)")
                for other in sizes { _ = (size + other, size - other, size < other) }
                _ = (
                    size.description, size.bits, size.nibbles, size.kiloBytes, size.megaBytes,
                    size.gigaBytes
                )
            }
        },
        InputCase("Capacity.init _", of: HostileInput.sizes, throwing: HostileInput.isValid) {
            _ = try Capacity($0)
        },
        InputCase(
            "Capacity.init entries",
            of: HostileInput.counts,
            throwing: { $0 > 0 ? nil : .invalidLimit }
        ) {
            _ = try Capacity(1.megaByte, entries: $0)
        },
        InputCase(
            "Capacity.isExceeded byBytes",
            "Capacity.isExceeded entries",
            "StorageUsage.init entries",
            "StorageUsage.init bytes",
            "StorageUsage.entries",
            "StorageUsage.bytes",
            "IndexProgress.init indexed",
            "IndexProgress.init total",
            "IndexProgress.indexed",
            "IndexProgress.total",
            "MigrationProgress.init examined",
            "MigrationProgress.init total",
            "MigrationProgress.init removedKeys",
            "MigrationProgress.examined",
            "MigrationProgress.total",
            "MigrationProgress.removedKeys",
            "LimitChange.init from",
            "LimitChange.init to",
            "LimitChange.from",
            "LimitChange.to",
            "StorageLimits.init memory",
            "StorageLimits.init disk",
            "StorageLimits.memory",
            "StorageLimits.disk",
            "Durability.init rawValue",
            "WallClock.init _",
            of: HostileInput.counts
        ) { count in
            // What only says something takes any number, and can be printed.
            try expect(!Capacity.unlimited.isExceeded(byBytes: count, entries: count), "unlimited")
            let usage = StorageUsage(entries: count, bytes: count)
            let change = LimitChange(from: .bytes(count), to: .bytes(count), removed: usage)
            let progress = IndexProgress(indexed: count, total: count, isComplete: false)
            let migration = MigrationProgress(examined: count, total: count, removedKeys: count)
            let limits = StorageLimits(memory: .bytes(count), disk: .bytes(count))
            _ = "\(usage)\(change)\(progress)\(migration)"
            _ = "\(limits)\(StoreEvent.limitLowered(change))"
            try expect((Durability(rawValue: count) != nil) == (0...2 ~= count), "Durability")
            for seconds in HostileInput.seconds + [Double(count)] {
                _ = WallClock { Date(timeIntervalSince1970: seconds) }.now().advanced(
                    byMilliseconds: Int64(count)
                )
            }
        },
        InputCase(
            "LoadStatistics.loads",
            "LoadStatistics.failures",
            "LoadStatistics.joined",
            "LoadStatistics.time",
            "LoadStatistics.staleWhileRevalidating",
            "LoadStatistics.staleIfError",
            "LoadStatistics.staleIfSlow",
            "LoadStatistics.inOutage",
            "StoreStatistics.memoryHits",
            "StoreStatistics.diskHits",
            "StoreStatistics.misses",
            "StoreStatistics.memoryEvictions",
            "StoreStatistics.puts",
            "StoreStatistics.evictedSize",
            "StoreStatistics.failures",
            "QueryExplanation.decodedObjects",
            "QueryExplanation.results",
            "QueryExplanation.unindexedObjects",
            "QueryExplanation.duration",
            "ImportCounts.imported",
            "ImportCounts.skipped",
            of: HostileInput.counts
        ) { count in
            var statistics = StoreStatistics()
            (statistics.memoryHits, statistics.diskHits, statistics.misses) = (count, count, count)
            (statistics.memoryEvictions, statistics.puts, statistics.evictedSize) = (
                count, count, .bytes(count)
            )
            (statistics.failures, statistics.loading.time) = (count, .seconds(Int64(count)))
            (statistics.loading.loads, statistics.loading.failures, statistics.loading.joined) = (
                count, count, count
            )
            (
                statistics.loading.staleIfError, statistics.loading.staleIfSlow,
                statistics.loading.inOutage
            ) = (count, count, count)
            statistics.loading.staleWhileRevalidating = count
            _ = "\(statistics) \(statistics.loading) \(statistics.hitRatio)"
            var explanation = QueryExplanation()
            (explanation.decodedObjects, explanation.results, explanation.unindexedObjects) = (
                count, count, count
            )
            explanation.duration = .seconds(Int64(count))
            _ = "\(explanation)"
        },
        InputCase(
            "Sizing.limit keeping",
            "Sizing.Point.limit",
            "Sizing.Point.hitRatio",
            of: HostileInput.seconds
        ) { part in
            let curve = #"[{"limit":1,"hitRatio":0.5},{"limit":9,"hitRatio":1}]"#
            let text = #"{"memory":[],"disk":[],"reads":1,"curve":\#(curve)}"#
            let sizing = try CodableFormat.decode(Sizing.self, from: Data(text.utf8))
            let expected: DataSize? = part <= 0.5 ? 1.bytes : part <= 1 ? 9.bytes : nil
            try expect(sizing.limit(keeping: part) == expected, "\(part)")
            var point = sizing.curve[0]
            (point.limit, point.hitRatio) = (.bytes(.min), part)
            _ = "\(point)"
        },
        InputCase(
            "StoreEvent.recorded key",
            "StoreEvent.removed key",
            "StoreEvent.damagedEntry key",
            "StoreEvent.setAside to",
            "StoreEvent.setAside salvaged",
            "StoreEvent.skippedUndecodable count",
            "StoreEvent.logHeldBack logSize",
            "VersionChange.init from",
            "VersionChange.init to",
            "VersionChange.from",
            "VersionChange.to",
            "QueryExplanation.access",
            "QueryExplanation.pushedDown",
            "QueryExplanation.remaining",
            "QueryExplanation.statement",
            of: HostileInput.names
        ) { text in
            let error = VellumError(.damagedEntry, text)
            let events: [StoreEvent] = [
                .recorded(key: text), .removed(key: text, .evicted),
                .damagedEntry(key: text, error),
                .setAside(to: URL(fileURLWithPath: "/" + text), salvaged: .max),
                .skippedUndecodable(count: .min),
                .logHeldBack(process: .min, logSize: .bytes(.min)),
                .versionReplaced(
                    VersionChange(
                        from: text,
                        to: text,
                        removed: StorageUsage(entries: .max, bytes: .max)
                    )
                ),
            ]
            var explanation = QueryExplanation()
            (explanation.access, explanation.pushedDown, explanation.remaining) = (
                [text], [text], [text]
            )
            explanation.statement = text
            _ = "\(events)\(explanation)\(String(reflecting: error))"
        },
        InputCase(
            "Expiration.after _",
            "Expiration.unused for",
            "Expiration.unused atMost",
            "Expiration.init validating",
            "Expiration.init unusedFor",
            of: HostileInput.durations
        ) { duration in
            let made = try [
                .after(duration), .unused(for: duration),
                .unused(for: .seconds(1), atMost: duration), Expiration(validating: duration),
                Expiration(validating: nil, unusedFor: duration),
            ]
            let (written, isOver) = (WallInstant(rawValue: 1_000_000), duration <= .zero)
            for expiration in made {
                for part in [0, 0.5, 1] {
                    let validity = expiration.jittered(by: part).validity(of: "a", written: written)
                    let isValid = validity.contains(
                        written,
                        "a",
                        lastUse: UseStamp(startOf: written)
                    )
                    try expect(isOver ? !isValid : isValid || part > 0, "\(expiration)")
                }
            }
        },
        InputCase(
            "Expiration.after seconds",
            "Expiration.init validatingSeconds",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let made = Expiration.after(seconds: seconds)
            try expect(
                made.validity(of: "a", written: WallInstant(rawValue: .min)).contains(
                    .never,
                    "a",
                    lastUse: .never
                ) == (made == .never),
                ""
            )
            try expect(try Expiration(validatingSeconds: seconds) == made, "")
        },
        InputCase(
            "Expiration.jittered by",
            "Expiration.init jitter",
            of: HostileInput.seconds,
            throwing: { $0 >= 0 && $0 <= 1 ? nil : .invalidDuration }
        ) { part in
            _ = Expiration.after(.seconds(Int64.max / 2000)).jittered(by: part).validity(
                of: "a",
                written: WallInstant(rawValue: 0)
            )
            _ = try Expiration(validating: .seconds(1), jitter: part)
        },
    ]

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
