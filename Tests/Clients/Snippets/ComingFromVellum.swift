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

let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
let factory = ArchivesFactory(directory: support.appendingPathComponent("Archives"), originals: caches)

let takeOvers = factory.takeOvers
Task {
    for await takeOver in takeOvers { print("\(takeOver.examined) of \(takeOver.total)") }
}

let users = try factory.archives(for: User.self)
for await case .tookOver(let takeOver) in users.store.events {
    print(takeOver)
    break
}

// A later version of the program.
try factory.removeOriginals()

// What version 1 did otherwise.
for user in users.accessAll() { _ = users.access(archiveWithKey: user.primaryKey) }
users.delete(all: users.accessAll().filter { users.latestAccessedTime(for: $0) ?? .distantPast > Date(timeIntervalSinceNow: -60) })
private let unlimited = try factory.archives(for: Draft.self, trySetMaxDiskSize: .unlimited)
unlimited.record(Draft(title: "one"))
