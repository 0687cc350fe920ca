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
    let files = FileManager.default
    let name = folder.lastPathComponent
    let parent = folder.deletingLastPathComponent()
    let restored = parent.appending(path: "\(name).restored")
    let former = parent.appending(path: "\(name).former")
    // The present files go last, when the copy is complete.
    try files.copyItem(at: copy, to: restored)
    let isThere = files.fileExists(atPath: folder.path)
    if isThere { try files.moveItem(at: folder, to: former) }
    try files.moveItem(at: restored, to: folder)
    if isThere { try files.removeItem(at: former) }
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
