import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A loaded value is written to the file only if the key was not written or removed during the
/// load.
@Suite(.ownThreads)
struct LoadingFillOnDiskTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    /// Loads "a" and runs a step during the load.
    private func load(
        _ store: Store<Data>,
        while step: @escaping @Sendable () throws -> Void
    ) async throws {
        let value = try await store.value(forKey: "a") {
            try step()
            return Data("loaded".utf8)
        }
        #expect(value == Data("loaded".utf8))
    }

    /// The value in the file, whatever memory holds.
    private func stored(_ store: Store<Data>) throws -> String? {
        store.trimMemory(to: 0)
        return try store.value(forKey: "a").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [Durability.relaxed, .crashSafe, .powerSafe])
    func loadedValuesAreInTheFile(_ durability: Durability) async throws {
        let store = try setup.store(durability: durability)
        try await load(store) {}
        #expect(try stored(store) == "loaded")
    }

    @Test(arguments: [Durability.relaxed, .crashSafe])
    func aValueRemovedDuringItsLoadStaysRemoved(_ durability: Durability) async throws {
        let store = try setup.store(durability: durability)
        try await load(store) { try store.remove("a") }
        #expect(try stored(store) == nil)
        try await load(store) { try store.removeAll() }
        #expect(try stored(store) == nil)
    }

    @Test(arguments: [Durability.relaxed, .crashSafe])
    func aValueRecordedDuringTheLoadIsKept(_ durability: Durability) async throws {
        let store = try setup.store(durability: durability)
        try await load(store) { try store.record(Data("newer".utf8), forKey: "a") }
        #expect(try stored(store) == "newer")
    }

    @Test func anExpiredValueIsReplacedEvenIfItIsEvictedDuringTheLoad() async throws {
        let store = try setup.store(disk: 100)
        try store.record(Data("old".utf8), forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(2))
        try await load(store) { try store.record(Data(1, count: 98), forKey: "b") }
        #expect(try stored(store) == "loaded")
    }

    /// Stands for another process: another connection writes the row.
    @Test func aValueWrittenByAnotherProcessDuringTheLoadIsKept() async throws {
        let store = try setup.store()
        let other = try RawDatabase(setup.url)
        try store.record(Data("theirs".utf8), forKey: "a")
        try other.execute("CREATE TEMP TABLE theirs AS SELECT * FROM entries")
        try store.record(Data("old".utf8), forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(2))
        let value = try await store.value(forKey: "a") { Data("loaded".utf8) }
        #expect(value == Data("loaded".utf8))
        #expect(try stored(store) == "loaded")

        try store.record(Data("old".utf8), forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(2))
        let gate = Gate(other)
        try await load(store) {
            // The expired entry may have been swept already, so an update would find nothing.
            try gate.database.execute("INSERT OR REPLACE INTO entries SELECT * FROM theirs")
        }
        #expect(try stored(store) == "theirs")
        #expect(try store.statistics().failures == 0)
    }

    /// Unchecked because the connection is protected by having one user: the loader, whose end the
    /// test awaits.
    private final class Gate: @unchecked Sendable {
        let database: RawDatabase
        init(_ database: RawDatabase) { self.database = database }
    }

    @Test func loadedValuesSurviveTheProcess() async throws {
        try await load(try setup.store()) {}
        try setup.close()
        #expect(try stored(try setup.store()) == "loaded")
    }
}

/// The same from many tasks.
@Suite(.ownThreads)
struct LoadingFillConcurrencyTests {
    @Test(arguments: [Durability.relaxed, .crashSafe])
    func aRemovedValueStaysRemovedWhileManyTasksLoadIt(_ durability: Durability) async throws {
        let setup = try Setup()
        let store = try setup.store(durability: durability)
        let version = Version()
        await withTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    for round in 0..<LongRun.number(100, usually: 40) {
                        let task = Task {
                            try await store.value(forKey: "a") {
                                let now = version.now
                                // The source may answer later. Nothing depends on it.
                                await Task.yield()
                                return Data("\(now)".utf8)
                            }
                        }
                        if round % 5 == 0 { task.cancel() }
                        _ = await task.result
                    }
                }
            }
            group.addTask {
                do {
                    for _ in 0..<LongRun.number(150, usually: 60) {
                        let round = version.advance()
                        try store.remove("a")
                        await pause()
                        if round % 3 == 0 { store.trimMemory(to: 0) }
                        guard let found = try store.value(forKey: "a"),
                            let old = Int(String(decoding: found, as: UTF8.self))
                        else { continue }
                        #expect(old >= round)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
    }

    private final class Version: Sendable {
        private let number = Locked(0)

        var now: Int { number.withLock { $0 } }

        func advance() -> Int {
            number.withLock { number in
                number += 1
                return number
            }
        }
    }
}
