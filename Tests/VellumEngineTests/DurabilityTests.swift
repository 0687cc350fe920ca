import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.ownThreads)
struct DurabilityConcurrencyTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// P28: every reader sees uncommitted relaxed writes, including removals.
    @Test func relaxedWritesAreVisibleImmediately() throws {
        let store = try setup.store(memory: 1, durability: .relaxed)
        for number in 0..<1000 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
            #expect(try store.value(forKey: EntryKey("\(number)")) == Data(number, count: 10))
            #expect(try store.count() == (number + 2) / 2)
            if number % 2 == 0 {
                try store.remove(EntryKey("\(number)"))
                #expect(try store.value(forKey: EntryKey("\(number)")) == nil)
                try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
                try store.remove(EntryKey("\(number)"))
            }
        }
    }

    /// P28: they are not lost when the store is released without being closed.
    @Test(arguments: Durability.allCases)
    func releasingTheStoreLosesNothing(_ durability: Durability) throws {
        do {
            let store = try setup.store(durability: durability)
            for number in 0..<300 {
                try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
            }
        }
        #expect(try setup.store(durability: durability).count() == 300)
    }

    @Test func aFlushOrADurableWriteOfAnotherStoreCommitsRelaxedWrites() throws {
        let relaxed = try setup.store("relaxed", durability: .relaxed)
        let safe = try setup.store("safe")
        let database = try RawDatabase(setup.url)
        try relaxed.record(Data(1, count: 1), forKey: "a")
        try safe.record(Data(1, count: 1), forKey: "a")
        #expect(try database.int("SELECT count(*) FROM entries WHERE id >> 40 = 1") == 1)
        try relaxed.record(Data(1, count: 1), forKey: "b")
        try relaxed.flush()
        #expect(try database.int("SELECT count(*) FROM entries WHERE id >> 40 = 1") == 2)
    }

    @Test func manyCallersShareOneSync() async throws {
        let store = try setup.store(durability: .powerSafe)
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<20 {
                        try store.record(
                            Data(number, count: 10),
                            forKey: EntryKey("\(worker) \(number)")
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.count() == 80)
    }

    /// P25: ten thousand tasks, in most runs two thousand, on the few threads of the pool.
    @Test func tenThousandTasksGetTheirResults() async throws {
        let store = try setup.store(memory: 10_000)
        for number in 0..<100 {
            try store.record(Data(number, count: 200), forKey: EntryKey("\(number)"))
        }
        let tasks = LongRun.number(10_000, usually: 2000)
        let found = try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    let number = task % 100
                    if task % 20 == 0 {
                        try store.record(Data(number, count: 200), forKey: EntryKey("\(number)"))
                    }
                    return try store.value(forKey: EntryKey("\(number)"))
                        == Data(number, count: 200)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(found == tasks)
    }

    /// P28, P29: the last handle is released while other threads work.
    @Test func aStoreCanBeReleasedDuringWork() async throws {
        for round in 0..<20 {
            try await withThrowingTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask { [setup] in
                        let store = try setup.store(memory: 100)
                        for number in 0..<20 {
                            try store.record(
                                Data(round, count: 20),
                                forKey: EntryKey("\(worker) \(number)")
                            )
                            _ = try store.value(forKey: EntryKey("\(worker) \(number / 2)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try setup.store().count() == 80)
    }

    /// Readers, writers, removers, listers and flushers on several threads: no torn value, and
    /// totals that match.
    @Test func theStoreStaysConsistentUnderManyThreads() async throws {
        let store = try setup.store(memory: 2000, disk: 20_000)
        try await withThrowingTaskGroup { group in
            for worker in UInt64(0)..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: worker)
                    for _ in 0..<400 {
                        let number = Int.random(in: 0..<200, using: &random)
                        let key = EntryKey("\(number)")
                        switch Int.random(in: 0..<20, using: &random) {
                        case 0..<9:
                            if let value = try store.value(forKey: key) {
                                #expect(Set(value) == [UInt8(number)])
                            }
                        case 9..<16:
                            try store.record(
                                Data(number, count: .random(in: 1..<300, using: &random)),
                                forKey: key
                            )
                        case 16..<18: try store.remove(key)
                        case 18: _ = try store.keys(limit: 10)
                        default: try store.flush()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let statistics = try store.statistics()
        #expect(statistics.disk.bytes <= 20_000 && statistics.memory.bytes <= 2000)
        let sizes = try store.keys().compactMap { try store.metadata(forKey: $0)?.size.bytes }
        #expect(sizes.reduce(0, +) == statistics.disk.bytes)
        #expect(sizes.count == statistics.disk.entries)
    }
}
