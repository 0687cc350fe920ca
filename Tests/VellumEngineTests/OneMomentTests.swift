import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A call for many keys returns what they had at one moment. Never fails by chance: what is right
/// for one schedule is right for all.
@Suite(.ownThreads)
struct OneMomentTests {
    private static let keys = (0..<50).map { EntryKey("key \($0)") }

    enum Reading: CaseIterable, Sendable { case fromMemory, partlyFromDisk, fromDisk }

    /// A transaction writes all keys, then some alone, again and again.
    @Test(arguments: Reading.allCases, [Durability.crashSafe, .relaxed])
    func manyKeysAreOfOneMoment(_ reading: Reading, _ durability: Durability) throws {
        let setup = try Setup()
        let memory: DataSize =
            reading == .fromMemory
            ? 1.megaByte : reading == .partlyFromDisk ? 2500.bytes : 100.bytes
        let store = try setup.store(memory: memory, durability: durability)
        @Sendable func write(_ number: Int) throws {
            var transaction = StoreTransaction()
            for key in Self.keys {
                try transaction.record(Data(number, count: 100), forKey: key, in: store)
            }
            try transaction.commit()
        }
        try write(0)
        let isDone = Flag()
        let mixed = Locked(0)
        let calls = Locked(0)
        onThreads(3) { thread in
            do {
                if thread == 0 {
                    for number in 1...LongRun.number(400, usually: 60) { try write(number) }
                    isDone.set()
                }
                while thread > 0, !isDone.isSet {
                    let values = try store.values(forKeys: Self.keys)
                    calls.withLock { $0 += 1 }
                    if Set(values).count != 1 { mixed.withLock { $0 += 1 } }
                }
            } catch {
                isDone.set()
                Issue.record(error)
            }
        }
        #expect(mixed.withLock { $0 } == 0, "of \(calls.withLock { $0 }) calls")
    }

    /// What only memory has is of that moment, too.
    @Test func whatOnlyMemoryHasIsReadWithTheRest() throws {
        let setup = try Setup()
        // The large values fit into memory alone.
        let store = try setup.store(memory: 1.megaByte, disk: 1000.bytes)
        @Sendable func write(_ number: Int) throws {
            var transaction = StoreTransaction()
            for (index, key) in Self.keys.prefix(4).enumerated() {
                try transaction.record(
                    Data(number, count: index < 2 ? 100 : 2000),
                    forKey: key,
                    in: store
                )
            }
            try transaction.commit()
        }
        try write(0)
        let isDone = Flag()
        let mixed = Locked(0)
        onThreads(2) { thread in
            do {
                if thread == 0 {
                    for number in 1...300 { try write(number) }
                    isDone.set()
                }
                while thread > 0, !isDone.isSet {
                    let values = try store.values(forKeys: Array(Self.keys.prefix(4))).map {
                        $0?.first
                    }
                    if Set(values).count != 1 { mixed.withLock { $0 += 1 } }
                }
            } catch {
                isDone.set()
                Issue.record(error)
            }
        }
        #expect(mixed.withLock { $0 } == 0)
        // While nobody of this process commits.
        let now = setup.clock.now
        let read = try store.valuesInCommitOrder(Array(Self.keys.prefix(4)), (now, .never), .fail)
        #expect(
            read.map { $0?.count } == [100, 100, 2000, 2000]
                && Set(read.map { $0?.first }).count == 1
        )
    }

    /// A call that finds the moment changed each time reads while nobody commits, also in an open
    /// batch of relaxed writes.
    @Test(arguments: [Durability.crashSafe, .relaxed]) func whatIsReadInCommitOrderIsWhatWasWritten(
        _ durability: Durability
    ) throws {
        let setup = try Setup()
        let store = try setup.store(memory: 300.bytes, durability: durability)
        for (number, key) in Self.keys.enumerated() {
            try store.record(Data(number, count: 100), forKey: key)
        }
        let asked = Self.keys + ["missing"]
        let read = try store.valuesInCommitOrder(asked, (setup.clock.now, .never), .fail)
        #expect(read == (0..<50).map { Data($0, count: 100) } + [nil])
        #expect(store.disk.archive.present != nil)
    }
}
