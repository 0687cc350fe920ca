// The beginning of a server: sessions in a file of its own.

import Foundation
import MiniCache

struct Session: Codable {
    var user: String
}

let manager = MiniCacheManager(
    name: "Sessions",
    directory: URL(fileURLWithPath: "/var/lib/shop")
)
let sessions: MiniCache<String, Session> = manager.cache(
    cacheName: "sessions",
    cacheVersion: .custom("1"),
    expiration: .unused(for: .seconds(1800), atMost: .seconds(86_400)),
    diskLimit: .unlimited
)

func session(_ id: String) async throws -> Session? {
    try await sessions.async.value(forKey: id)
}

func logIn(_ user: String) async throws -> String {
    let id = UUID().uuidString
    let session = Session(user: user)
    try await sessions.async.set(session, forKey: id)
    return id
}

func shutDown() throws {
    try manager.close()
}
// snippet.hide

print(try await session(try await logIn("ann"))?.user ?? "no one")
try shutDown()
