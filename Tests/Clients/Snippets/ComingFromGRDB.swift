// A table of keys and values as an archive.

import Foundation
import Vellum

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Players")
// snippet.show

struct Player: ArchiveCodable, IndexedArchivable {
    var primaryKey: String { id }
    var id: String
    var name: String
    var score: Int

    static var archiveIndexes: [ArchiveIndex<Player>] {
        [.index(\.score)]
    }
}

let factory = ArchivesFactory(directory: folder)
let players = try factory.store(for: Player.self, diskLimit: .unlimited)

try players.record(Player(id: "1", name: "Ann", score: 100))
let player = try players.access(archiveWithKey: "1")
let best = try players.fetch(
    where: #Predicate { $0.score > 50 },
    sortedBy: [SortDescriptor(\.score, order: .reverse)],
    limit: 10
)
let count = try players.count(where: #Predicate { $0.score > 50 })
try players.delete(archiveWithKey: "1")

try factory.transaction { transaction in
    let bob = Player(id: "2", name: "Bob", score: 1)
    try transaction.record(bob, in: players)
    transaction.delete(archiveWithKey: "3", in: players)
}

let events = players.events
Task {
    for await case .recorded(let key) in events { print(key) }
}
// snippet.hide

print(player?.name ?? "nobody", best.count, count)
