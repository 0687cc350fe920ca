// The examples of the page of ShallowsValkey.

import ShallowsValkey

struct User: Codable {
    var name: String
}

let server = ValkeyServer(
    try ValkeyConfiguration(url: "valkey://cache.internal")
)
let users = try ValkeyStorage<User>(
    server,
    name: "users",
    expiration: .after(.seconds(3600))
)
let user = try await users.retrieve(forKey: "ann")
print(user.name)
