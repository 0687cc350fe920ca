import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What statistics say of other limits.
@Suite(.ownThreads)
struct SizingTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// Reads one of so many keys again and again, and records what is not found.
    private func use(
        _ store: Store<Data>,
        keys: Int,
        reads: Int,
        under expiration: Expiration = .never,
        seed: UInt64 = 1
    ) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<reads {
            let key = EntryKey("\(Int.random(in: 0..<keys, using: &generator))")
            if try store.value(forKey: key, under: expiration) == nil {
                try store.record(Data(1, count: 100), forKey: key)
            }
        }
    }

    private func ratio(_ points: [Sizing.Point], _ index: Int) -> Double { points[index].hitRatio }

    @Test func theRatiosAtTheLimitAreThoseThatWere() throws {
        // Of 400 keys, a hundred have room on disk, and twenty-five in memory.
        let store = try setup.store(memory: 2500.bytes, disk: 10_000.bytes, durability: .relaxed)
        try use(store, keys: 400, reads: 6000)
        let statistics = try store.statistics()
        let sizing = try #require(statistics.sizing)
        let reads = Double(statistics.memoryHits + statistics.diskHits + statistics.misses)
        #expect(sizing.memory.map(\.limit.bytes) == [312, 625, 1250, 2500, 5000, 10_000, 20_000])
        #expect(
            sizing.disk.map(\.limit.bytes) == [1250, 2500, 5000, 10_000, 20_000, 40_000, 80_000]
        )
        #expect(abs(ratio(sizing.memory, 3) - Double(statistics.memoryHits) / reads) < 0.03)
        #expect(abs(ratio(sizing.disk, 3) - statistics.hitRatio) < 0.03)
        // With room for all of them, only the first read of each is a miss.
        #expect(abs(ratio(sizing.disk, 6) - (1 - 400 / reads)) < 0.03)
        let enough = try #require(sizing.limit(keeping: 0.95)?.bytes)
        #expect((36_000...42_000).contains(enough))
        #expect(sizing.curve.map(\.hitRatio) == sizing.curve.map(\.hitRatio).sorted())
    }

    @Test func aFewReadsSayNothing() throws {
        let store = try setup.store(durability: .relaxed)
        try use(store, keys: 10, reads: 900)
        #expect(try store.statistics().sizing == nil)
        try use(store, keys: 10, reads: 200)
        #expect(try store.statistics().sizing != nil)
    }

    /// Entries that are read again only when they have expired would be missed with any limit.
    @Test(arguments: [Expiration.after(seconds: 60), .never])
    func whatHasExpiredNoLimitKeeps(_ expiration: Expiration) throws {
        let store = try setup.store(memory: 100.bytes, disk: 1000.bytes, durability: .relaxed)
        for round in 0..<30 {
            setup.clock.advance(by: .seconds(3600))
            for number in 0..<50 {
                let key = EntryKey("\(number)")
                if try store.value(forKey: key, under: expiration) == nil {
                    try store.record(Data(round, count: 100), forKey: key)
                }
            }
        }
        let best = try #require(try store.statistics().sizing?.curve.last?.hitRatio)
        #expect(expiration.isNever ? best > 0.9 : best < 0.01)
    }

    @Test func whatACallerRemovesNoLimitKeeps() throws {
        let store = try setup.store(memory: 100.bytes, disk: 1000.bytes, durability: .relaxed)
        for round in 0..<30 {
            for number in 0..<50 {
                let key = EntryKey("\(number)")
                if try store.value(forKey: key) == nil {
                    try store.record(Data(round, count: 100), forKey: key)
                }
                if number % 2 == 0 { try store.remove(key) }
            }
        }
        let best = try #require(try store.statistics().sizing?.curve.last?.hitRatio)
        #expect(abs(best - 0.5) < 0.05)
    }

    /// Of what was on disk before, nobody knows how long ago it was used.
    @Test func entriesOfAnEarlierProcessCountOnceTheyWereUsed() throws {
        try { try use(try setup.store(durability: .relaxed), keys: 500, reads: 5000) }()
        try setup.close()
        setup.clock.advance(by: .seconds(100))
        let store = try setup.store(memory: 1000.bytes, durability: .relaxed)
        try use(store, keys: 500, reads: 6000, seed: 2)
        let sizing = try #require(try store.statistics().sizing)
        #expect(sizing.curve.last.map { $0.hitRatio > 0.98 } ?? false)
    }

    @Test func anUnlimitedStoreIsAsLargeAsWhatItHolds() throws {
        let store = try setup.store(
            memory: DataSize(bytes: .max),
            disk: DataSize(bytes: .max),
            durability: .relaxed
        )
        try use(store, keys: 100, reads: 3000)
        let sizing = try #require(try store.statistics().sizing)
        #expect(sizing.memory[3].limit.bytes == 10_000 && sizing.disk[3].limit.bytes == 10_000)
        #expect(sizing.disk[3].hitRatio > 0.95 && sizing.disk[0].hitRatio < 0.3)
    }

    @Test func theLogSaysWhichSizeWouldDo() throws {
        func advice(hits: Double, at limit: Int) -> String? {
            Log.advice(
                Sizing(memory: 100, disk: limit, reads: 2000) { $0 >= 4 * limit ? hits : hits / 2 },
                DataSize(bytes: limit)
            )
        }
        #expect(
            advice(hits: 0.8, at: 1 << 20) == "A disk limit of 4.1 MB would keep 95 % of the hits."
        )
        #expect(advice(hits: 0, at: 1 << 20) == nil)
        let flat = Sizing(memory: 100, disk: 1000, reads: 2000) { _ in 0.5 }
        #expect(Log.advice(flat, DataSize(bytes: 1000)) == "That keeps 95 % of the hits.")
    }

    @Test func aFileMayHaveAnythingInPlaceOfACurve() throws {
        for text in [
            "", "[]", "{}", "{\"memory\":[],\"disk\":[],\"curve\":[{\"limit\":-1,\"hitRatio\":7}]}",
            "\u{0}",
        ] {
            let store = try setup.store(durability: .relaxed)
            try use(store, keys: 10, reads: 1100)
            try setup.close()
            let database = try RawDatabase(setup.url)
            #expect(try database.int("SELECT count(*) FROM sizing") == 1)
            try database.execute(
                "UPDATE sizing SET curve = '\(text.replacingOccurrences(of: "\u{0}", with: ""))'"
            )
            let file = try setup.open()
            #expect(try file.verify().isIntact)
            let archive = try setup.store().disk.archive
            #expect(
                try file.reading(archive) { (tables) throws(SQLiteError) in
                    try SizingTable.read(of: archive.id, on: tables.connection) == nil
                }
            )
            try setup.close()
        }
    }

    /// Another limit would have kept what was evicted, also if nobody may find it in memory alone.
    @Test(arguments: [false, true]) func entriesOfGroupsCountLikeOthers(hasGroups: Bool) throws {
        let store = try setup.store(memory: 100.bytes, disk: 5000.bytes, durability: .relaxed)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<4000 {
            let key = EntryKey("\(Int.random(in: 0..<200, using: &generator))")
            guard try store.value(forKey: key) == nil else { continue }
            var transaction = StoreTransaction()
            try transaction.record(Data(1, count: 100), forKey: key, in: store)
            if hasGroups { transaction.writes[0].grouping = .groups(["all"]) }
            _ = try transaction.commit()
        }
        let sizing = try #require(try store.statistics().sizing)
        let exact = [0.25, 0.49, 0.93, 0.94]
        for (point, exact) in zip(sizing.disk[3...], exact) {
            #expect(abs(point.hitRatio - exact) < 0.06, "\(sizing.disk)")
        }
    }

    /// A recommendation needs reads of what was evicted.
    @Test func theFirstEvictionKnowsNoSize() throws {
        let archive = try setup.store(durability: .relaxed).disk.archive
        func sizing(_ reads: Int) -> Sizing {
            Sizing(memory: 100, disk: 1000, reads: reads) { $0 > 2000 ? 0.8 : 0.4 }
        }
        archive.adviseSize(sizing(9000), 1000.bytes)
        #expect(archive.upkeep.withLock { $0.readsAtEviction == nil && !$0.hasAdvisedSize })
        archive.noteEvictionByDefault(1000.bytes)
        archive.adviseSize(sizing(900), 1000.bytes)
        #expect(archive.upkeep.withLock { $0.readsAtEviction == 0 && !$0.hasAdvisedSize })
        archive.adviseSize(sizing(1000), 1000.bytes)
        #expect(archive.upkeep.withLock { $0.hasAdvisedSize })
    }

    /// What was used is gone.
    @Test func anArchiveThatIsDroppedLeavesNoCurve() throws {
        let store = try setup.store(durability: .relaxed)
        try use(store, keys: 10, reads: 1100)
        try setup.close()
        func curves() throws -> Int {
            try RawDatabase(setup.url).int("SELECT count(*) FROM sizing")
        }
        #expect(try curves() == 1)
        let file = try setup.open()
        #expect(try file.dropArchive(named: "strings"))
        try file.close()
        #expect(try curves() == 0)
    }
}
