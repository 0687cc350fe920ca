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

// snippet.hide
func makeDriver() -> CachePersistDriver {
    // snippet.show
    let manager = MiniCacheManager(
        name: "Server", directory: URL(fileURLWithPath: "/var/lib/shop"),
        durability: .crashSafe)
    let driver = CachePersistDriver(
        cache: manager.cache(
            cacheName: "sessions", cacheVersion: .custom("1"),
            maxAge: .days(30)))
    // snippet.hide
    print(CacheService(manager: manager))
    return driver
}

// What requests and configurations may say: no adapter ends the process, and what has expired or cannot be a key is not found.

let manager = MiniCacheManager.inMemory()
let driver = CachePersistDriver(cache: manager.cache(cacheName: "sessions", cacheVersion: .custom("1"), maxAge: .days(30)))
let pages = PageCache(cache: manager.cache(cacheName: "pages", cacheVersion: .custom("1"), maxAge: .days(1)))
let times: [Duration?] = [nil, .zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1), .seconds(60), .seconds(Int64.max)]
let keys = ["", "\0", "..", "a/b", "\u{1F600}", String(repeating: "k", count: 70_000)]
var wrong: [String] = []
for (number, key) in keys.enumerated() {
    for (time, expires) in times.enumerated() {
        let isValid = key.utf8.count < 65_536 && (expires ?? .seconds(60)) > .zero
        do {
            try await driver.remove(key: key)
            try await driver.create(key: key, value: time, expires: expires)
            let created = try await driver.get(key: key, as: Int.self)
            try await driver.set(key: key, value: -time, expires: expires)
            let set = try await driver.get(key: key, as: Int.self)
            try await pages.set(key, to: time, expiresIn: expires)
            let page = try await pages.get(key, as: Int.self)
            try await pages.set(key, to: Int?.none, expiresIn: expires)
            // A value of another type is an error that the framework knows.
            do { _ = try await driver.get(key: key, as: String.self) } catch PersistError.invalidConversion {}
            let expected = isValid ? (time, -time, time) : (nil, nil, nil)
            if (created, set, page) != expected { wrong.append("key \(number), time \(time)") }
        } catch let error as MiniCacheError {
            if error.code != .keyTooLong || key.utf8.count < 65_536 { wrong.append("key \(number), time \(time): \(error.code)") }
        }
    }
}
print(wrong.isEmpty ? "\(keys.count * times.count) requests, none ended the process" : "wrong: \(wrong)")

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
