// A copy of an archive, made by the program itself.

import Foundation
import Vellum

/// For a file that only this process has open.
func backUp(_ factory: ArchivesFactory, to copy: URL) throws {
    // Everything is in the file now, and no thread uses it.
    try factory.suspend()
    do {
        try FileManager.default.copyItem(at: factory.directory, to: copy)
    } catch {
        try factory.resume()
        throw error
    }
    try factory.resume()
}

func restore(_ copy: URL, to folder: URL) throws -> ArchivesFactory {
    if FileManager.default.fileExists(atPath: folder.path) {
        try FileManager.default.removeItem(at: folder)
    }
    try FileManager.default.copyItem(at: copy, to: folder)
    return ArchivesFactory(directory: folder)
}

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Thumbnails")
// snippet.show
let thumbnails = ArchivesFactory(
    directory: folder,
    fileProtection: .completeUntilFirstUserAuthentication,
    excludedFromBackup: true)
// snippet.hide

let copy = FileManager.default.temporaryDirectory.appending(path: "Copy")
try backUp(thumbnails, to: copy)
print(try restore(copy, to: thumbnails.directory).directory)
