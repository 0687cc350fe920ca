// Objects and values that expire: by age, by idle time, and by what their source says.

import Foundation
import MiniCache
import Vellum

struct Ticket: ArchiveCodable {
    var primaryKey: String { number }
    var number: String
}

struct Session: Codable, Sendable {
    var user: String
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Expiration")
let factory = ArchivesFactory(directory: folder)
let manager = MiniCacheManager(name: "Expiration", directory: folder)
let secondsToLive = 60.0
let tags = ["guest"]
// snippet.show
let tickets = try factory.store(
    for: Ticket.self, expiration: .after(.seconds(3600)))
try tickets.record(Ticket(number: "1"))  // for an hour
try tickets.record(Ticket(number: "2"), expiration: .after(.seconds(60)))
print(try tickets.metadata(forKey: "2")?.expires ?? .distantFuture)

let rates: MiniCache<String, Double> = manager.cache(
    cacheName: "rates", cacheVersion: .custom("1"),
    maxAge: .minutes(10))
try rates.set(1.08, forKey: "USD")  // for ten minutes
try rates.set(0.94, forKey: "GBP", maxAge: .seconds(30))

let sessions: MiniCache<String, Session> = manager.cache(
    cacheName: "sessions", cacheVersion: .custom("1"),
    expiration: .unused(for: .seconds(1800), atMost: .seconds(86_400)))

let age = try Expiration(validatingSeconds: secondsToLive)
try sessions.set(Session(user: "ann"), forKey: "a", expiration: age)

let spread = Expiration.after(.seconds(3600)).jittered(by: 0.1)
try rates.set(0.97, forKey: "CHF", expiration: spread)
// snippet.hide

print(tags)
