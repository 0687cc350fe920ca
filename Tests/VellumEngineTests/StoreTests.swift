import Foundation
import TestThreads
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

@Suite(.ownThreads)
struct StoreTests {
    /// A store with access to its parts.
    private struct Setup {
        let clock = ManualClock()
        let codec = CountingCodec<String>(JSONCodec<String>())
        let disk: DiskArchive
        let folder: TemporaryDirectory
        let store: Store<String>

        init(
            memory: DataSize = 1.megaByte,
            disk limit: DataSize = 1.megaByte,
            caching: CachePolicy<String> = .values
        ) throws {
            folder = try TemporaryDirectory()
            disk = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock.wallClock)
                .archive(named: "archive", capacity: Capacity(limit))
            var options = StoreOptions<String>()
            options.caching = caching
            store = Store(
                disk: disk,
                codec: codec,
                memory: try Capacity(memory),
                options,
                clock: clock.wallClock
            )
            // Expired entries stay in the file, so that no test depends on when they are reclaimed.
            try store.setRetention(.never, staleWindow: .seconds(86_400))
        }
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count - 2) }

    // MARK: C1

    @Test func aWriteEncodesOnceAndAHitOfAValueDecodesNothing() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a")
        #expect(setup.codec.counts.encodes == 1)
        for _ in 0..<3 { #expect(try setup.store.value(forKey: "a") == "value") }
        #expect(setup.codec.counts == .init(encodes: 1, decodes: 0))
        #expect(try setup.store.statistics().memoryHits == 3)
    }

    @Test func aReadOfTheDiskDecodesOnceAndThenMemoryAnswers() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a")
        setup.store.trimMemory(to: 0)
        for _ in 0..<3 { #expect(try setup.store.value(forKey: "a") == "value") }
        #expect(setup.codec.counts == .init(encodes: 1, decodes: 1))
        #expect(try setup.store.statistics().diskHits == 1)
    }

    @Test func aHitOfEncodedBytesDecodesOnceWithoutReadingTheDisk() throws {
        let setup = try Setup(caching: .bytes)
        try setup.store.record("value", forKey: "a")
        for _ in 0..<3 { #expect(try setup.store.value(forKey: "a") == "value") }
        #expect(setup.codec.counts == .init(encodes: 1, decodes: 3))
        #expect(try setup.store.statistics().memoryHits == 3)
    }

    // MARK: C3

    @Test func aValueLargerThanEveryLimitIsAnErrorAndTheOldValueStays() throws {
        let setup = try Setup(memory: 100, disk: 200)
        try setup.store.record("old", forKey: "a")
        let error = #expect(throws: VellumError.self) {
            try setup.store.record(text(201), forKey: "a")
        }
        #expect(error?.code == .tooLarge)
        #expect(try setup.store.value(forKey: "a") == "old")
    }

    @Test func aValueTooLargeForMemoryIsStoredOnDiskAndEvictsNothingFromMemory() throws {
        let setup = try Setup(memory: 100, disk: 1000)
        try setup.store.record(text(60), forKey: "a")
        try setup.store.record(text(500), forKey: "b")
        #expect(try setup.store.value(forKey: "b") == text(500))
        #expect(try setup.store.statistics().memory == StorageUsage(entries: 1, bytes: 60))
    }

    /// P16: and the value it replaced is gone.
    @Test func aValueTooLargeForTheDiskIsMemoryOnlyAndTheOldValueIsGone() throws {
        let setup = try Setup(memory: 1000, disk: 100)
        try setup.store.record("old", forKey: "a")
        try setup.store.record(text(500), forKey: "a")
        #expect(try setup.store.value(forKey: "a") == text(500))
        #expect(try setup.store.count() == 1)
        #expect(try setup.store.keys() == ["a"])
        setup.store.trimMemory(to: 0)
        #expect(try setup.store.value(forKey: "a") == nil)
        #expect(try setup.store.statistics().removals == [.evicted: 1])
    }

    // MARK: C5

    @Test func aFailingDiskIsAnErrorAndNotAMiss() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a")
        setup.store.trimMemory(to: 0)
        try setup.disk.file.suspend()
        let error = #expect(throws: VellumError.self) { try setup.store.value(forKey: "a") }
        #expect(error?.code == .suspended)
        try setup.disk.file.resume()
        #expect(try setup.store.value(forKey: "a") == "value")
    }

    @Test func aWriteThatFailsChangesNothing() throws {
        let setup = try Setup()
        try setup.store.record("old", forKey: "a")
        setup.disk.file.failWrites(full)
        #expect(throws: VellumError.self) { try setup.store.record("new", forKey: "a") }
        #expect(throws: VellumError.self) { try setup.store.remove("a") }
        #expect(throws: VellumError.self) { try setup.store.removeAll() }
        #expect(try setup.store.value(forKey: "a") == "old")
    }

    @Test func aValueThatCannotBeEncodedChangesNothing() throws {
        struct Oops: Error {}
        let setup = try Setup()
        try setup.store.record("old", forKey: "a")
        setup.codec.fail(with: Oops())
        let error = #expect(throws: VellumError.self) { try setup.store.record("new", forKey: "a") }
        #expect(error?.code == .notEncodable && error?.cause is Oops)
        setup.codec.fail(with: nil)
        #expect(try setup.store.value(forKey: "a") == "old")
    }

    /// P37: an undecodable value is reported and does not hide others.
    @Test func anUndecodableValueIsReportedAndDoesNotHideOthers() async throws {
        let setup = try Setup()
        for key in ["a", "b", "c"] { try setup.store.record(key, forKey: EntryKey(key)) }
        let driver = ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false)
        setup.store.trimMemory(to: 0)
        try driver.store(Array("no JSON".utf8), "b")
        let events = setup.store.events.events()
        #expect(Set(try setup.store.values(undecodable: .skip)) == ["a", "c"])
        var iterator = events.makeAsyncIterator()
        guard case .damagedEntry(let key, let error) = await iterator.next() else {
            throw Unexpected()
        }
        #expect(key == "b" && error.code == .notDecodable)
    }

    // MARK: Filling memory

    /// P18: a concurrent read does not undo a removal.
    @Test func aValueRemovedDuringAReadIsNotCached() throws {
        let setup = try Setup()
        try setup.store.record("old", forKey: "a")
        setup.store.trimMemory(to: 0)
        setup.codec.beforeDecoding { [store = setup.store] in
            do { try store.remove("a") } catch { Issue.record(error) }
        }
        #expect(try setup.store.value(forKey: "a") == "old")
        #expect(try setup.store.value(forKey: "a") == nil)
    }

    @Test func aValueReplacedDuringAReadIsNotRestored() throws {
        let setup = try Setup()
        try setup.store.record("old", forKey: "a")
        setup.store.trimMemory(to: 0)
        setup.codec.beforeDecoding { [store = setup.store] in
            do { try store.record("new", forKey: "a") } catch { Issue.record(error) }
        }
        #expect(try setup.store.value(forKey: "a") == "old")
        #expect(try setup.store.value(forKey: "a") == "new")
    }

    // MARK: Expiry

    @Test func anExpiredEntryIsAMissOnEveryPath() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a", expiration: .after(seconds: 10))
        setup.clock.advance(by: .seconds(9))
        #expect(try setup.store.value(forKey: "a") == "value")
        setup.clock.advance(by: .seconds(1))
        #expect(try setup.store.value(forKey: "a") == nil)
        #expect(try !setup.store.contains("a"))
        #expect(try setup.store.keys() == [])
        #expect(try setup.store.values() == [])
        // P22: recording an expired entry again makes it valid.
        try setup.store.record("new", forKey: "a", expiration: .after(seconds: 10))
        #expect(try setup.store.value(forKey: "a") == "new")
    }

    /// P22: reads and fills do not extend the age of an entry.
    @Test func readingDoesNotExtendTheAge() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a", expiration: .after(seconds: 10))
        setup.clock.advance(by: .seconds(9))
        setup.store.trimMemory(to: 0)
        #expect(try setup.store.value(forKey: "a") == "value")
        setup.clock.advance(by: .seconds(1))
        #expect(try setup.store.value(forKey: "a") == nil)
    }

    // MARK: Transactions and events

    @Test func aTransactionThatFailsHalfWayChangesNothing() throws {
        let setup = try Setup(memory: 100, disk: 100)
        try setup.store.record("old", forKey: "a")
        var transaction = StoreTransaction()
        try transaction.record("new", forKey: "a", in: setup.store)
        transaction.remove("b", in: setup.store)
        #expect(throws: VellumError.self) {
            try transaction.record(text(500), forKey: "c", in: setup.store)
        }
        #expect(try setup.store.value(forKey: "a") == "old")
        #expect(try transaction.commit() == [true, false])
        #expect(try setup.store.value(forKey: "a") == "new")
    }

    @Test func observersReceiveEventsWithTheirReasons() async throws {
        let setup = try Setup(memory: 100, disk: 100)
        let events = setup.store.events.events()
        try setup.store.record(text(60), forKey: "a")
        try setup.store.record(text(60), forKey: "b")
        try setup.store.remove("b")
        try setup.store.removeAll()
        try setup.store.close()
        var received: [String] = []
        for await event in events {
            switch event {
            case .recorded(let key): received.append("recorded \(key)")
            case .removed(let key, let cause): received.append("\(cause) \(key)")
            case .removedAll: received.append("all")
            default: received.append("else")
            }
        }
        #expect(received == ["recorded a", "evicted a", "recorded b", "explicit b", "all"])
    }

    @Test func statisticsCountEvents() throws {
        let setup = try Setup()
        try setup.store.record("value", forKey: "a")
        _ = try setup.store.value(forKey: "a")
        setup.store.trimMemory(to: 0)
        _ = try setup.store.value(forKey: "a")
        _ = try setup.store.value(forKey: "b")
        let statistics = try setup.store.statistics()
        #expect(
            statistics.memoryHits == 1 && statistics.diskHits == 1 && statistics.misses == 1
                && statistics.memoryEvictions == 1
        )
        #expect(
            statistics.memory == StorageUsage(entries: 1, bytes: 7)
                && statistics.disk == StorageUsage(entries: 1, bytes: 7)
        )
        #expect(statistics.hitRatio == 2.0 / 3.0)
    }
}

/// The disk limit of a store that is open is lowered.
@Suite(.ownThreads)
struct LoweredLimitTests {
    @Test func anEntryThatIsRecordedAgainWhileTheDiskLimitIsLoweredIsListedOnce() throws {
        let setup = try Setup()
        let store = try setup.store(memory: 10.megaByte)
        var transaction = StoreTransaction()
        for number in 0..<1000 {
            try transaction.record(
                Data(number, count: 1000),
                forKey: EntryKey("\(number)"),
                in: store
            )
        }
        try transaction.commit()
        let recording = OnThread {
            blockUntil("the new limit holds") { store.capacities.disk.bytes <= 100_000 }
            return code {
                for number in 0..<50 {
                    try store.record(Data(number, count: 1000), forKey: EntryKey("\(number)"))
                }
            }
        }
        try store.reconfigure(
            memory: Capacity(10.megaByte),
            disk: Capacity(DataSize(bytes: 100_000)),
            caching: .values
        )
        #expect(recording.result() == nil)
        let keys = try store.keys().map(\.normalized)
        #expect(keys.count == Set(keys).count)
        #expect(try keys.count == store.count())
    }
}

struct Unexpected: Error {}
