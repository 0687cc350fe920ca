// The example of the README: an archive of users.

import Foundation
import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var fullName: String
    var age: Int
}

let archives = try ArchivesFactory.shared.archives(for: User.self, trySetMaxMemorySize: 10.megaByte, trySetMaxDiskSize: 20.megaByte)

archives.record(User(userName: "ann", fullName: "Ann Example", age: 30))
let ann = archives.access(archiveWithKey: "ann")
print(ann?.fullName ?? "no one")

// The same archive with throwing methods: a miss is nil, a failure is an error.
let users = archives.store
try users.record(User(userName: "bob", fullName: "Bob Example", age: 40))
let statistics = try users.statistics()
print("\(statistics.disk.entries) users, \(DataSize(bytes: statistics.disk.bytes)) on disk")
