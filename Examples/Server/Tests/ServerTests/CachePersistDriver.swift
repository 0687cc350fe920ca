import CBORCoding
import Foundation
import Hummingbird
import MiniCache

/// Keeps what Hummingbird persists, such as sessions:
/// `app.addServices(driver)`.
struct CachePersistDriver: PersistDriver {
    let cache: MiniCache<String, Data>

    func create<Object: Codable & Sendable>(
        key: String, value: Object, expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        let isNew = try await cache.perform { cache in
            if let expires {
                return try cache.setIfAbsent(
                    data, forKey: key, expiration: .after(expires))
            }
            return try cache.setIfAbsent(data, forKey: key)
        }
        guard isNew else { throw PersistError.duplicate }
    }

    /// Without a time to live, the one of the value that is there stays.
    func set<Object: Codable & Sendable>(
        key: String, value: Object, expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        try await cache.perform { cache in
            if let expires {
                return try cache.set(
                    data, forKey: key, expiration: .after(expires))
            }
            try cache.update(forKey: key) { $0 = data }
        }
    }

    func get<Object: Codable & Sendable>(
        key: String, as type: Object.Type
    ) async throws -> Object? {
        let found = try await cache.perform { try $0.value(forKey: key) }
        guard let data = found else { return nil }
        do {
            return try CBORDecoder().decode(type, from: data)
        } catch is DecodingError {
            throw PersistError.invalidConversion
        }
    }

    func remove(key: String) async throws {
        try await cache.perform { _ = try $0.removeValue(forKey: key) }
    }
}
