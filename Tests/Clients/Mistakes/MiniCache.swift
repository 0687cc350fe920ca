// Mistakes of a reader of the page of MiniCache, and the diagnostics that must follow: these and no
// others.

import MiniCache

struct User: Codable, Sendable {
    var name: String
}

struct Plain {
    var name: String
}

func caches(_ manager: MiniCacheManager) {
    // expected-error@+1 {{Name the types of the cache: let cache: MiniCache<String, User> =}}
    let cache = manager.cache(cacheName: "Users", cacheVersion: .appVersion, maxAge: .days(1))
    cache["foo"] = 1
    // expected-error@+1 {{MiniCacheManager(name:).cache(cacheName:cacheVersion:maxAge:)}}
    _ = MiniCache<String, User>(name: "Users")
    // expected-error@+1 {{value of type 'String' to expected argument type 'CacheVersion'}}
    let _: MiniCache<String, User> = manager.cache(
        cacheName: "Users",
        cacheVersion: "v1",
        maxAge: .days(1)
    )
    // expected-error@+1 {{convert value of type 'Int' to expected argument type 'CacheMaxAge'}}
    let _: MiniCache<String, User> = manager.cache(
        cacheName: "Users",
        cacheVersion: .appVersion,
        maxAge: 3600
    )
    // expected-error@+1 {{argument 'cacheVersion' must precede argument 'maxAge'}}
    let _: MiniCache<String, User> = manager.cache(
        cacheName: "Users",
        maxAge: .days(1),
        cacheVersion: .appVersion
    )
    // expected-error@+1 {{type 'Plain' does not conform to protocol 'Decodable'}}
    let _: MiniCache<String, Plain> = manager.cache(
        cacheName: "Users",
        cacheVersion: .appVersion,
        maxAge: .days(1)
    )
}

func calls(_ cache: MiniCache<String, User>) async throws {
    // expected-error@+1 {{missing argument label 'forKey:' in call}}
    _ = try cache.value("ann")
    // expected-error@+1 {{convert value of type 'Int' to expected argument type 'CacheMaxAge'}}
    try cache.set(User(name: "Ann"), forKey: "ann", maxAge: 60)
    // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'Duration'}}
    _ = try await cache.value(forKey: "ann", staleIfError: 60) { User(name: "Ann") }
}

func counting(_ visits: MiniCache<String, Int>) async throws {
    // expected-error@+1 {{try cache.update(forKey: key) { $0 = ($0 ?? 0) + 1 }}}
    visits["ann", default: 0] += 1
    // expected-error@+2 {{value of optional type 'Int?' must be unwrapped to a value of type}}
    // expected-note@+1 {{force-unwrap using '!' to abort execution}}
    visits["ann"] += 1
    // expected-error@+1 {{binary operator '+=' cannot be applied to operands of type 'Int?' and}}
    try visits.update(forKey: "ann") { $0 += 1 }
    // expected-error@+1 {{for-in loop requires 'MiniCache<String, Int>' to conform to 'Sequence'}}
    for (name, count) in visits { print(name, count) }
}

func ages(_ visits: MiniCache<String, Int>, _ manager: MiniCacheManager) async throws {
    // expected-error@+1 {{type 'Duration' has no member 'hours'}}
    _ = try await visits.value(forKey: "ann", staleIfError: .hours(1)) { 1 }
    // expected-error@+1 {{type 'Duration?' has no member 'minutes'}}
    _ = LoadOptions(negativeMaxAge: .minutes(1))
    // expected-error@+1 {{type 'Expiration' has no member 'hours'}}
    try visits.set(1, forKey: "ann", expiration: .hours(1))
    // expected-error@+1 {{type 'CacheMaxAge?' has no member 'weeks'}}
    try visits.set(1, forKey: "ann", maxAge: .weeks(1))
    // expected-error@+1 {{missing argument for parameter 'cacheVersion' in call}}
    let _: MiniCache<String, Int> = manager.cache(cacheName: "Users", maxAge: .days(1))
    // expected-error@+1 {{missing argument for parameter 'maxAge' in call}}
    let _: MiniCache<String, Int> = manager.cache(cacheName: "Users", cacheVersion: .appVersion)
}

// In generic code the types must be known to be usable on another thread. `Sendable` says more than
// that, and is enough.
// expected-swift6-note@+2 {{generic parameter 'Key' conform to the 'SendableMetatype' protocol}}
// expected-swift6-note@+1 {{generic parameter 'Value' conform to the 'SendableMetatype' protocol}}
func clear<Key: Codable, Value: Codable>(_ cache: MiniCache<Key, Value>) async throws {
    // expected-swift6-error@+4 {{type 'Key' does not conform to the 'SendableMetatype' protocol}}
    // expected-swift6-error@+3 {{type 'Value' does not conform to the 'SendableMetatype' protocol}}
    // expected-swift6-warning@+2 {{capture of non-Sendable type 'Key.Type' in an isolated closure}}
    // expected-swift6-warning@+1 {{capture of non-Sendable type 'Value.Type' in an isolated}}
    try await cache.perform { try $0.removeAll() }
}

func clearAlso<Key: Codable & Sendable, Value: Codable & Sendable>(
    _ cache: MiniCache<Key, Value>
) async throws {
    try await cache.perform { try $0.removeAll() }
}
