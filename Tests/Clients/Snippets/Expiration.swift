// Objects and values that expire: by age, by idle time, and by what their source says.

import Foundation
import MiniCache
import Vellum

struct Ticket: ArchiveCodable, IndexedArchivable {
    var primaryKey: String { number }
    var number: String
    var tags: [String] = []

    static var archiveIndexes: [ArchiveIndex<Ticket>] { [.each(\.tags)] }
}

struct Session: Codable, Sendable {
    var user: String
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Expiration")
let factory = ArchivesFactory(directory: folder)
let manager = MiniCacheManager(name: "Expiration", directory: folder)
let secondsToLive = 60.0

struct Bank: Sendable {
    func rate(of currency: String) async throws -> Double { 0.0064 }
}

let bank = Bank()
// snippet.show
let tickets = try factory.store(
    for: Ticket.self,
    expiration: .after(.seconds(3600))
)
try tickets.record(Ticket(number: "1"))  // for an hour
try tickets.record(Ticket(number: "2"), expiration: .after(.seconds(60)))
print(try tickets.metadata(forKey: "2")?.expires ?? .distantFuture)

let rates: MiniCache<String, Double> = manager.cache(
    cacheName: "rates",
    cacheVersion: .custom("1"),
    maxAge: .minutes(10)
)
try rates.set(1.08, forKey: "USD")  // for ten minutes
try rates.set(0.94, forKey: "GBP", maxAge: .seconds(30))

let sessions: MiniCache<String, Session> = manager.cache(
    cacheName: "sessions",
    cacheVersion: .custom("1"),
    expiration: .unused(for: .seconds(1800), atMost: .seconds(86_400))
)

let age = try Expiration(validatingSeconds: secondsToLive)
try sessions.set(Session(user: "ann"), forKey: "a", expiration: age)

let spread = Expiration.after(.seconds(3600)).jittered(by: 0.1)
try rates.set(0.97, forKey: "CHF", expiration: spread)

try rates.set(1.08, forKey: "USD", groups: ["bank:3", "tenant:7"])
let yen = try await rates.loading(into: ["bank:3"]).value(forKey: "JPY") {
    try await bank.rate(of: "JPY")
}
print(try rates.keys(group: "bank:3"))
try rates.removeAll(group: "bank:3")

try tickets.deleteAll(where: #Predicate { $0.tags.contains("tenant:7") })
// snippet.hide

print(yen)
