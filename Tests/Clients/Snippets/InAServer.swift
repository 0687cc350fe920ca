// A server keeps sessions, counters and pages in files of its own.

import Foundation
import CBORCoding
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

/// What Vapor's `Cache` asks for. Vapor 4 wants futures:
/// `eventLoop.makeFutureWithTask { try await pages.get(key, as: type) }`.
struct PageCache: Sendable {
    let cache: MiniCache<String, Data>

    func get<Page: Decodable>(
        _ key: String, as type: Page.Type
    ) async throws -> Page? {
        let data = try await cache.perform { try $0.value(forKey: key) }
        return try data.map { try CBORDecoder().decode(type, from: $0) }
    }

    func set<Page: Encodable>(
        _ key: String, to page: Page?, expiresIn age: Duration?
    ) async throws {
        let data = try page.map { try CBOREncoder().encode($0) }
        try await cache.perform { cache in
            guard let data else {
                return _ = try cache.removeValue(forKey: key)
            }
            if let age {
                return try cache.set(
                    data, forKey: key, expiration: .after(age))
            }
            try cache.set(data, forKey: key)
        }
    }
}

/// A service of swift-service-lifecycle: what was written is on the disk
/// when the server has shut down.
struct CacheService: Service {
    let manager: MiniCacheManager

    func run() async throws {
        try await gracefulShutdown()
        try manager.close()
    }
}

let manager = MiniCacheManager(
    name: "Server", directory: URL(fileURLWithPath: "/var/lib/shop"),
    durability: .crashSafe)
let driver = CachePersistDriver(
    cache: manager.cache(
        cacheName: "sessions", cacheVersion: .custom("1"),
        maxAge: .days(30)))
// snippet.hide

try await driver.create(key: "a", value: 1, expires: .seconds(60))
let pages = PageCache(cache: manager.cache(cacheName: "pages", cacheVersion: .custom("1"), maxAge: .days(1)))
try await pages.set("a", to: 1, expiresIn: nil)
print(try await pages.get("a", as: Int.self) ?? 0, CacheService(manager: manager))

// As Hummingbird 2 and swift-service-lifecycle 2 declare them.

protocol Service: Sendable {
    func run() async throws
}

protocol PersistDriver: Sendable {
    func create<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws
    func set<Object: Codable & Sendable>(key: String, value: Object, expires: Duration?) async throws
    func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object?
    func remove(key: String) async throws
}

enum PersistError: Error {
    case duplicate, invalidConversion
}

func gracefulShutdown() async throws {}
