// The examples of the page of MiniCacheValkey and of SharedCaches.md.

import Foundation
import MiniCacheValkey

struct Rate: Codable {
    var price: Double
}

struct Bank {
    func rate(of currency: String) async throws -> Rate { Rate(price: 1) }
}

let bank = Bank()

let server = ValkeyServer(
    try ValkeyConfiguration(
        url: "valkey://shop:secret@cache.internal:6379/0"
    )
)
let manager = SharedCacheManager(name: "Shop", server: server)
let rates: SharedCache<String, Rate> = try manager.cache(
    cacheName: "rates",
    cacheVersion: .custom("3"),
    maxAge: .hours(1)
)

let rate = try await rates.value(
    forKey: "USD",
    staleWhileRevalidate: .seconds(60)
) { try await bank.rate(of: "USD") }
try await rates.set(rate, forKey: "USD")
let sure = try await rates.value(forKey: "USD", freshness: .confirmed)

struct Page: Codable {}
func render(_ path: String) async throws -> Page { Page() }

func groups(_ page: Page, _ pages: SharedCache<String, Page>) async throws {
    try await pages.set(
        page,
        forKey: "/cart",
        groups: ["user:42", "tenant:7"]
    )
    let page = try await pages.loading(into: ["user:42"]).value(
        forKey: "/cart"
    ) { try await render("/cart") }
    try await pages.removeAll(group: "user:42")
    _ = page
}

let file = MiniCacheManager(name: "Copies")
let copies: MiniCache<String, Rate> = file.cache(
    cacheName: "rates",
    cacheVersion: .custom("3"),
    maxAge: .seconds(1)
)

let day = Duration.seconds(86_400)
let dollar = try await copies.value(forKey: "USD", staleIfError: day) {
    try await rates.value(forKey: "USD") {
        try await bank.rate(of: "USD")
    }
}
print(rate.price, sure?.price ?? 0, dollar.price)

func failover(_ password: String) {
    let sentinels = ["s1:26379", "s2:26379", "s3:26379"]
    let server = ValkeyServer(
        ValkeyConfiguration(
            sentinels: sentinels,
            primaryName: "main",
            password: password
        )
    )
    server.close()
}

func cluster(_ password: String) {
    let nodes = ["c1.internal:6379", "c2.internal:6379"]
    let cluster = ValkeyServer(
        ValkeyConfiguration(cluster: nodes, password: password)
    )
    cluster.close()
}

func withoutSentinels(_ password: String) -> ValkeyServer {
    var configuration = ValkeyConfiguration(
        host: "cache-1.internal",
        password: password
    )
    configuration.otherAddresses = ["cache-2.internal:6379"]
    return ValkeyServer(configuration)
}

func encrypted() throws -> ValkeyServer {
    var configuration = try ValkeyConfiguration(
        url: "valkeys://shop:secret@cache.internal:6380"
    )
    // Without this, the authorities of the system.
    configuration.tls?.trustedCertificates = URL(
        fileURLWithPath: "/etc/cache/ca.pem"
    )
    return ValkeyServer(configuration)
}

failover("secret")
withoutSentinels("secret").close()
try encrypted().close()
