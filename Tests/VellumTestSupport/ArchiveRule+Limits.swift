internal import TestThreads
internal import VellumCore
internal import VellumEngine

extension ArchiveRule {
    /// An archive never exceeds its limits.
    static let limits: [ArchiveRule] = [
        ArchiveRule("the limits hold whenever a call returns") { make in
            for seed in 100..<100 + UInt64(LongRun.number(10, usually: 4)) {
                var random = SeededGenerator(seed: seed)
                let capacity = try Capacity(1000, entries: 20)
                let driver = ArchiveHarness(try make(capacity))
                for _ in 0..<200 {
                    try driver.store(
                        count: .random(in: 0..<400, using: &random),
                        EntryKey("\(Int.random(in: 0..<50, using: &random))")
                    )
                    let totals = try driver.archive.totals()
                    try expect(
                        capacity.isExceeded(byBytes: totals.bytes, entries: totals.entries),
                        false,
                        "over the limit, seed \(seed)"
                    )
                }
            }
        },
        ArchiveRule(
            """
            an entry larger than the limit is not stored, evicts nothing, and removes the entry it \
            was to replace
            """
        ) { make in
            let driver = ArchiveHarness(try make(try Capacity(100)))
            try driver.store(count: 40, "a")
            try driver.store(count: 40, "b")
            let outcome = try driver.store(count: 101, "a")
            try expect(outcome.entryID, 0, "entryID")
            try expect(driver.removed, [], "evicted")
            try expect(driver.bytes("a"), nil, "the old value")
            try expect(driver.bytes("b")?.count, 40, "the other")
            try expect(driver.archive.totals(), StorageUsage(entries: 1, bytes: 40), "totals")
        },
        ArchiveRule("an entry as large as the limit is stored alone") { make in
            let driver = ArchiveHarness(try make(try Capacity(100)))
            try driver.store(count: 40, "a")
            try driver.store(count: 100, "b")
            try expect(driver.removed, ["a"], "evicted")
            try expect(driver.archive.totals(), StorageUsage(entries: 1, bytes: 100), "totals")
        },
        ArchiveRule("growing an entry evicts others, the least recently used first, and not itself")
        { make in
            let driver = ArchiveHarness(try make(try Capacity(100)))
            for key in ["a", "b", "c", "d"] { try driver.store(count: 25, EntryKey(key)) }
            try driver.store(count: 60, "a")
            try expect(driver.removed, ["b", "c"], "evicted")
            try expect(driver.keys(), ["a", "d"], "left")
        },
        ArchiveRule("a lowered limit applies synchronously, and a raised limit makes room") {
            make in
            let driver = ArchiveHarness(try make(try Capacity(100)))
            for key in ["a", "b", "c", "d"] { try driver.store(count: 25, EntryKey(key)) }
            try expect(
                driver.archive.resize(to: try Capacity(50)).map(\.key),
                ["a", "b"],
                "had to leave"
            )
            try expect(driver.archive.totals(), StorageUsage(entries: 2, bytes: 50), "totals")
            try expect(
                driver.archive.resize(to: try Capacity(75)).map(\.key),
                [],
                "had to leave for more room"
            )
            try driver.store(count: 25, "e")
            try expect(driver.removed, [], "evicted")
            try expect(driver.archive.capacity, try Capacity(75), "capacity")
        },
        ArchiveRule("a limit of entries holds") { make in
            let driver = ArchiveHarness(try make(try Capacity(1_000_000, entries: 3)))
            for key in ["a", "b", "c", "d", "e"] { try driver.store(count: 1, EntryKey(key)) }
            try expect(driver.keys(), ["e", "d", "c"], "left")
        },
    ]
}
