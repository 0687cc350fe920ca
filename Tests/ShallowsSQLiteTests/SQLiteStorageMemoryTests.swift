import Foundation
import ShallowsSQLite
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// What memory has is answered at once, unless something asked for before may change it.
@Suite(.timeLimit(.minutes(60)))
struct SQLiteStorageMemoryTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    /// The value that a storage answers before the call returns; `nil` if it does not.
    private func atOnce<Value: Sendable>(_ storage: SQLiteStorage<Value>, _ key: Filename) -> Value? {
        let answer = Locked<Value?>(nil)
        storage.retrieve(forKey: key) { result in
            if case .success(let value) = result { answer.withLock { $0 = value } }
        }
        return answer.withLock { $0 }
    }

    /// Runs `body` while the storage is at work on something that takes long.
    private func whileBusy(_ storage: SQLiteStorage<Data>, _ body: () async throws -> Void) async throws {
        let folder = FakeFolder([("moved", data("moved"))])
        let isMoving = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        folder.beforeRemoving { _ in
            isMoving.continuation.yield()
            mayGoOn.wait()
        }
        async let takeover = storage.takeOver(folder.movable)
        for await _ in isMoving.stream { break }
        do {
            try await body()
        } catch {
            mayGoOn.signal()
            throw error
        }
        mayGoOn.signal()
        #expect(try await takeover.moved == 1)
    }

    @Test func aHitInMemoryIsAnsweredAtOnceAlsoWhileTheFileIsBusy() async throws {
        let storage = temporary.storage(of: Data.self)
        try await storage.set(data("value"), forKey: "key")
        try await whileBusy(storage) { () async throws in
            #expect(atOnce(storage, "key") == data("value"))
            #expect(try await storage.retrieve(forKey: "key") == data("value"))
            #expect(try storage.makeSyncStorage().retrieve(forKey: "key") == data("value"))
        }
    }

    @Test func whatMemoryHasNotIsAnsweredLater() async throws {
        let storage = temporary.storage(of: Data.self, memoryLimit: 1)
        try await storage.set(data("value"), forKey: "key")
        try await whileBusy(storage) { #expect(atOnce(storage, "key") == nil && atOnce(storage, "nothing") == nil) }
        #expect(try await storage.retrieve(forKey: "key") == data("value"))
    }

    @Test func aKeyThatIsAboutToBeWrittenIsAnsweredInItsTurn() async throws {
        let storage = temporary.storage(of: Data.self)
        let answers = Locked<[String]>([])
        for key: Filename in ["set", "removed", "other"] { try await storage.set(data("old"), forKey: key) }
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
            #expect(atOnce(storage, "other") == data("old"))
            storage.removeAll { _ in }
            #expect(atOnce(storage, "other") == nil)
        }
        #expect(try await storage.keys().isEmpty)
        // Whoever asked is told on other threads.
        while answers.withLock({ $0.count < 2 }) { await Task.yield() }
        #expect(answers.withLock { Set($0) } == ["new", "none"])
    }

    @Test func aWriteThatWasCancelledIsNoLongerWaitedFor() async throws {
        let storage = temporary.storage(of: Data.self)
        try await storage.set(data("value"), forKey: "key")
        try await whileBusy(storage) { () async throws in
            let task = Task { try await storage.set(data("new"), forKey: "key") }
            while atOnce(storage, "key") != nil { await Task.yield() }
            task.cancel()
        }
        while atOnce(storage, "key") == nil { await Task.yield() }
        #expect(atOnce(storage, "key") == data("value"))
    }

    @Test func whatExpiredInMemoryIsAMiss() async throws {
        let storage = temporary.storage(of: Data.self, expiration: .after(.seconds(60)))
        try await storage.set(data("value"), forKey: "key")
        #expect(atOnce(storage, "key") != nil)
        temporary.clock.advance(by: .seconds(60))
        #expect(atOnce(storage, "key") == nil)
        #expect(try await storage.retrieveIfPresent(forKey: "key") == nil)
    }
}
