// What programs of Vellum 1.x may want to write when they come here.

import Foundation
import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var age: Int
}

private struct Draft: ArchiveCodable {
    static var archiveName: String { "Draft" }
    var primaryKey: String { title }
    var title: String
}

let support = FileManager.default.urls(
    for: .applicationSupportDirectory,
    in: .userDomainMask
)[0]
let users = try ArchivesFactory(directory: support.appendingPathComponent("Archives")).archives(
    for: User.self
)
for await case .imported(let counts) in users.store.events {
    print("\(counts.imported) imported, \(counts.skipped) skipped")
    break
}

// Into a folder of its own.
let old = try ArchivesFactory.shared.archives(for: User.self)
for user in old.accessAll().reversed() { users.record(user) }

// A later version of the program.
let caches = FileManager.default.urls(
    for: .cachesDirectory,
    in: .userDomainMask
)[0]
try FileManager.default.removeItem(
    at: caches.appendingPathComponent("vellum_user")
)

// What version 1 did otherwise.
for user in users.accessAll() { _ = users.access(archiveWithKey: user.primaryKey) }
let minuteAgo = Date(timeIntervalSinceNow: -60)
let recent = users.accessAll().filter {
    users.latestAccessedTime(for: $0) ?? .distantPast > minuteAgo
}
users.delete(all: recent)
private let unlimited = try ArchivesFactory.shared.archives(
    for: Draft.self,
    trySetMaxDiskSize: .unlimited
)
unlimited.record(Draft(title: "one"))
