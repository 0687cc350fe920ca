// The examples of the page of Vellum.

import Foundation
import Observation
import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var age: Int
}

let users = try ArchivesFactory.shared.store(
    for: User.self,
    diskLimit: 20.megaByte
)

try users.record(User(userName: "ann", age: 30))
let ann = try users.access(archiveWithKey: "ann")
print(ann?.age ?? 0)

func download(_ name: String) async throws -> User { User(userName: name, age: 30) }

func load(_ users: ArchiveStore<User>) async throws -> Int {
    let ann = try await users.value(
        forKey: "ann",
        staleWhileRevalidate: .seconds(600)
    ) { try await download("ann") }
    return ann.age
}

print(try await load(users))

func adults() throws -> Int {
    let adults = try users.fetch(
        where: #Predicate { $0.age > 30 },
        sortedBy: [SortDescriptor(\.age)],
        limit: 10
    )
    return adults.count
}

print(try adults())

nonisolated struct Member: ArchiveCodable {
    var primaryKey: String { name }
    var name: String
    var address: Address
}

nonisolated struct Address: Codable {
    var city: String
}

let members = try ArchivesFactory.shared.store(for: Member.self)
let inBern = #Predicate<Member> { $0.address.city == "Bern" }
let found = try members.fetch(where: inBern)
print(found.count)

@Observable final class Session {
    @ObservationIgnored @Archived var user: User?
}

print(Session().user?.age ?? 0)
