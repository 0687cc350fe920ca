internal import Foundation
internal import Dispatch
internal import TestThreads
internal import VellumCore
internal import VellumEngine

extension ArchiveRule {
    /// An archive returns what was stored last.
    static let contents: [ArchiveRule] = [
        ArchiveRule("a stored entry is found with its dates") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            let expires = driver.clock.now.advanced(byMilliseconds: 1000)
            try driver.store([1, 2, 3], "a", expires: expires, idle: 500)
            let entry = try driver.archive.entry(forKey: "a")
            try expect(entry.map { Array($0.bytes) }, [1, 2, 3], "bytes")
            try expect(entry?.written, driver.clock.now, "written")
            try expect(entry?.expires, expires, "expires")
            try expect(entry?.idle, 500, "idle")
        },
        ArchiveRule("a key without an entry is a miss") { make in
            let archive = try make(.unlimited)
            try expect(archive.entry(forKey: "a"), nil, "lookup")
            try expect(archive.lastUse(ofKey: "a"), nil, "last use")
            try expect(archive.totals(), StorageUsage(), "totals")
        },
        ArchiveRule("storing again replaces the entry and adjusts the size") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            for count in [100, 7, 300, 0, 1] {
                let outcome = try driver.store(count: count, "a")
                try expect(outcome.wasPresent, count != 100, "was present at \(count)")
                try expect(
                    driver.archive.totals(),
                    StorageUsage(entries: 1, bytes: count),
                    "totals"
                )
            }
        },
        ArchiveRule("an entry of zero bytes is not a miss") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            try driver.store([], "a")
            try expect(driver.bytes("a"), [], "bytes")
        },
        ArchiveRule("storing if absent keeps a valid entry and replaces an invalid one") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            try driver.store([1], "a", expires: driver.clock.now.advanced(byMilliseconds: 1000))
            try expect(driver.store([2], "a", onlyIfAbsent: true).wasDeclined, true, "declined")
            try expect(driver.bytes("a"), [1], "bytes")
            driver.clock.advance(by: .seconds(2))
            try expect(
                driver.store([3], "a", onlyIfAbsent: true).wasDeclined,
                false,
                "declined after expiry"
            )
            try expect(driver.bytes("a"), [3], "bytes after expiry")
            try expect(
                driver.store([4], "b", onlyIfAbsent: true).wasDeclined,
                false,
                "declined when absent"
            )
            try expect(driver.bytes("b"), [4], "bytes when absent")
        },
        ArchiveRule(
            """
            a write whose condition is not met is declined together with the rest of its transaction
            """
        ) { make in
            let driver = ArchiveHarness(try make(.unlimited))
            func entry(_ byte: UInt8) -> ArchiveWrite.Operation {
                .store(Entry(bytes: Data([byte]), written: driver.clock.now))
            }
            let both = [(EntryKey("a"), entry(9)), ("b", ArchiveWrite.Operation.remove)]
            try driver.store([1], "a")
            try driver.store([1], "b")
            let first = try driver.archive.entry(forKey: "a")?.version
            // In the same millisecond, under the same key.
            try driver.store([2], "a")
            for (version, isOvertaken) in [
                (first, false), (nil, false),
                (try driver.archive.entry(forKey: "a")?.version, true),
            ] {
                let outcomes = try driver.write(
                    both,
                    ifUnchangedSince: version,
                    isOvertaken: isOvertaken
                )
                try expect(outcomes.map(\.wasDeclined), [true, true], "declined")
                try expect(driver.bytes("a"), [2], "a")
                try expect(driver.bytes("b"), [1], "b")
            }
        },
        ArchiveRule(
            "a write whose condition is met is applied together with the rest of its transaction"
        ) { make in
            let driver = ArchiveHarness(try make(.unlimited))
            func entry(_ byte: UInt8) -> ArchiveWrite.Operation {
                .store(Entry(bytes: Data([byte]), written: driver.clock.now))
            }
            try expect(
                driver.write([("a", entry(1))], ifUnchangedSince: nil)[0].wasDeclined,
                false,
                "where nothing is"
            )
            let first = try driver.archive.entry(forKey: "a")?.version
            let outcomes = try driver.write(
                [("a", entry(2)), ("b", entry(2))],
                ifUnchangedSince: first
            )
            try expect(outcomes.map(\.wasDeclined), [false, false], "unchanged")
            try expect(driver.bytes("b"), [2], "what follows")
            try driver.store([3], "a", expires: driver.clock.now)
            try expect(
                driver.write([("a", entry(4))], ifUnchangedSince: first)[0].wasDeclined,
                false,
                "where it expired"
            )
            try driver.write("a", .remove)
            try expect(
                driver.write([("a", entry(5))], ifUnchangedSince: first)[0].wasDeclined,
                false,
                "where it left"
            )
            try expect(driver.bytes("a"), [5], "a")
        },
        ArchiveRule("removing removes one entry and returns whether there was one") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            try driver.store([1], "a")
            try driver.store([2, 2], "b")
            try expect(driver.write("a", .remove).wasPresent, true, "was present")
            try expect(driver.write("a", .remove).wasPresent, false, "was present the second time")
            try expect(driver.bytes("a"), nil, "removed")
            try expect(driver.bytes("b"), [2, 2], "the other")
            try expect(driver.archive.totals(), StorageUsage(entries: 1, bytes: 2), "totals")
        },
        ArchiveRule("removing everything leaves a usable archive") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            for number in 0..<100 { try driver.store(count: number, EntryKey("\(number)")) }
            try driver.write("", .removeAll)
            try expect(driver.archive.totals(), StorageUsage(), "totals")
            try expect(driver.keys(), [], "keys")
            try driver.store([1], "7")
            try expect(driver.bytes("7"), [1], "bytes after")
        },
        ArchiveRule("any string is a key, and keys are equal if their normal forms are") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            let keys = [
                "", "\0", "a\0", "a", "/", "..", "../a", "a/b", ".", " ", "A", "😀", "%00",
                String(repeating: "k", count: 65_536),
            ]
            for (number, key) in keys.enumerated() {
                try driver.store([UInt8(number)], EntryKey(key))
            }
            for (number, key) in keys.enumerated() {
                try expect(driver.bytes(EntryKey(key)), [UInt8(number)], "a key")
            }
            try driver.store([100], EntryKey("\u{E9}"))
            try expect(driver.bytes(EntryKey("e\u{301}")), [100], "the other form")
            try expect(driver.archive.totals().entries, keys.count + 1, "entries")
        },
        ArchiveRule("the writes of a transaction are applied in order") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            func entry(_ byte: UInt8) -> ArchiveWrite.Operation {
                .store(Entry(bytes: Data([byte]), written: driver.clock.now))
            }
            let outcomes = try driver.write([
                ("a", entry(1)), ("b", entry(2)), ("a", entry(3)), ("b", .remove), ("c", .remove),
            ])
            try expect(
                outcomes.map(\.wasPresent),
                [false, false, true, true, false],
                "was present"
            )
            try expect(driver.bytes("a"), [3], "a")
            try expect(driver.bytes("b"), nil, "b")
            try expect(driver.archive.totals(), StorageUsage(entries: 1, bytes: 1), "totals")
        },
        ArchiveRule("the contents match a dictionary after a hundred random operations") { make in
            for seed in 0..<UInt64(LongRun.number(20, usually: 6)) {
                var random = SeededGenerator(seed: seed)
                let driver = ArchiveHarness(try make(.unlimited))
                var model: [EntryKey: [UInt8]] = [:]
                for _ in 0..<100 {
                    let key = EntryKey("\(Int.random(in: 0..<12, using: &random))")
                    switch Int.random(in: 0..<20, using: &random) {
                    case 0:
                        try driver.write("", .removeAll)
                        model = [:]
                    case 1..<5:
                        try expect(
                            driver.write(key, .remove).wasPresent,
                            model.removeValue(forKey: key) != nil,
                            "removed, seed \(seed)"
                        )
                    case 5..<15:
                        let bytes = [UInt8](
                            repeating: .random(in: 0...255, using: &random),
                            count: .random(in: 0..<300, using: &random)
                        )
                        try driver.store(bytes, key)
                        model[key] = bytes
                    default:
                        try expect(driver.bytes(key), model[key], "bytes, seed \(seed)")
                    }
                    let bytes = model.values.reduce(0) { $0 + $1.count }
                    try expect(
                        driver.archive.totals(),
                        StorageUsage(entries: model.count, bytes: bytes),
                        "totals, seed \(seed)"
                    )
                }
            }
        },
        ArchiveRule(
            "an entry dated in the future beyond the slack is invalid unless it never expires"
        ) { make in
            let driver = ArchiveHarness(try make(.unlimited))
            let end = driver.clock.now.advanced(byMilliseconds: 7_200_000)
            try driver.store([1], "expires", expires: end)
            try driver.store([2], "never")
            driver.clock.advance(by: .seconds(-60))
            try expect(Set(driver.keys()), ["expires", "never"], "within the slack")
            driver.clock.advance(by: .seconds(-3600))
            try expect(driver.keys(), ["never"], "beyond it")
            try expect(
                driver.store([3], "expires", onlyIfAbsent: true).wasDeclined,
                false,
                "declined"
            )
        },
        ArchiveRule("the writes of several threads are all applied") { make in
            let driver = ArchiveHarness(try make(.unlimited))
            let failures = Locked<[VellumError]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in 0..<50 {
                    do throws(VellumError) {
                        try driver.store(count: 10, EntryKey("\(thread) \(number)"))
                        try driver.store(count: 20, EntryKey("\(thread) \(number)"))
                        _ = try driver.bytes(EntryKey("0 \(number)"))
                        if number % 5 == 0 {
                            try driver.write(EntryKey("\(thread) \(number)"), .remove)
                        }
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
            }
            if let failure = failures.withLock({ $0.first }) { throw failure }
            try expect(driver.archive.totals(), StorageUsage(entries: 160, bytes: 3200), "totals")
            try expect(driver.keys().count, 160, "keys")
        },
    ]
}
