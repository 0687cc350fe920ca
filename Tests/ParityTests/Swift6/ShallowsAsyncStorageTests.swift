import Shallows
import TestThreads
import Testing

// Storages of a user's own, by `async` functions.

private struct Server: AsyncStorageProtocol {
    let articles = MemoryStorage<Int, String>()

    func retrieve(forKey id: Int) async throws -> String { try await articles.retrieve(forKey: id) }
    func set(_ article: String, forKey id: Int) async throws {
        try await articles.set(article, forKey: id)
    }
}

/// An actor has all that a storage needs, and its own safety.
private actor Counter: AsyncStorageProtocol {
    private var counts: [String: Int] = [:]

    func retrieve(forKey key: String) async throws -> Int {
        try counts[key].unwrap(orThrow: MemoryStorageError.noValue)
    }
    func set(_ count: Int, forKey key: String) async throws { counts[key] = count }
}

private struct Lengths: AsyncReadOnlyStorageProtocol {
    func retrieve(forKey key: String) async throws -> Int { key.count }
}

@Suite(.ownThreads)
struct ShallowsAsyncStorageTests {
    @Test func aStorageIsTwoAsynchronousFunctions() async throws {
        let server = Server()
        let memory = MemoryStorage<Int, String>()
        let storage: Storage<Int, String> = memory.combined(with: server)
        try await storage.set("seven", forKey: 7)
        #expect(server.articles.storage == [7: "seven"])
        memory.storage = [:]
        #expect(try await storage.retrieve(forKey: 7) == "seven")
        #expect(memory.storage == [7: "seven"])
        #expect(try await server.update(forKey: 7) { $0 += "!" } == "seven!")
        #expect(try await server.usingKeys().retrieve(forKey: "7") == "seven!")
    }

    @Test func itIsCalledWithCompletionsToo() async {
        let answers = Answers<String>()
        func callSite() {
            let server = Server()
            server.set("one", forKey: 1) { _ in
                server.retrieve(forKey: 1) { result in answers.give((try? result.get()) ?? "none") }
            }
        }
        callSite()
        #expect(await answers.first == "one")
    }

    @Test func anActorIsAStorage() async throws {
        let counter = Counter()
        let counts = counter.defaulting(to: 0)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { _ = try? await counts.update(forKey: "visits") { $0 += 1 } }
            }
        }
        #expect(try await counter.retrieve(forKey: "visits") == 100)
    }

    @Test func aReadOnlyStorageIsOneAsynchronousFunction() async throws {
        let lengths: ReadOnlyStorage<String, Int> = Lengths().asReadOnlyStorage()
        #expect(try await lengths.retrieve(forKey: "four") == 4)
        #expect(
            try await MemoryStorage<String, Int>().backed(by: Lengths()).retrieve(forKey: "seven")
                == 5
        )
    }
}

extension StorageProtocol where Key == Int {
    fileprivate func usingKeys() -> Storage<String, Value> { mapKeys { try Int($0).unwrap() } }
}
