// The example of the README: an archive of users.

import Foundation
import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var fullName: String
    var age: Int
}

let users = try ArchivesFactory.shared.store(for: User.self, diskLimit: 20.megaByte)

try users.record(User(userName: "ann", fullName: "Ann Example", age: 30))
let ann = try users.access(archiveWithKey: "ann")  // A miss is nil, a failure is an error.
print(ann?.fullName ?? "no one")

try users.record(contentsOf: [User(userName: "bob", fullName: "Bob Example", age: 40)])  // at once
let statistics = try users.statistics()
print("\(statistics.disk.entries) users, \(DataSize(bytes: statistics.disk.bytes)) on disk")
// snippet.hide
