import Foundation
import MiniCache
import Shallows
import Vellum

/// Closes standard streams, uses a file of each kind, and writes to the streams as a program does
/// that logs.
///
///     CrashChild streams FOLDER MASK first|later
///
/// `MASK` has a bit for each stream that is closed, before anything is opened, or after an archive
/// was. The file `FOLDER/result` says which files of the folder have a descriptor below 3, and what
/// was found at the end.
enum StreamsMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 5, let mask = Int32(arguments[3]) else { exit(2) }
        let folder = URL(fileURLWithPath: arguments[2])
        if arguments[4] == "later" { try use(folder.appendingPathComponent("before")) }
        for stream: Int32 in 0...2 where mask & 1 << stream != 0 { close(stream) }
        let said = try use(folder.appendingPathComponent("files"))
        try Data(said.joined(separator: "\n").utf8).write(
            to: folder.appendingPathComponent("result")
        )
    }

    @discardableResult
    private static func use(_ folder: URL) throws -> [String] {
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        let store = try factory.store(for: Item.self)
        let manager = MiniCacheManager(
            name: "Caches",
            directory: folder.appendingPathComponent("caches")
        )
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Numbers",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        let files = DiskFolderStorage(folderURL: folder.appendingPathComponent("folder"))
            .makeSyncStorage()
        for number in 0..<50 {
            try store.record(Item.expected("\(number)"))
            try cache.set(number, forKey: "\(number)")
            try files.set(Data("\(number)".utf8), forKey: Filename(rawValue: "\(number)"))
            log()
        }
        let (low, values) = (below3(in: folder), try cache.count())
        try factory.close()
        try manager.close()
        log()
        let again = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        let found = try again.store(for: Item.self).count()
        log()
        var data = 0
        for number in 0..<50
        where try files.retrieve(forKey: Filename(rawValue: "\(number)")) == Data("\(number)".utf8)
        { data += 1 }
        return low + ["\(found) objects, \(values) values, \(data) files"]
    }

    private static func log() {
        for stream: Int32 in 0...2 { _ = write(stream, "a line of a log\n", 16) }
    }

    /// The files of the folder that a standard stream leads to.
    private static func below3(in folder: URL) -> [String] {
        let paths = FileManager.default.subpaths(atPath: folder.path) ?? []
        return (0...2).flatMap { (stream: Int32) in
            var status = stat()
            guard fstat(stream, &status) == 0 else { return ["\(stream) is closed"] }
            return paths.filter {
                var file = stat()
                return stat(folder.path + "/" + $0, &file) == 0 && file.st_ino == status.st_ino
                    && file.st_dev == status.st_dev
            }
        }
    }
}
