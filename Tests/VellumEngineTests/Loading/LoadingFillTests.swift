import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A loaded value is recorded only if the key was not written or removed during the load (P18). An
/// entry that expires or is evicted does not stop it (P24).
@Suite(.ownThreads)
struct LoadingFillTests {
    let setup: LoadingSetup
    let source = Source()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    /// Loads the key, runs a step during the load, and checks that the caller gets the loaded
    /// value.
    private func load(_ key: EntryKey = "a", while step: () throws -> Void) async throws {
        let ask = Task { [store, source] in
            try await store.value(forKey: key) { try await source.load() }
        }
        await source.waitUntilCalled()
        try step()
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
    }

    // MARK: P18

    @Test func aValueRecordedAndRemovedDuringItsLoadStaysRemoved() async throws {
        try await load {
            try store.record("short", forKey: "a")
            try store.remove("a")
        }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aValueRecordedDuringTheLoadCountsAsAWriteEvenIfItHasExpired() async throws {
        try await load {
            try store.record("newer", forKey: "a", expiration: .after(.seconds(1)))
            setup.clock.advance(by: .seconds(2))
        }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aTransactionThatIsNeverCommittedDoesNotStopTheFill() async throws {
        try await load {
            var transaction = StoreTransaction()
            transaction.remove("a", in: store)
            try transaction.record("newer", forKey: "a", in: store)
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func aFailedWriteDoesNotStopTheFill() async throws {
        try await load {
            setup.disk.file.failWrites(full)
            #expect(throws: VellumError.self) { try store.record("newer", forKey: "a") }
            setup.disk.file.failWrites(nil)
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func aWriteOfAnotherKeyDoesNotStopTheFill() async throws {
        try await load {
            for number in 0..<200 { try store.record("x", forKey: EntryKey("\(number)")) }
            for number in 0..<200 { try store.remove(EntryKey("\(number)")) }
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    /// Even at the last moment: the condition is checked inside the lock of the write.
    @Test func aRemovalJustBeforeTheFillIsCommittedCounts() async throws {
        let ask = Task { [store, source] in
            try await store.value(forKey: "a") { try await source.load() }
        }
        await source.waitUntilCalled()
        // The codec runs between the loader and the write.
        let codec = setup.codec
        source.answer("loaded")
        await until("the loaded value is encoded") { codec.counts.encodes > 0 }
        try store.remove("a")
        #expect(try await ask.value == "loaded")
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aValueThatTheLoaderRecordsItselfIsNotOverwritten() async throws {
        let value = try await store.value(forKey: "a") { [store] in
            try store.record("by itself", forKey: "a")
            return "returned"
        }
        #expect(value == "returned")
        #expect(try store.value(forKey: "a") == "by itself")
    }

    // MARK: Another process

    @Test func aValueOfAnotherProcessIsNotOverwritten() async throws {
        try await load {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(
                Array("\"theirs\"".utf8),
                "a"
            )
        }
        #expect(try store.value(forKey: "a") == "theirs")
    }

    @Test func anExpiredValueOfAnotherProcessIsReplaced() async throws {
        try await load {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(
                Array("\"theirs\"".utf8),
                "a",
                expires: setup.clock.now
            )
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    // MARK: P24

    @Test func anEntryThatExpiresDuringTheLoadDoesNotStopTheFill() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(9))
        let ask = Task { [store, source] in
            try await store.value(forKey: "b") { try await source.load() }
        }
        await source.waitUntilCalled()
        setup.clock.advance(by: .seconds(20))
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
        #expect(try await store.value(forKey: "a") { "anew" } == "anew")
    }

    @Test func anEntryThatIsSweptDuringTheLoadDoesNotStopTheFill() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(60))
        try await load {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).write(
                "a",
                .remove
            )
            store.release(store.memory.remove("a"))
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func anEntryThatIsEvictedDuringTheLoadDoesNotStopTheFill() async throws {
        let setup = try LoadingSetup(memory: 100, disk: 100)
        let source = Source()
        try setup.store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(60))
        let ask = Task { try await setup.store.value(forKey: "a") { try await source.load() } }
        await source.waitUntilCalled()
        try setup.store.record(String(repeating: "x", count: 90), forKey: "b")
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
        #expect(try setup.store.value(forKey: "a") == "loaded")
    }

    // MARK: Watching

    @Test func noKeyIsWatchedWithoutALoad() async throws {
        for number in 0..<10 { _ = try await store.value(forKey: EntryKey("\(number)")) { "x" } }
        for number in 10..<20 {
            await #expect(throws: Outage.self) {
                try await store.value(forKey: EntryKey("\(number)")) { () async throws -> String in
                    throw Outage()
                }
            }
        }
        let ask = Task { [store, source] in
            try await store.value(forKey: "a") { try await source.loadIgnoringCancellation() }
        }
        await source.waitUntilCalled()
        ask.cancel()
        _ = await ask.result
        source.answer("too late")
        await until("no key is watched") { store.memory.isWatchingNothing }
        store.loads.checkInvariants()
    }
}

extension MemoryCache {
    var isWatchingNothing: Bool {
        contents.read { contents, _ in contents.pointee.watched.isEmpty }
    }
}
