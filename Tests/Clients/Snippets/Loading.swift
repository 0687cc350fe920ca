// Values that are loaded when they are missing: from a bank, a shop, a site, an issuer of tokens,
// and by HTTP.

import Foundation
import MiniCache

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Bank { func rate(of currency: String) async throws -> Double { 1 } }
struct Site { func home() async throws -> String { "home" } }
struct Shop {
    func price(of article: String) async throws -> Double { 1 }
    func offer() async throws -> String { "today" }
}
struct Issuer {
    func token() async throws -> (token: String, secondsToLive: Double) { ("token", 60) }
}
struct Document: Codable {
    var body: Data
    var etag: String
}

let manager = MiniCacheManager(name: "Loading")
let rates: MiniCache<String, Double> = manager.cache(
    cacheName: "Rates",
    cacheVersion: .appVersion,
    maxAge: .minutes(1)
)
let prices: MiniCache<String, Double> = manager.cache(
    cacheName: "Prices",
    cacheVersion: .appVersion,
    maxAge: .minutes(1)
)
let offers: MiniCache<String, String> = manager.cache(
    cacheName: "Offers",
    cacheVersion: .appVersion,
    maxAge: .minutes(1)
)
let tokens: MiniCache<String, String> = manager.cache(
    cacheName: "Tokens",
    cacheVersion: .appVersion,
    maxAge: .forever
)
let documents: MiniCache<String, Document> = manager.cache(
    cacheName: "Documents",
    cacheVersion: .appVersion,
    maxAge: .hours(1)
)

func load(_ bank: Bank, _ site: Site, _ shop: Shop, _ issuer: Issuer, _ url: URL) async throws {
    let rate = try await rates.value(forKey: "USD") {
        try await bank.rate(of: "USD")
    }

    let day = Duration.seconds(86_400)
    let pages: MiniCache<String, String> = manager.cache(
        cacheName: "Pages",
        cacheVersion: .appVersion,
        maxAge: .minutes(1),
        keepExpiredFor: day
    )

    let page = try await pages.load(
        "home",
        staleWhileRevalidate: .seconds(60),
        staleIfError: day
    ) { try await site.home() }
    if page.isStale { print("An older page: \(page.source)") }

    let options = LoadOptions(errorMaxAge: .seconds(5), refreshAhead: 0.8)
    let price = try await prices.value(forKey: "tea", options: options) {
        try await shop.price(of: "tea")
    }

    let token = try await tokens.value(forKey: "api") { _ in
        let answer = try await issuer.token()
        return .value(answer.token, maxAge: .seconds(answer.secondsToLive))
    }

    let key = url.absoluteString
    let document = try await documents.value(forKey: key) { previous in
        var request = URLRequest(url: url)
        if let previous {
            let field = "If-None-Match"
            request.setValue(previous.etag, forHTTPHeaderField: field)
        }
        let answer = try await fetch(request)
        if answer.status == 304 { return .unchanged(maxAge: answer.maxAge) }
        if answer.status == 404 { return .none(maxAge: .seconds(60)) }
        let fresh = Document(body: answer.body, etag: answer.etag)
        return .value(fresh, maxAge: answer.maxAge)
    }

    let limits = LoadOptions(
        softTimeout: .milliseconds(200),
        timeout: .seconds(2)
    )
    let offer = try await offers.load(
        "today",
        staleIfError: .seconds(3600),
        options: limits
    ) { try await shop.offer() }
    print(rate, price, token ?? "no token", document?.etag ?? "nothing", offer.value)
}

struct Answer: Sendable {
    var status: Int
    var body: Data
    var etag: String
    var maxAge: Duration?
}

func fetch(_ request: URLRequest) async throws -> Answer {
    Answer(status: 200, body: Data(), etag: "1", maxAge: .seconds(60))
}
