// Large files beside an archive that knows where they are.

import Foundation
import Vellum

// snippet.hide
let folder = FileManager.default.temporaryDirectory.appending(path: "Films")
// snippet.show
struct Film: ArchiveCodable {
    var primaryKey: String { title }
    var title: String
    var file: String  // The film itself has hundreds of megabytes.
}

let films = try ArchivesFactory(directory: folder).store(
    for: Film.self,
    diskLimit: .unlimited
)
if let film = try films.access(archiveWithKey: "Metropolis") {
    let bytes = try Data(
        contentsOf: folder.appending(path: film.file),
        options: .mappedIfSafe
    )
    print(bytes.count)
}
