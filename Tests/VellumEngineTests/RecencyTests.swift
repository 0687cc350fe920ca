import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C4: the order of use, in memory and on disk.
@Suite(.ownThreads)
struct RecencyModelTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    @Test func anAccessAffectsTheEvictionOrderOfTheDisk() throws {
        let store = try setup.store(memory: 1, disk: 300)
        for key in ["a", "b", "c"] { try store.record(Data(1, count: 100), forKey: EntryKey(key)) }
        _ = try store.value(forKey: "a")
        try store.record(Data(1, count: 100), forKey: "d")
        #expect(try store.keys() == ["d", "a", "c"])
    }

    /// An archive all of whose entries were used, and the first entry of the next one, which is
    /// older than these uses.
    @Test func anArchiveEvictsNoEntryOfTheNext() throws {
        let store = try setup.store("one", memory: 1, disk: 1000)
        let next = try setup.store("two", memory: 1)
        for key in ["a", "b"] { try store.record(Data(1, count: 400), forKey: EntryKey(key)) }
        try next.record(Data(2, count: 100), forKey: "c")
        setup.clock.advance(by: .seconds(1))
        for key in ["a", "b"] { _ = try store.value(forKey: EntryKey(key)) }
        // Inserts nothing, and exceeds the limit.
        try store.record(Data(3, count: 700), forKey: "a")
        #expect(try store.keys() == ["a"])
        #expect(try next.value(forKey: "c") == Data(2, count: 100))
        #expect(try next.count() == 1)
    }

    /// P15: listing, counting and reading metadata do not affect the eviction order.
    @Test func listingAndMetadataDoNotAffectTheEvictionOrder() throws {
        let store = try setup.store(memory: 1, disk: 300)
        for key in ["a", "b", "c"] { try store.record(Data(1, count: 100), forKey: EntryKey(key)) }
        _ = try store.values()
        _ = try store.keys()
        _ = try store.count()
        _ = try store.metadata(forKey: "a")
        _ = try store.contains("a")
        _ = try store.statistics()
        try store.record(Data(1, count: 100), forKey: "d")
        #expect(try store.keys() == ["d", "c", "b"])
    }

    /// The order survives the store, whether or not memory still holds the entries.
    @Test(arguments: [1, 150, 1_000_000])
    func theOrderOfUseSurvivesTheStore(_ memory: Int) throws {
        do {
            let store = try setup.store(memory: DataSize(bytes: memory))
            for number in 0..<10 {
                try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
            }
            for number in [3, 1, 4, 1, 5] { _ = try store.value(forKey: EntryKey("\(number)")) }
            try store.record(Data(9, count: 50), forKey: "2")
        }
        let store = try setup.store(memory: DataSize(bytes: memory))
        #expect(
            try store.keys().map(\.normalized) == [
                "2", "5", "1", "4", "3", "9", "8", "7", "6", "0",
            ]
        )
        let few = try setup.open().store(
            named: "strings",
            codec: IdentityCodec(),
            memory: Capacity(DataSize(bytes: memory)),
            disk: Capacity(100.megaByte),
            whenDifferent: .share
        )
        #expect(try few.keys(limit: 3) == ["2", "5", "1"])
    }

    /// P21, V12: the modification dates of the file have no effect.
    @Test func theTimeOfAnAccessIsThatOfTheClock() throws {
        let store = try setup.store()
        try store.record(Data(1, count: 1), forKey: "a")
        setup.clock.advance(by: .seconds(100))
        #expect(
            try store.metadata(forKey: "a")?.lastUsed
                == setup.clock.now.date.addingTimeInterval(-100)
        )
        _ = try store.value(forKey: "a")
        #expect(try store.metadata(forKey: "a")?.lastUsed == setup.clock.now.date)
        store.trimMemory(to: 0)
        #expect(try store.metadata(forKey: "a")?.lastUsed == setup.clock.now.date)
        try store.flush()
        #expect(try store.metadata(forKey: "a")?.lastUsed == setup.clock.now.date)
        #expect(
            try store.metadata(forKey: "a")?.written
                == setup.clock.now.date.addingTimeInterval(-100)
        )
    }

    /// V1: unused entries are removed and recently used entries stay, whether memory or the disk
    /// knows the last use.
    @Test func unusedEntriesAreRemoved() throws {
        let store = try setup.store(memory: 250)
        for key in ["a", "b", "c", "d"] {
            try store.record(Data(1, count: 100), forKey: EntryKey(key))
        }
        setup.clock.advance(by: .seconds(60))
        _ = try store.value(forKey: "a")
        _ = try store.value(forKey: "c")
        #expect(try store.removeUnused(since: setup.clock.now.date.addingTimeInterval(-30)) == 2)
        #expect(try store.keys() == ["c", "a"])
        #expect(try store.value(forKey: "b") == nil)
        #expect(try store.value(forKey: "d") == nil)
    }

    /// A model of memory and disk: accesses, writes and removals, with random flushes and
    /// reopenings.
    @Test(arguments: UInt64(1)...4)
    func theDiskEvictsInTheExactOrderOfUse(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = 12
        let memory = DataSize(bytes: random.element(of: [1, 35, 60, 10_000]))
        var store: Store<Data>? = try setup.store(memory: memory, disk: DataSize(bytes: limit * 10))
        var model: [String] = []
        for step in 0..<LongRun.number(800, usually: 300) {
            guard let open = store else { break }
            let key = "\(Int.random(in: 0..<30, using: &random))"
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45:
                try open.record(Data(step, count: 10), forKey: EntryKey(key))
                model.removeAll { $0 == key }
                model.insert(key, at: 0)
            case 45..<85:
                _ = try open.value(forKey: EntryKey(key))
                if model.contains(key) {
                    model.removeAll { $0 == key }
                    model.insert(key, at: 0)
                }
            case 85..<92:
                #expect(try open.remove(EntryKey(key)) == model.contains(key))
                model.removeAll { $0 == key }
            case 92..<96: try open.flush()
            case 96..<98: open.trimMemory(to: 20)
            case 98:
                store = nil
                store = try setup.store(memory: memory, disk: DataSize(bytes: limit * 10))
            default: setup.clock.advance(by: .milliseconds(Int.random(in: -5...50, using: &random)))
            }
            // Memory may hold more than the disk; entries that the disk evicts are still found
            // there.
            if memory.bytes < limit * 10 {
                model = Array(model.prefix(limit))
                #expect(
                    try store?.keys().map(\.normalized) == model,
                    "seed \(seed), step \(step), memory \(memory)"
                )
            }
            let totals = try store?.statistics().disk
            #expect((totals?.bytes ?? 0) <= limit * 10)
            if memory.bytes >= limit * 10, store != nil, step % 50 == 49 {
                store = nil
                store = try setup.store(memory: memory, disk: DataSize(bytes: limit * 10))
                model = try #require(try store?.keys().map(\.normalized))
            }
        }
    }
}

/// C12: the clock may go back between two openings.
@Suite(.ownThreads)
struct ClockTests {
    @Test func anEntryRecordedAfterTheClockWentBackIsTheNewest() throws {
        let setup = try Setup()
        do {
            let store = try setup.store(memory: 1, disk: 300)
            for key in ["a", "b", "c"] {
                try store.record(Data(1, count: 100), forKey: EntryKey(key))
            }
            _ = try store.value(forKey: "a")
            try store.flush()
            try store.close()
        }
        setup.clock.advance(by: .seconds(-86_400))
        let store = try setup.store(memory: 1, disk: 300)
        try store.record(Data(1, count: 100), forKey: "d")
        #expect(try store.keys() == ["d", "a", "c"])
        _ = try store.value(forKey: "c")
        try store.record(Data(1, count: 100), forKey: "e")
        #expect(try store.keys() == ["e", "c", "d"])
    }
}
