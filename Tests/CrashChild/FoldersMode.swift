import Foundation
import MiniCache
import Shallows
import Vellum

/// Prints where files lie that are given by a name alone, and makes archives in memory until it is
/// killed.
///
///     CrashChild folders
///     CrashChild in-memory
enum FoldersMode {
    static func run() {
        say(ArchivesFactory.shared.directory.path)
        say(MiniCacheManager(name: "Names").url.path)
        say(DiskFolderStorage.url(forFolder: "folder", in: .cachesDirectory).path)
    }

    static func runInMemory() throws {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Item.self).record(Item.expected("k"))
        say(factory.directory.path)
        while true { pause() }
    }
}
