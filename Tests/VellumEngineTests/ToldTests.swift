import Foundation
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Whom each change is told to, whatever it comes from: a transaction, memory, the clock, or
/// another process.
@Suite(.ownThreads)
struct ToldTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    enum Source: CaseIterable, Sendable {
        case write, relaxedWrite, removal, removalOfNothing, removalOfAll, memoryOnlyWrite,
            overwriteOfMemoryOnly
        case evictionFromMemory, endOfAnAge, otherProcess, otherProcessThatDied,
            otherProcessOfAllKeys, stateOfTheFile

        /// Whether it concerns an observer of another key of the archive.
        var concernsOtherKeys: Bool {
            [.removalOfAll, .otherProcessOfAllKeys, .stateOfTheFile].contains(self)
        }
    }

    /// What must be there before.
    private func prepare(_ source: Source, _ store: Store<Data>) throws {
        switch source {
        case .removal: try store.record(Data(1, count: 10), forKey: "a")
        case .overwriteOfMemoryOnly, .evictionFromMemory:
            try store.record(Data(1, count: 2000), forKey: "a")
        default: break
        }
    }

    private func change(
        _ source: Source,
        _ store: Store<Data>,
        _ observer: ChangeObserver
    ) async throws {
        let file = store.disk.file
        let hash = store.disk.changes.hash.of("a")
        switch source {
        case .write, .relaxedWrite, .overwriteOfMemoryOnly:
            try store.record(Data(2, count: 10), forKey: "a")
        case .removal, .removalOfNothing: try store.remove("a")
        case .removalOfAll: try store.removeAll()
        case .memoryOnlyWrite: try store.record(Data(2, count: 2000), forKey: "a")
        case .evictionFromMemory:
            for key: EntryKey in ["c", "d"] { try store.record(Data(2, count: 2000), forKey: key) }
        case .endOfAnAge:
            let end = setup.clock.now.advanced(byMilliseconds: 1000)
            observer.tellOfEnd(hash, at: end, by: setup.clock.wallClock)
            await setup.clock.waitForSleeper(until: end)
            setup.clock.advance(by: .seconds(1))
        case .otherProcess, .otherProcessOfAllKeys:
            file.location.changesFile.page.finish(
                announce(source == .otherProcess ? "a" : nil, store)
            )
        // The number of a process that lives, as that of a zombie does.
        case .otherProcessThatDied: _ = announce("a", store)
        case .stateOfTheFile:
            try file.suspend()
            try file.resume()
        }
    }

    /// Announces a change as another process.
    private func announce(_ key: EntryKey?, _ store: Store<Data>) -> UInt64 {
        let keys = key.map { [store.disk.changes.hash.of($0)] }
        let announcement = ChangePage.Announcement(
            archive: store.disk.archive.id,
            keys: .keys(keys, orAll: .written)
        )
        return store.disk.file.location.changesFile.page.announce(
            [announcement],
            by: 77,
            of: getpid()
        ).last
    }

    @Test(arguments: Source.allCases) func aChangeIsToldToThoseWhomItConcerns(
        _ source: Source
    ) async throws {
        // Memory has two large values alone.
        let store = try setup.store(
            memory: 5000,
            disk: 1000,
            durability: source == .relaxedWrite ? .relaxed : .crashSafe
        )
        let other = try setup.store("other")
        try prepare(source, store)
        let observers =
            ["a", "b"].map { store.observer(of: $0) } + [
                store.observer(), other.observer(of: "a"), other.observer(),
            ]
        let last = other.observer(of: "last")
        defer { for observer in observers + [last] { observer.stop() } }
        for observer in observers + [last] { observer.begin() }
        try await change(source, store, observers[0])
        let concerned = [
            true, source.concernsOtherKeys, true, source == .stateOfTheFile,
            source == .stateOfTheFile,
        ]
        for (observer, isConcerned) in zip(observers, concerned) where isConcerned {
            #expect(await observer.wait())
        }
        // Whoever is told in a later turn was not forgotten in an earlier one.
        try other.record(Data(), forKey: "last")
        #expect(await last.wait())
        let heard = observers.map(\.isDirty)
        #expect(heard[..<4] == concerned[..<4], "\(heard)")
    }

    // MARK: While a commit runs

    /// As if a commit of another handle of this process stood still.
    private struct StandingCommit: ~Copyable {
        init() { OpenDatabases.shared.commits.wrappingAdd(1, ordering: .relaxed) }
        deinit { OpenDatabases.shared.commits.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Waits until the watcher's thread has begun a turn after the call.
    private func turn(_ watcher: ChangeWatcher) async {
        let observer = watcher.observe(1_000_000, key: nil)
        observer.begin()
        watcher.tell(
            Commit(source: .clock, changes: [Commit.Change(archive: 1_000_000, keys: .keys([1]))])
        )
        #expect(await observer.wait())
        observer.stop()
    }

    /// An answer before the commit would be the last one.
    @Test func whatIsCommittedIsToldWhileAnotherCommitStandsStill() async throws {
        let store = try setup.store()
        let (location, archive, hash) = (
            store.disk.file.location, store.disk.archive.id, store.disk.changes.hash
        )
        let watcher = ChangeWatcher(location, longestCommit: .infinity)
        defer { watcher.end() }
        let (a, b) = (
            watcher.observe(archive, key: hash.of("a")), watcher.observe(archive, key: hash.of("b"))
        )
        for observer in [a, b] { observer.begin() }
        let standing = StandingCommit()
        location.changesFile.page.finish(announce("a", store))
        let running = announce("b", store)
        // Its first question comes before the commit.
        let late = watcher.observe(archive, key: hash.of("b"))
        late.begin()
        #expect(await a.wait())
        for _ in 0..<2 { await turn(watcher) }
        #expect(!b.isDirty && !late.isDirty)
        location.changesFile.page.finish(running)
        for observer in [b, late] { #expect(await observer.wait()) }
        withExtendedLifetime(standing) {}
    }

    @Test func theFirstObserverHearsOfACommitThatRunsAlready() async throws {
        let store = try setup.store()
        let watcher = ChangeWatcher(store.disk.file.location, longestCommit: .infinity)
        defer { watcher.end() }
        let standing = StandingCommit()
        let running = announce("a", store)
        let observer = watcher.observe(store.disk.archive.id, key: nil)
        observer.begin()
        store.disk.file.location.changesFile.page.finish(running)
        #expect(await observer.wait())
        withExtendedLifetime(standing) {}
    }

    /// Its process has died, also if a process with its number lives.
    @Test func aCommitIsOverIfNobodyHasTheLock() async throws {
        let store = try setup.store()
        let watcher = ChangeWatcher(store.disk.file.location, longestCommit: .infinity)
        defer { watcher.end() }
        let observer = watcher.observe(store.disk.archive.id, key: nil)
        observer.begin()
        _ = announce("a", store)
        #expect(await observer.wait())
    }

    /// Its process may have died after the commit, and another may hold the lock since.
    @Test func thoseWhomALongCommitConcernsAskAgainAndAgain() async throws {
        let store = try setup.store()
        let watcher = ChangeWatcher(store.disk.file.location, longestCommit: 1)
        defer { watcher.end() }
        let standing = StandingCommit()
        let observer = watcher.observe(store.disk.archive.id, key: nil)
        observer.begin()
        _ = announce("a", store)
        for _ in 0..<3 {
            #expect(await observer.wait())
            observer.begin()
        }
        withExtendedLifetime(standing) {}
    }
}
