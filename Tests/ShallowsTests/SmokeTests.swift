import Foundation
import Shallows
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SmokeTests {
    final class Own: StorageProtocol, @unchecked Sendable {
        let lock = NSLock()
        var d: [String: Int] = [:]
        func retrieve(forKey key: String, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
            struct Missing: Error {}
            DispatchQueue.global().async { completion(self.lock.withLock { self.d[key] }.map { .success($0) } ?? .failure(Missing())) }
        }
        func set(_ value: Int, forKey key: String, completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
            DispatchQueue.global().async {
                self.lock.withLock { self.d[key] = value }; completion(.success(()))
            }
        }
    }

    @Test func compositions() async throws {
        let a = MemoryStorage<String, Int>(), b = MemoryStorage<String, Int>(), own = Own()
        let three = a.combined(with: b).combined(with: own)
        try await three.set(1, forKey: "x")
        #expect(a.storage == ["x": 1] && b.storage == ["x": 1] && own.d == ["x": 1])
        a.storage = [:]
        b.storage = [:]
        #expect(try await three.retrieve(forKey: "x") == 1)
        #expect(a.storage == ["x": 1] && b.storage == ["x": 1])
        #expect(three.storageName == "memory-storage-String:Int<->memory-storage-String:Int<->Own")
        #expect(three.layers.count == 3)
        let removable = a.asRemovableStorage().combined(with: b)
        try await removable.remove(forKey: "x")
        #expect(a.storage.isEmpty && b.storage.isEmpty)
        #expect(try await removable.retrieveIfPresent(forKey: "x") == nil)
        let sync = a.combined(with: b).makeSyncStorage()
        try sync.set(5, forKey: "y")
        #expect(try sync.retrieve(forKey: "y") == 5)
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { _ = try? await a.update(forKey: "y") { $0 += 1 } } }
        }
        #expect(a.storage["y"] == 105)
        let zipped = zip(a, b)
        try await zipped.set((3, 4), forKey: "z")
        #expect(try await zipped.retrieve(forKey: "z") == (3, 4))
        await #expect(throws: MemoryStorageError.noValue) { try await a.retrieve(forKey: "nothing") }
    }
}
