import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumTestSupport
import VellumTesting

/// The rows of the table of parameters that models of screens, finders of text and the test kit
/// have.
@Suite(.ownThreads)
struct ScreenInputTests {
    struct Item: ArchiveCodable, Sendable, Equatable {
        var primaryKey: String { id }
        var id: String
    }

    private static func store(
        _ faults: Faults = Faults(),
        _ clock: TestClock = TestClock()
    ) throws -> ArchiveStore<Item> {
        let store = try ArchivesFactory.inMemory(faults: faults, clock: clock).store(
            for: Item.self,
            diskLimit: .unlimited
        )
        try store.record(contentsOf: ["a", "b", "c"].map { Item(id: $0) })
        return store
    }

    private static func cache() -> MiniCache<String, Int> {
        MiniCacheManager.inMemory().cache(
            cacheName: "a",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )
    }

    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    private static let screens: [InputCase] = [
        InputCase(
            "ArchiveResults.limit",
            "ArchiveResults.ask limit",
            of: HostileInput.counts,
            throwing: { $0 < 0 ? .invalidQuery : nil }
        ) {
            limit in
            try await showing(limit)
        },
        InputCase("ArchiveResults.showMore by", "ArchiveCount.value", of: HostileInput.counts) {
            count in try await showingMore(count)
        },
        InputCase("ArchiveResults.delete allKeys", of: HostileInput.names) { key in
            try await deleting(key)
        },
    ]

    /// What is asked and written with a limit; a negative one is an error that the model has.
    @MainActor private static func showing(_ limit: Int) async throws {
        let store = try store()
        let (results, others) = (ArchiveResults(store), ArchiveResults(store))
        await store.observersSettled()
        results.limit = limit
        others.ask(limit: limit)
        try results.record(Item(id: "d"))
        try results.delete(allKeys: ["d"])
        await store.observersSettled()
        try expect(results.error?.code == others.error?.code, "Two errors.")
        if let error = results.error { throw error }
        try expect(
            results.value.count == min(limit, 3) && others.value == results.value,
            "\(results.value)"
        )
    }

    @MainActor private static func showingMore(_ count: Int) async throws {
        let store = try store()
        let (results, number) = (ArchiveResults(store, limit: 1), ArchiveCount(store))
        await store.observersSettled()
        try results.showMore(after: #require(results.value.last), by: count)
        await store.observersSettled()
        try expect(
            results.value.count == (count < 1 ? 1 : min(3, count == .max ? 3 : 1 + count))
                && number.value == 3,
            "\(results.value)"
        )
    }

    @MainActor private static func deleting(_ key: String) async throws {
        let results = ArchiveResults(try store())
        try expect(results.delete(allKeys: [key]) == 0, "deleted")
    }

    private static let text: [InputCase] = [
        InputCase("QueryValidator.starts with", "QueryValidator.isEqual _", of: HostileInput.names)
        { text in
            let store = try store()
            if text.utf8.count < 1000, !text.isEmpty { try store.record(Item(id: text)) }
            let archives: ArchiveManager<Item> = try store.factory.archives()
            let equal = archives.findWhere { $0.id(.isEqual(text, ignoring: .caseAndDiacritics)) }
                .getResults()
            let starts = archives.findWhere { $0.id(.starts(with: text, ignoring: .case)) }
                .getResults()
            try expect(
                equal.map(\.id) == (text.utf8.count < 1000 && !text.isEmpty ? [text] : []),
                "\(equal.count)"
            )
            try expect(starts.count == (text.isEmpty ? 3 : equal.count), "\(starts.count)")
        }
    ]

    private static let kit: [InputCase] = [
        InputCase("ArchiveStore.damage archiveWithKey", of: HostileInput.names) { key in
            try expect(!store().damage(archiveWithKey: key), "damaged")
            try expect(!cache().damage(forKey: key), "damaged")
        },
        InputCase(
            "ArchiveStore.waitForCallers _",
            "MiniCache.waitForCallers _",
            "LoaderGate.waitForCalls _",
            of: HostileInput.counts
        ) {
            count in
            let waiting = Task {
                await LoaderGate<Int>().waitForCalls(count)
                await (try store()).waitForCallers(count)
                try await cache().waitForCallers(count)
            }
            // As many as there will never be: until the test ends.
            if count > 0 { waiting.cancel() }
            try await waiting.value
        },
        InputCase(
            "Faults.fail after",
            of: HostileInput.counts,
            throwing: { $0 > 0 ? nil : .inputOutput }
        ) { calls in
            let faults = Faults()
            let store = try store(faults)
            // One call is not enough for what a record does.
            faults.fail(after: calls == 1 ? .max : calls)
            defer { faults.heal() }
            try store.record(Item(id: "d"))
        },
        InputCase(
            "LoaderGate.load _",
            "LoaderGate.release _",
            "LoaderGate.fail _",
            of: HostileInput.names
        ) { name in
            let gate = LoaderGate<Int>()
            let (one, other) = (
                Task { try await gate.load(name) }, Task { try await gate.load("other") }
            )
            await gate.waitForCalls(2)
            gate.release(name, with: 1)
            gate.fail(name, with: CancellationError())
            gate.release(with: 2)
            try expect(try await one.value + other.value == 3, "a value")
        },
        InputCase("TestClock.init _", "TestClock.now", of: HostileInput.seconds) { seconds in
            let date = Date(timeIntervalSince1970: seconds)
            let clock = TestClock(date)
            let store = try store(Faults(), clock)
            clock.now = date
            try store.record(Item(id: "d"), expiration: .after(.seconds(1)))
            await clock.advance(by: .seconds(2))
            _ = try store.fetch()
            TestClock().now = date
        },
        InputCase("TestClock.advance by", of: HostileInput.durations) { duration in
            let clock = TestClock()
            let store = try store(Faults(), clock)
            try store.record(Item(id: "d"), expiration: .after(.seconds(1)))
            await clock.advance(by: duration)
            try expect(store.count() == (duration >= .seconds(1) ? 3 : 4), "\(clock.now)")
        },
    ]

    @Test(arguments: screens + text + kit) func noValueEndsTheProcess(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(row)")
    }
}
