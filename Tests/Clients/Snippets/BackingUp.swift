// Copies of a file: made while it is in use, restored, and shipped.

import Foundation
import Vellum
import VellumFiles

/// One file a day. The folder must exist.
func backUp(_ factory: ArchivesFactory, into folder: URL) throws -> URL {
    let day = Date.now.formatted(.iso8601.year().month().day())
    let copy = folder.appending(path: "Archives-\(day).sqlite")
    try factory.backup(to: copy) { progress in
        // Throws to cancel: no file is left then.
        try Task.checkCancellation()
        print(progress.completed, "of", progress.total, "bytes")
    }
    return copy
}

func restore(_ copy: URL, of factory: ArchivesFactory) throws {
    try factory.close()
    let file = factory.directory.appending(path: "Archives.sqlite")
    // Where the old file is now, with everything beside it.
    let old = try ArchiveFile.restore(from: copy, to: file)
    print("The old file is \(old?.path ?? "missing").")
}

struct Airport: ArchiveCodable {
    var primaryKey: String { code }
    var code: String
    var country: String
}

/// A file in the bundle of the app, which nobody writes.
func airports(in bundle: Bundle) throws -> ArchiveStore<Airport>? {
    let file = bundle.url(
        forResource: "Airports",
        withExtension: "sqlite"
    )
    guard let file else { return nil }
    let factory = ArchivesFactory(readingOnly: file)
    return try factory.store(for: Airport.self)
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Thumbnails")
// snippet.show
let thumbnails = ArchivesFactory(
    directory: folder,
    fileProtection: .completeUntilFirstUserAuthentication,
    excludedFromBackup: true
)
// snippet.hide

let copy = try backUp(thumbnails, into: FileManager.default.temporaryDirectory)
try restore(copy, of: thumbnails)
print(try airports(in: .main)?.count() ?? 0)
