import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Opens the file of a folder, reads a few entries of each archive, and closes it.
///
///     CrashChild open FOLDER MILLISECONDS
enum OpenMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let now = Int64(arguments[3]) else { exit(2) }
        if ProcessInfo.processInfo.environment["VELLUM_COUNT_POINTS"] != nil {
            CrashPoint.startCounting()
        }
        say("begins")
        let file = try DatabaseFile.open(
            at: Library.url(in: arguments[2]),
            clock: Library.Clock(now).wallClock
        )
        for name in try file.archiveNames() {
            guard let archive = ScriptArchive(rawValue: name) else { continue }
            let store = try file.store(
                named: name,
                codec: ItemCodec(archive, version: .max),
                memory: Capacity(1.megaByte),
                disk: .unlimited
            )
            _ = try store.keys(limit: 1)
            try store.close()
        }
        try file.close()
        for (point, passings) in CrashPoint.passings { say("\(point.rawValue) \(passings)") }
    }
}
