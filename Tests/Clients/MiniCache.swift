// The examples of the page of MiniCache.

import MiniCache

let manager = MiniCacheManager(name: "MiniCache")
let cache: MiniCache<String, Int> = manager.cache(
    cacheName: "Counter",
    cacheVersion: .appVersion,
    maxAge: .days(7)
)
cache["foo"] = 1
let value = cache["foo"]
print(value ?? 0)

try cache.set(2, forKey: "bar", maxAge: .hours(1))
let bar = try cache.value(forKey: "bar")
print(bar ?? 0)

struct Rate: Codable, Sendable {
    var price: Double
}

struct Server {
    func rate(of currency: String) async throws -> Rate { Rate(price: 1) }
}

func load(_ cache: MiniCache<String, Rate>, _ server: Server) async throws -> Double {
    let rate = try await cache.value(
        forKey: "USD",
        staleWhileRevalidate: .seconds(600),
        staleIfError: .seconds(86_400)
    ) {
        try await server.rate(of: "USD")
    }
    return rate.price
}

let rates: MiniCache<String, Rate> = manager.cache(
    cacheName: "Rates",
    cacheVersion: .custom("1"),
    maxAge: .hours(1)
)
print(try await load(rates, Server()))
