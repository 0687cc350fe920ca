internal import CodableFormats
internal import Foundation
public import Shallows
public import VellumCore
internal import VellumRemote
public import VellumValkey

/// A storage that many machines share, on a Valkey or Redis server.
///
/// ```swift
/// let server = ValkeyServer(
///     try ValkeyConfiguration(url: "valkey://cache.internal"))
/// let articles = try ValkeyStorage<Article>(
///     server, name: "articles", expiration: .after(.seconds(3600)))
/// try await articles.set(article, forKey: "swift")
/// ```
///
/// Values that were read stay in memory, and are returned again without asking the server for as
/// long as ``ValkeyConfiguration/trust`` allows. The server notifies this process of changes. Put
/// no `MemoryStorage` in front of it, which would not be notified.
///
/// It is a cache: the server may evict any value, which is a miss then. `Data` is stored as it is,
/// any other value as `format` says. No call blocks a thread, except those of ``SyncStorage``;
/// every call has a deadline. Errors have the codes of ``VellumError``.
public final class ValkeyStorage<Value: Codable & Sendable>: AsyncRemovableStorageProtocol {
    /// Any string.
    public typealias Key = Filename

    /// The name on the server.
    public var storageName: String { "valkey (\(store.name))" }
    /// How long values are valid, from when they were set, by the server's clock.
    public let expiration: Expiration
    private let store: SharedStore<Value>
    /// The connection lasts as long as its storages.
    private let server: ValkeyServer

    /// Creates a storage on a server.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - name: The name of the storage on the server. Programs with the same name and server
    ///     share them.
    ///   - expiration: How long values are valid. The time since the last use is not counted.
    ///   - memoryLimit: The limit of memory, in bytes of encoded values.
    ///   - format: The format of new values.
    /// - Throws: ``VellumError`` with ``VellumError/Code/invalidLimit`` if the limit is zero or
    ///   negative, ``VellumError/Code/invalidDuration`` if the age is NaN.
    public init(
        _ server: ValkeyServer,
        name: String,
        expiration: Expiration = .never,
        memoryLimit: DataSize = 10.megaByte,
        format: CodableFormat = .cbor
    ) throws(VellumError) {
        self.server = server
        self.expiration = expiration
        try expiration.check()
        store = server.store(
            named: name.percentEncoding("\0"),
            memory: try Capacity(memoryLimit),
            coding: SharedStore<Value>.Coding(
                typeVersion: 0,
                encode: { value in
                    if Value.self == Data.self, let data = value as? Data { return data }
                    return try format.encode(value)
                },
                decode: { bytes, _, _ in
                    if Value.self == Data.self, let value = Data(bytes) as? Value { return value }
                    return try CodableFormat.decode(Value.self, from: bytes)
                }
            )
        )
    }

    /// Returns the value under the key. Throws a `StorageMiss` if there is no valid one.
    public func retrieve(forKey key: Filename) async throws -> Value {
        guard let value = try await store.value(forKey: EntryKey(key.rawValue), asksServer: false)
        else {
            throw ShallowsError.miss(forKey: key, layer: storageName)
        }
        return value
    }

    /// Sets the value under the key. Later reads of this program return no older one.
    public func set(_ value: Value, forKey key: Filename) async throws {
        try await store.set(value, forKey: EntryKey(key.rawValue), under: expiration)
    }

    /// Removes the value under the key. Whatever an error says, the removal is sent again until the
    /// server has executed it.
    public func remove(forKey key: Filename) async throws {
        try await store.removeValue(forKey: EntryKey(key.rawValue))
    }

    /// Removes every value. Values that others set during the call are removed or stay. Scans every
    /// key of the server.
    ///
    /// - Complexity: O(n) for all keys of the server.
    public func removeAll() async throws { try await store.removeAll() }
}
