// Storages of your own: two functions, with completions or asynchronous.

import Foundation
import Shallows

final class SettingsStorage: StorageProtocol, @unchecked Sendable {
    private let lock = NSLock()
    private var settings: [String: Data] = [:]  // Protected by `lock`.

    func retrieve(
        forKey key: String,
        completion: @escaping (Result<Data, Error>) -> Void
    ) {
        guard let value = lock.withLock({ settings[key] }) else {
            return completion(.failure(NoSetting()))
        }
        completion(.success(value))
    }

    func set(
        _ value: Data,
        forKey key: String,
        completion: @escaping (Result<Void, Error>) -> Void
    ) {
        lock.withLock { settings[key] = value }
        completion(.success(()))
    }
}

struct NoSetting: Error, StorageMiss {}

let settings = SettingsStorage()
    .mapString(withEncoding: .utf8)
    .singleKey("language")  // Storage<Void, String>

func chooseLanguage() async throws {
    try await settings.set("uk")
    print(try await settings.retrieve())
}

try await chooseLanguage()

// Asynchronous functions.

actor Counters: AsyncStorageProtocol {
    private var counts: [String: Int] = [:]

    func retrieve(forKey key: String) async throws -> Int {
        try counts[key].unwrap(orThrow: NoSetting())
    }
    func set(_ count: Int, forKey key: String) async throws {
        counts[key] = count
    }
}

let visits = Counters().defaulting(to: 0)

func visitHome() async throws -> Int {
    try await visits.update(forKey: "home") { $0 += 1 }
}

print(try await visitHome())

// One function, or none.

struct Bundled: ReadOnlyStorageProtocol {
    func retrieve(
        forKey name: String,
        completion: @escaping (Result<Data, Error>) -> Void
    ) {
        let file = URL(fileURLWithPath: name)
        completion(Result { try Data(contentsOf: file) })
    }
}

let greetings = ReadOnlyStorage<String, String>(
    storageName: "greetings",
    retrieve: { name in "Hello, \(name)" }
)
let texts = MemoryStorage<String, Data>().backed(by: Bundled())
    .mapString(withEncoding: .utf8)
print(
    try await greetings.retrieve(forKey: "Ann"),
    try await texts.retrieve(forKey: #filePath).count
)

// Misses and failures.

enum KeychainError: Error, StorageMiss {
    case itemNotFound, locked

    var isMiss: Bool { self == .itemNotFound }
}

// Each error stops a composition, unless it says that it is a miss.
let bundled = Bundled().strict()
let checked = MemoryStorage<String, Data>().backed(by: bundled)
print(checked.storageName, KeychainError.locked.isMiss)

// Removing.

extension SettingsStorage: RemovableStorageProtocol {
    func remove(
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        lock.withLock { settings[key] = nil }
        completion(.success(()))
    }

    func removeAll(
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        lock.withLock { settings = [:] }
        completion(.success(()))
    }
}

try await SettingsStorage().remove(forKey: "language")

// Transforms of your own.

extension StorageProtocol where Value == Data {
    func mapLines() -> Storage<Key, [String]> {
        mapString(withEncoding: .utf8)
            .mapValues(
                transformIn: { $0.components(separatedBy: "\n") },
                transformOut: { $0.joined(separator: "\n") }
            )
    }
}

extension Storage where Key == Filename {
    func named(_ name: String) -> Storage<String, Value> {
        renaming(to: name).usingStringKeys()
    }
}

print(SettingsStorage().mapLines().storageName)
