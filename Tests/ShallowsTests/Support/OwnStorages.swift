import Foundation
import VellumCore
import VellumEngine

@testable import Shallows

// Storages as users write them. Each says in its own words that there is nothing.

struct Absent: Error {}

/// Answers later, on a queue.
final class QueueStorage: StorageProtocol {
    private let contents = Locked<[String: String]>([:])
    private let queue = DispatchQueue(label: "own", attributes: .concurrent)

    func retrieve(
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<String>) -> Void
    ) {
        queue.async {
            completion(
                self.contents.withLock { $0[key] }.map { .success($0) } ?? .failure(Absent())
            )
        }
    }

    func set(
        _ value: String,
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        queue.async {
            self.contents.withLock { $0[key] = value }
            completion(.success(()))
        }
    }
}

/// Answers before it returns.
final class ImmediateStorage: StorageProtocol {
    private let contents = Locked<[String: String]>([:])

    func retrieve(
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<String>) -> Void
    ) {
        completion(contents.withLock { $0[key] }.map { .success($0) } ?? .failure(Absent()))
    }

    func set(
        _ value: String,
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        contents.withLock { $0[key] = value }
        completion(.success(()))
    }
}

/// Has asynchronous functions. They answer later, and no test depends on how much later.
final class TaskStorage: AsyncStorageProtocol {
    typealias Key = String
    typealias Value = String
    private let contents = Locked<[String: String]>([:])

    func retrieve(forKey key: String) async throws -> String {
        await Task.yield()
        guard let value = contents.withLock({ $0[key] }) else { throw Absent() }
        return value
    }

    func set(_ value: String, forKey key: String) async throws {
        await Task.yield()
        contents.withLock { $0[key] = value }
    }
}

/// A type of two closures.
func closureStorage() -> Storage<String, String> {
    let contents = Locker<[String: String]>([:])
    return Storage(
        storageName: "closures",
        retrieve: { key, completion in
            completion(
                contents.locked.withLock { $0[key] }.map { .success($0) } ?? .failure(Absent())
            )
        },
        set: { value, key, completion in
            contents.locked.withLock { $0[key] = value }
            completion(.success(()))
        }
    )
}

/// A lock that closures can share.
final class Locker<Value: Sendable>: Sendable {
    let locked: Locked<Value>

    init(_ value: Value) {
        locked = Locked(value)
    }
}

/// One of ours that does its work in a queue, as those on disk do.
func queueStorage<Value: Sendable>(
    _ name: String = "queue",
    _ queue: SerialQueue = SerialQueue(),
    _ memory: MemoryStorage<String, Value> = MemoryStorage()
) -> RemovableStorage<String, Value> {
    RemovableStorage(
        name,
        StorageOperations(
            retrieve: { key, call in
                queue.run(layer: name, key: key, call) {
                    memory.storage[key].map { .success($0) }
                        ?? .failure(
                            .miss(forKey: key, layer: name, cause: MemoryStorageError.noValue)
                        )
                }
            },
            set: { value, key, call in
                queue.run(layer: name, key: key, call) { .success(memory.replace(value, key)) }
            },
            remove: { key, call in
                queue.run(layer: name, key: key, call) { .success(memory.replace(nil, key)) }
            },
            removeAll: { call in queue.run(layer: name, call) { .success(memory.storage = [:]) } },
            lockKey: { LockKey(of: queue, $0) }
        )
    )
}

extension Scripted {
    /// As one of the functions of the fake: with removal.
    var removable: RemovableStorage<String, Int> { asRemovableStorage() }
}
