import Foundation
import Vellum

/// Opens an archive with a size, or without one (`-`), records numbered items, and prints its
/// contents.
enum LimitMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 6, let first = Int(arguments[4]), let count = Int(arguments[5])
        else { exit(2) }
        let factory = ArchivesFactory(
            directory: URL(fileURLWithPath: arguments[2]),
            defaultMaxDiskSize: 50.kiloByte
        )
        let archives = try factory.archives(
            for: Item.self,
            trySetMaxDiskSize: Int(arguments[3]).map { DataSize(bytes: $0) }
        )
        for number in first..<first + count { archives.record(.expected("\(number)")) }
        say("count \(try archives.store.count())")
        try factory.close()
    }
}
