// Mistakes of a reader of the page of MiniCache, and the diagnostics that must follow: these and no others.

import MiniCache

struct User: Codable, Sendable {
    var name: String
}

struct Plain {
    var name: String
}

func caches(_ manager: MiniCacheManager) {
    // expected-error@+1 {{Name the types of the cache: let cache: MiniCache<String, User> = manager.cache(…)}}
    let cache = manager.cache(cacheName: "Users", cacheVersion: .appVersion, maxAge: .days(1))
    cache["foo"] = 1
    // expected-error@+1 {{A manager makes caches: MiniCacheManager(name:).cache(cacheName:cacheVersion:maxAge:)}}
    _ = MiniCache<String, User>(name: "Users")
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'CacheVersion'}}
    let _: MiniCache<String, User> = manager.cache(cacheName: "Users", cacheVersion: "v1", maxAge: .days(1))
    // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'CacheMaxAge'}}
    let _: MiniCache<String, User> = manager.cache(cacheName: "Users", cacheVersion: .appVersion, maxAge: 3600)
    // expected-error@+1 {{argument 'cacheVersion' must precede argument 'maxAge'}}
    let _: MiniCache<String, User> = manager.cache(cacheName: "Users", maxAge: .days(1), cacheVersion: .appVersion)
    // expected-error@+1 {{type 'Plain' does not conform to protocol 'Decodable'}}
    let _: MiniCache<String, Plain> = manager.cache(cacheName: "Users", cacheVersion: .appVersion, maxAge: .days(1))
}

func calls(_ cache: MiniCache<String, User>) async throws {
    // expected-error@+1 {{missing argument label 'forKey:' in call}}
    _ = try cache.value("ann")
    // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'CacheMaxAge'}}
    try cache.set(User(name: "Ann"), forKey: "ann", maxAge: 60)
    // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'Duration'}}
    _ = try await cache.value(forKey: "ann", staleIfError: 60) { User(name: "Ann") }
}
