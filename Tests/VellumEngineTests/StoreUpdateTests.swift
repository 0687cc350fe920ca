import Foundation
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What an update requires of the disk and of memory.
@Suite(.ownThreads)
struct StoreUpdateTests {
    private let clock = ManualClock()
    private let folder: TemporaryDirectory
    private let store: Store<String>

    init() throws {
        folder = try TemporaryDirectory()
        let disk = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock.wallClock)
            .archive(named: "archive", capacity: Capacity(DataSize(bytes: 1000)))
        var options = StoreOptions<String>()
        options.caching = .values
        store = Store(
            disk: disk,
            codec: JSONCodec<String>(),
            memory: try Capacity(DataSize(bytes: 100_000)),
            options,
            clock: clock.wallClock
        )
    }

    private func append(_ text: String) throws {
        try store.update("a", AgeOfUpdated(nil, ofNew: nil)) { $0 = ($0 ?? "") + text }
    }

    @Test(arguments: [full, inputOutput, busy])
    func aFailedWriteChangesNothing(code: Int32) throws {
        try append("1")
        store.disk.file.failWrites(code)
        #expect(throws: VellumError.self) { try append("2") }
        store.disk.file.failWrites(nil)
        #expect(try store.value(forKey: "a") == "1")
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "a") == "1")
        try append("2")
        #expect(try store.value(forKey: "a") == "12")
    }

    @Test func aFailedReadRunsNoClosure() throws {
        try append("1")
        try store.disk.file.suspend()
        #expect(throws: VellumError.self) {
            try store.update("a", AgeOfUpdated(nil, ofNew: nil)) { _ in
                Issue.record("The closure ran.")
            }
        }
    }

    /// Runs `step` once, between the reading of the key and the writing.
    private func append(
        _ text: String,
        after step: @escaping @Sendable () throws -> Void
    ) throws -> Int {
        var runs = 0
        try store.update("a", AgeOfUpdated(nil, ofNew: nil)) { value in
            runs += 1
            if runs == 1 {
                let result = OnThread { Result { try step() } }.result()
                try result.get()
            }
            value = (value ?? "") + text
        }
        return runs
    }

    @Test func anEntryThatWasEvictedMeanwhileIsNotTakenForTheOneThatWasRead() throws {
        try append("1")
        let (store, clock) = (store, clock)
        let runs = try append("2") {
            // Of one moment, the uses of two threads have no order.
            clock.advance(by: .seconds(1))
            try store.record(String(repeating: "x", count: 996), forKey: "b")
        }
        #expect(runs == 2)
        // Memory still has it.
        #expect(try store.value(forKey: "a") == "12")
    }

    /// What may come between an update's look in memory and its commit: the value after it, and how
    /// often the closure runs.
    enum Between: CaseIterable {
        case nothing, otherMemory, otherKey, record, sameRecord, removal, removalOfAll,
            removalOfPrefix

        var value: String {
            switch self {
            case .nothing, .otherMemory, .otherKey, .sameRecord: "12"
            case .record: "x2"
            case .removal, .removalOfAll, .removalOfPrefix: "2"
            }
        }
        var runs: ClosedRange<Int> {
            switch self {
            case .nothing: 1...1
            // Another key may be of the same stripe.
            case .otherMemory, .otherKey, .sameRecord: 1...2
            case .record, .removal, .removalOfAll, .removalOfPrefix: 2...2
            }
        }
    }

    @Test(arguments: Between.allCases)
    func anUpdateOfWhatMemoryHasReadsNoDiskAndIsOvertakenByEveryWriteOfItsKey(
        _ between: Between
    ) throws {
        try append("1")
        let (store, hits) = (store, store.state.counters.withLock { $0.diskHits })
        let runs = try append("2") {
            switch between {
            case .nothing: break
            case .otherMemory: store.trimMemory(to: 0)
            case .otherKey: for key in 0..<9 { try store.record("1", forKey: EntryKey("b\(key)")) }
            case .record: try store.record("x", forKey: "a")
            case .sameRecord: try store.record("1", forKey: "a")
            case .removal: try store.remove("a")
            case .removalOfAll: try store.removeAll()
            case .removalOfPrefix: _ = try store.removeAll(prefix: "a")
            }
        }
        #expect(between.runs.contains(runs))
        if between == .nothing { #expect(store.state.counters.withLock { $0.diskHits } == hits) }
        #expect(try store.value(forKey: "a") == between.value)
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "a") == between.value)
    }

    /// What memory knows of writes is of a part of the keys. The disk tells them apart.
    @Test func aClosureThatWritesAKeyOfTheSamePartRunsTwice() throws {
        try append("1")
        let (store, part) = (store, store.memory.stripe(of: store.memory.hash.of("a")))
        let other = try #require(
            (0..<10_000).map { EntryKey("b\($0)") }.first {
                store.memory.stripe(of: store.memory.hash.of($0)) == part
            }
        )
        var runs = 0
        try store.update("a", AgeOfUpdated(nil, ofNew: nil)) { value in
            runs += 1
            try store.record("\(runs)", forKey: other)
            value = (value ?? "") + "2"
        }
        #expect(try (runs, store.value(forKey: "a")) == (2, "12"))
    }

    /// Values that say a version although their type has none, as those of a cache do, of which
    /// "refused" cannot be encoded any more.
    private final class RefusingCodec: Codec {
        let refuses = Atomic(false)

        func encode(_ value: String) throws -> Data {
            if refuses.load(ordering: .relaxed), value == "refused" {
                throw CocoaError(.coderInvalidValue)
            }
            return Data(value.utf8)
        }

        func decode(_ bytes: Data) throws -> String { String(decoding: bytes, as: UTF8.self) }
        func version(of value: String) -> Int64 { 2 }
        func migrate(
            _ bytes: Data,
            from version: Int64,
            of key: EntryKey
        ) throws -> Migration<String> { .value(try decode(bytes)) }
    }

    @Test func whatMemoryHasIsComparedByItsVersionAndMayNotBeEncodableAnyMore() throws {
        let codec = RefusingCodec()
        var options = StoreOptions<String>()
        options.caching = .values
        let disk = try DatabaseFile.open(at: folder.file("Versions.sqlite"), clock: clock.wallClock)
            .archive(named: "archive", capacity: Capacity(DataSize(bytes: 1000)))
        let store = Store(
            disk: disk,
            codec: codec,
            memory: try Capacity(DataSize(bytes: 100_000)),
            options,
            clock: clock.wallClock
        )
        let age = AgeOfUpdated(nil, ofNew: nil)
        try store.record("refused", forKey: "a")
        let stores = store.memory.stores
        try store.update("a", age) { $0 = "refused" }
        #expect(store.memory.stores == stores)
        codec.refuses.store(true, ordering: .relaxed)
        try store.update("a", age) { $0 = "accepted" }
        #expect(try store.value(forKey: "a") == "accepted")
    }

    @Test func aValueThatIsOnlyInMemoryIsNotedAlthoughTheDiskIsUnchanged() throws {
        let store = store
        let large = String(repeating: "y", count: 2000)
        // Nothing is under the key on the disk, before and after.
        #expect(try append("2") { try store.record(large, forKey: "a") } == 2)
        #expect(try store.value(forKey: "a") == large + "2")
        #expect(try append("3") { try store.record(large, forKey: "a") } == 2)
        #expect(try store.value(forKey: "a") == large + "3")
        #expect(try append("4") { try store.remove("a") } == 2)
        #expect(try store.value(forKey: "a") == "4")
    }

    /// Two that wait for each other in a way that no turn knows of.
    @Test func nobodyWaitsForATurnForever() throws {
        let store = store
        let runs = try UpdateTurn.$patience.withValue(.milliseconds(20)) {
            try append("2") {
                try UpdateTurn.$patience.withValue(.milliseconds(20)) {
                    try store.update("a", AgeOfUpdated(nil, ofNew: nil)) { $0 = ($0 ?? "") + "1" }
                }
            }
        }
        #expect(runs == 2)
        #expect(try store.value(forKey: "a") == "12")
        // The turn that nobody took is passed on.
        try append("3")
        #expect(try store.value(forKey: "a") == "123")
    }

    /// What a reader's age counts from is kept, so that a counter ends with its window.
    @Test func theDateFromWhichAReadersAgeCountsIsKept() throws {
        let readers = Expiration.after(.seconds(60))
        for expected in ["1", "11", "111"] {
            try store.update("a", under: readers, AgeOfUpdated(nil, ofNew: nil)) {
                $0 = ($0 ?? "") + "1"
            }
            #expect(try store.value(forKey: "a", under: readers) == expected)
            clock.advance(by: .seconds(25))
        }
        #expect(try store.value(forKey: "a", under: readers) == nil)
        try store.update("a", under: readers, AgeOfUpdated(nil, ofNew: nil)) {
            $0 = ($0 ?? "") + "1"
        }
        #expect(try store.value(forKey: "a", under: readers) == "1")
    }

    @Test func anEntryThatExpiresMeanwhileIsStillTheOneThatWasRead() throws {
        try store.record("1", forKey: "a", expiration: .after(.seconds(10)))
        let clock = clock
        #expect(try append("2") { clock.advance(by: .seconds(20)) } == 1)
        // It keeps the age, which is over.
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aRecordOfTheSameBytesIsNoReasonToRunAgainAndLosesNothing() throws {
        try append("1")
        let store = store
        let runs = try append("2") { try store.record("1", forKey: "a") }
        #expect(runs <= 2)
        #expect(try store.value(forKey: "a") == "12")
    }

    /// Random updates, records, removals and the passing of time, against a dictionary.
    @Test func updatesAgreeWithADictionary() throws {
        var random = SeededGenerator(seed: 38)
        var model: [String: (text: String, expires: WallInstant?)] = [:]
        for round in 0..<2000 {
            let key = "k\(Int.random(in: 0..<8, using: &random))"
            let valid = model[key].flatMap { $0.expires ?? .never > clock.now ? $0 : nil }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let isGiven = Bool.random(using: &random)
                let age =
                    isGiven
                    ? Expiration.after(.seconds(Int.random(in: 1...20, using: &random))) : nil
                let new = Int.random(in: 0..<8, using: &random) == 0 ? nil : "\(round)"
                try store.update(EntryKey(key), AgeOfUpdated(age, ofNew: nil)) { value in
                    #expect(value == valid?.text, "round \(round)")
                    value = new
                }
                let expires = age.map {
                    clock.now.advanced(
                        byMilliseconds: $0.age(of: EntryKey(key), written: clock.now)
                    )
                }
                model[key] = new.map { ($0, isGiven ? expires : valid?.expires) }
            case 5..<7:
                try store.record("\(round)", forKey: EntryKey(key))
                model[key] = ("\(round)", nil)
            case 7: model[key] = try store.remove(EntryKey(key)) ? nil : nil
            case 8: clock.advance(by: .seconds(Int.random(in: 0...5, using: &random)))
            default: store.trimMemory(to: DataSize(bytes: Int.random(in: 0...40, using: &random)))
            }
            let now = model[key].flatMap { $0.expires ?? .never > clock.now ? $0.text : nil }
            #expect(try store.value(forKey: EntryKey(key)) == now, "round \(round)")
        }
    }
}
