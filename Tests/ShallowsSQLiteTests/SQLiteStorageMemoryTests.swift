import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import ShallowsSQLite

/// Values in memory are returned synchronously, unless an earlier call may change them.
@Suite(.ownThreads)
struct SQLiteStorageMemoryTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    /// The value that a storage answers before the call returns; `nil` if it does not.
    private func inMemory<Value: Sendable>(
        _ storage: SQLiteStorage<Value>,
        _ key: Filename
    ) -> Value? {
        let answer = Locked<Value?>(nil)
        storage.retrieve(forKey: key) { result in
            if case .success(let value) = result { answer.withLock { $0 = value } }
        }
        return answer.withLock { $0 }
    }

    /// Runs `body` while the storage is busy.
    private func whileBusy(
        _ storage: SQLiteStorage<Data>,
        _ body: () async throws -> Void
    ) async throws {
        let isBusy = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        _ = storage.layer.run(.completing) { (_) throws(VellumError) in
            isBusy.continuation.yield()
            mayGoOn.wait()
        }
        for await _ in isBusy.stream { break }
        defer { mayGoOn.signal() }
        try await body()
    }

    @Test func aHitInMemoryIsSynchronousWhileTheFileIsBusy() async throws {
        let storage = temporary.storage(of: Data.self)
        try await storage.set(data("value"), forKey: "key")
        try await whileBusy(storage) { () async throws in
            #expect(inMemory(storage, "key") == data("value"))
            #expect(try await storage.retrieve(forKey: "key") == data("value"))
            #expect(try storage.makeSyncStorage().retrieve(forKey: "key") == data("value"))
        }
    }

    @Test func aMissInMemoryIsAnsweredLater() async throws {
        let storage = temporary.storage(of: Data.self, memoryLimit: 1)
        try await storage.set(data("value"), forKey: "key")
        try await whileBusy(storage) {
            #expect(inMemory(storage, "key") == nil && inMemory(storage, "nothing") == nil)
        }
        #expect(try await storage.retrieve(forKey: "key") == data("value"))
    }

    @Test func aKeyThatIsAboutToBeWrittenIsAnsweredInItsTurn() async throws {
        let storage = temporary.storage(of: Data.self)
        let answers = Locked<[String]>([])
        for key: Filename in ["set", "removed", "other"] {
            try await storage.set(data("old"), forKey: key)
        }
        try await whileBusy(storage) { () async throws in
            storage.set(data("new"), forKey: "set") { _ in }
            storage.remove(forKey: "removed") { _ in }
            for key: Filename in ["set", "removed"] {
                storage.retrieve(forKey: key) { result in
                    if case .success(let value) = result {
                        answers.withLock { $0.append(String(decoding: value, as: UTF8.self)) }
                    } else {
                        answers.withLock { $0.append("none") }
                    }
                }
            }
            #expect(answers.withLock { $0 }.isEmpty)
            #expect(inMemory(storage, "other") == data("old"))
            storage.removeAll { _ in }
            #expect(inMemory(storage, "other") == nil)
        }
        #expect(try await storage.keys().isEmpty)
        // Callers are answered on other threads.
        await until("both callers are answered") { answers.withLock { $0.count == 2 } }
        #expect(answers.withLock { Set($0) } == ["new", "none"])
    }

    @Test func aCancelledWriteNoLongerDelaysHits() async throws {
        let storage = temporary.storage(of: Data.self)
        try await storage.set(data("value"), forKey: "key")
        var task: Task<Void, any Error>?
        try await whileBusy(storage) { () async throws in
            task = Task { try await storage.set(data("new"), forKey: "key") }
            await until("the write waits") { inMemory(storage, "key") == nil }
            task?.cancel()
        }
        // The file may be free before the write hears that its task is cancelled.
        let isSet = if case .success = await task?.result { true } else { false }
        await until("memory answers again") { inMemory(storage, "key") != nil }
        #expect(inMemory(storage, "key") == data(isSet ? "new" : "value"))
    }

    @Test func aValueThatExpiredInMemoryIsAMiss() async throws {
        let storage = temporary.storage(of: Data.self, expiration: .after(.seconds(60)))
        try await storage.set(data("value"), forKey: "key")
        #expect(inMemory(storage, "key") != nil)
        temporary.clock.advance(by: .seconds(60))
        #expect(inMemory(storage, "key") == nil)
        #expect(try await storage.retrieveIfPresent(forKey: "key") == nil)
    }
}
