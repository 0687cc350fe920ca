// The beginning of an app: notes that stay, and previews of pages that can be loaded again.

import Foundation
import MiniCache
import Vellum

struct Note: ArchiveCodable, IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Note>] {
        [.index(\.changed)]
    }

    var primaryKey: String { id.uuidString }
    var id = UUID()
    var text: String
    var changed = Date()
}

let support = FileManager.default
    .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
let factory = ArchivesFactory(directory: support.appending(path: "Notes"))
let notes = try factory.store(for: Note.self, diskLimit: .unlimited)

try notes.record(Note(text: "Water the plants"))
let newest = SortDescriptor(\Note.changed, order: .reverse)
for note in try notes.fetch(sortedBy: [newest], limit: 20) {
    print(note.text)
}

let manager = MiniCacheManager(name: "Previews")
let previews: MiniCache<URL, Data> = manager.cache(
    cacheName: "previews",
    cacheVersion: .custom("1"),
    maxAge: .days(30),
    diskLimit: 200.megaByte
)

func preview(of page: URL) async throws -> Data {
    let day = Duration.seconds(86_400)
    return try await previews.value(forKey: page, staleIfError: day) {
        try await download(page)
    }
}

struct Seat: ArchiveCodable {
    var primaryKey: String { Self.key(number, in: train) }
    var train: String
    var number: Int
    var passenger: String?

    static func key(_ number: Int, in train: String) -> String {
        "\(number)/\(train)"
    }
}
// snippet.hide

print(Seat(train: "EC 7", number: 61).primaryKey)

func download(_ page: URL) async throws -> Data { Data(page.path.utf8) }

print(try await preview(of: support).count)
