import Foundation
import Vellum
import VellumEngine

/// Opens an archive whose objects version 1 left in files.
enum OriginalsMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 3 else { exit(2) }
        if ProcessInfo.processInfo.environment["VELLUM_COUNT_POINTS"] != nil { CrashPoint.startCounting() }
        let folder = URL(fileURLWithPath: arguments[2])
        let factory = ArchivesFactory(
            directory: folder.appendingPathComponent("archives"), originals: folder.appendingPathComponent("originals"))
        _ = try factory.store(for: Item.self)
        try factory.close()
        for (point, passings) in CrashPoint.passings { say("\(point.rawValue) \(passings)") }
    }
}
