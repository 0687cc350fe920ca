import Foundation
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What was loaded is recorded only where nobody wrote or removed anything meanwhile (P18), and an entry that merely left
/// stops nothing (P24).
@Suite(.timeLimit(.minutes(60)))
struct LoadingFillTests {
    let setup: LoadingSetup
    let source = Source()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    /// Loads the key, with a step while the loader runs, and checks that whoever waited gets what was loaded.
    private func load(_ key: EntryKey = "a", while step: () throws -> Void) async throws {
        let ask = Task { [store, source] in
            try await store.value(forKey: key) { try await source.load() }
        }
        await source.wasAsked()
        try step()
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
    }

    // MARK: P18

    @Test func aValueRemovedWhileItsLoaderRunsIsNotBroughtBack() async throws {
        try await load { try store.remove("a") }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aValueRecordedAndRemovedWhileItsLoaderRunsIsNotBroughtBack() async throws {
        try await load {
            try store.record("short", forKey: "a")
            try store.remove("a")
        }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aValueOverwrittenWhileItsLoaderRunsIsNotOverwrittenByIt() async throws {
        try await load { try store.record("newer", forKey: "a") }
        #expect(try store.value(forKey: "a") == "newer")
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "a") == "newer")
    }

    @Test func aValueThatExpiredAfterItWasRecordedMeanwhileIsStillAWrite() async throws {
        try await load {
            try store.record("newer", forKey: "a", expiration: .after(.seconds(1)))
            setup.clock.advance(by: .seconds(2))
        }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func nothingIsBroughtBackAfterEverythingWasRemoved() async throws {
        try await load { try store.removeAll() }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aTransactionThatRemovesOrRecordsTheKeyCounts() async throws {
        for isRemoval in [true, false] {
            let setup = try LoadingSetup()
            let source = Source()
            let ask = Task { try await setup.store.value(forKey: "a") { try await source.load() } }
            await source.wasAsked()
            var transaction = StoreTransaction()
            if isRemoval {
                transaction.remove("a", in: setup.store)
            } else {
                try transaction.record("newer", forKey: "a", in: setup.store)
            }
            try transaction.commit()
            source.answer("loaded")
            #expect(try await ask.value == "loaded")
            #expect(try setup.store.value(forKey: "a") == (isRemoval ? nil : "newer"))
        }
    }

    @Test func aTransactionThatIsNeverCommittedStopsNothing() async throws {
        try await load {
            var transaction = StoreTransaction()
            transaction.remove("a", in: store)
            try transaction.record("newer", forKey: "a", in: store)
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func aWriteThatFailedStopsNothing() async throws {
        try await load {
            setup.faults.fail(.commit, with: VellumError(.diskFull, "Full."))
            #expect(throws: VellumError.self) { try store.record("newer", forKey: "a") }
            setup.faults.heal()
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func whatHappensToAnotherKeyStopsNothing() async throws {
        try await load {
            for number in 0..<200 { try store.record("x", forKey: EntryKey("\(number)")) }
            for number in 0..<200 { try store.remove(EntryKey("\(number)")) }
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    /// Also in the last moment: the write is asked about inside the lock under which it happens.
    @Test func aRemovalJustBeforeTheFillIsCommittedCounts() async throws {
        let ask = Task { [store, source] in
            try await store.value(forKey: "a") { try await source.load() }
        }
        await source.wasAsked()
        // The codec runs between the loader and the write.
        let codec = setup.codec
        source.answer("loaded")
        while codec.counts.encodes == 0 { await Task.yield() }
        try store.remove("a")
        #expect(try await ask.value == "loaded")
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aLoaderThatRecordsItsKeyItselfIsNotOverwritten() async throws {
        let value = try await store.value(forKey: "a") { [store] in
            try store.record("by itself", forKey: "a")
            return "returned"
        }
        #expect(value == "returned")
        #expect(try store.value(forKey: "a") == "by itself")
    }

    // MARK: Another process

    @Test func whatAnotherProcessWroteMeanwhileIsNotOverwritten() async throws {
        try await load { try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(Array("\"theirs\"".utf8), "a") }
        #expect(try store.value(forKey: "a") == "theirs")
    }

    @Test func whatAnotherProcessWroteAndHasExpiredIsReplaced() async throws {
        try await load {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(
                Array("\"theirs\"".utf8), "a", expires: setup.clock.now)
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    // MARK: P24

    @Test func anEntryThatExpiresWhileItsLoaderRunsStopsNothing() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(9))
        let ask = Task { [store, source] in
            try await store.value(forKey: "b") { try await source.load() }
        }
        await source.wasAsked()
        setup.clock.advance(by: .seconds(60))
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
        #expect(try await store.value(forKey: "a") { "anew" } == "anew")
    }

    @Test func anExpiredEntryThatIsSweptWhileItsLoaderRunsStopsNothing() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(60))
        try await load {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).write("a", .remove)
            store.release(store.memory.remove("a"))
        }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func whatIsRemovedForNotBeingUsedStopsNothing() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(60))
        try await load { try store.removeUnused(since: setup.clock.now.date) }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func anEntryThatIsEvictedWhileItsLoaderRunsStopsNothing() async throws {
        let setup = try LoadingSetup(memory: 100, disk: 100)
        let source = Source()
        try setup.store.record("old", forKey: "a", expiration: .after(.seconds(10)))
        setup.clock.advance(by: .seconds(60))
        let ask = Task { try await setup.store.value(forKey: "a") { try await source.load() } }
        await source.wasAsked()
        try setup.store.record(String(repeating: "x", count: 90), forKey: "b")
        source.answer("loaded")
        #expect(try await ask.value == "loaded")
        #expect(try setup.store.value(forKey: "a") == "loaded")
    }

    // MARK: Watching

    @Test func whenNothingIsLoadedNoKeyIsWatched() async throws {
        for number in 0..<10 { _ = try await store.value(forKey: EntryKey("\(number)")) { "x" } }
        for number in 10..<20 {
            await #expect(throws: Outage.self) {
                try await store.value(forKey: EntryKey("\(number)")) { () async throws -> String in throw Outage() }
            }
        }
        let ask = Task { [store, source] in
            try await store.value(forKey: "a") { try await source.loadStubbornly() }
        }
        await source.wasAsked()
        ask.cancel()
        _ = await ask.result
        source.answer("too late")
        while !store.memory.isWatchingNothing { await Task.yield() }
        store.loads.checkInvariants()
    }
}

extension MemoryCache {
    var isWatchingNothing: Bool { state.withLock { $0.watches.isEmpty } }
}
