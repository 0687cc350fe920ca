internal import TestThreads
internal import VellumCore
internal import VellumEngine

extension ArchiveRule {
    /// An archive keeps the order of use.
    static let order: [ArchiveRule] = [
        ArchiveRule(
            """
            keys are listed most recently used first; storing affects the order, reading the \
            archive does not
            """
        ) { make in
            let driver = ArchiveHarness(try make(.unlimited))
            for key in ["a", "b", "c", "d"] { try driver.store(count: 1, EntryKey(key)) }
            try driver.store(count: 2, "b")
            _ = try driver.archive.entry(forKey: "a")
            _ = try driver.archive.lastUse(ofKey: "a")
            try expect(driver.keys(), ["b", "d", "c", "a"], "keys")
            let two = try driver.archive.keysByUse(
                limit: 2,
                validAt: driver.clock.now,
                under: .never
            ).map(\.key)
            try expect(two, ["b", "d"], "the first two")
        },
        ArchiveRule("the order is exact while the clock stands still or goes back") { make in
            let driver = ArchiveHarness(try make(try Capacity(1_000_000, entries: 3)))
            try driver.store(count: 1, "a")
            driver.clock.advance(by: .seconds(-3600))
            for key in ["b", "c", "d"] { try driver.store(count: 1, EntryKey(key)) }
            try expect(driver.keys(), ["d", "c", "b"], "keys")
        },
        ArchiveRule("invalid entries are not listed") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            try driver.store([1], "a", expires: driver.clock.now.advanced(byMilliseconds: 1000))
            try driver.store([1], "b")
            driver.clock.advance(by: .seconds(1))
            try expect(driver.keys(), ["b"], "keys")
        },
        ArchiveRule(
            "removing unused entries removes only older ones, the least recently used first"
        ) { make in
            let driver = ArchiveHarness(try make(.unlimited))
            for key in ["a", "b", "c"] { try driver.store(count: 1, EntryKey(key)) }
            driver.clock.advance(by: .seconds(10))
            try driver.store(count: 1, "a")
            try driver.store(count: 1, "d")
            let bound = UseStamp(startOf: driver.clock.now)
            _ = try driver.archive.removeUnused(before: bound, limit: 1)
            try expect(driver.removed, ["b"], "the first")
            _ = try driver.archive.removeUnused(before: bound, limit: 9)
            try expect(driver.removed, ["c"], "the rest")
            _ = try driver.archive.removeUnused(before: bound, limit: 9)
            try expect(driver.removed, [], "then nothing")
            try expect(driver.keys(), ["d", "a"], "left")
        },
        ArchiveRule("eviction follows the order of use over random operations") { make in
            for seed in 200..<200 + UInt64(LongRun.number(20, usually: 6)) {
                var random = SeededGenerator(seed: seed)
                let driver = ArchiveHarness(try make(try Capacity(1_000_000, entries: 10)))
                var model: [String] = []
                for _ in 0..<300 {
                    let key = "\(Int.random(in: 0..<25, using: &random))"
                    model.removeAll { $0 == key }
                    if Int.random(in: 0..<8, using: &random) == 0 {
                        try driver.write(EntryKey(key), .remove)
                    } else {
                        try driver.store(count: 1, EntryKey(key))
                        model.insert(key, at: 0)
                        model = Array(model.prefix(10))
                    }
                }
                try expect(driver.keys(), model, "keys, seed \(seed)")
            }
        },
    ]
}
