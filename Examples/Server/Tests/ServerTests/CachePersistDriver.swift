import CBORCoding
import Foundation
import Hummingbird
import MiniCache

/// Keeps what Hummingbird persists, such as sessions:
/// `app.addServices(driver)`.
struct CachePersistDriver: PersistDriver {
    let cache: MiniCache<String, Data>

    func create<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        let isNew =
            if let expires {
                try await cache.async.setIfAbsent(
                    data,
                    forKey: key,
                    expiration: .after(expires)
                )
            } else {
                try await cache.async.setIfAbsent(data, forKey: key)
            }
        guard isNew else { throw PersistError.duplicate }
    }

    /// Without a time to live, the one of the value that is there stays.
    func set<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        if let expires {
            return try await cache.async.set(
                data,
                forKey: key,
                expiration: .after(expires)
            )
        }
        try await cache.async.update(forKey: key) { $0 = data }
    }

    func get<Object: Codable & Sendable>(
        key: String,
        as type: Object.Type
    ) async throws -> Object? {
        let found = try await cache.async.value(forKey: key)
        guard let data = found else { return nil }
        do {
            return try CBORDecoder().decode(type, from: data)
        } catch is DecodingError {
            throw PersistError.invalidConversion
        }
    }

    func remove(key: String) async throws {
        try await cache.async.removeValue(forKey: key)
    }
}
