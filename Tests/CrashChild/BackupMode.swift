import CrashScript
import Foundation
import Vellum
import VellumFiles

/// Writes pairs, or copies their file.
///
///     CrashChild pairs FOLDER NUMBER
///     CrashChild back-up FOLDER TARGETS NAME
enum BackupMode {
    static func write(_ arguments: [String]) throws {
        guard arguments.count == 4, let number = Int(arguments[3]) else { exit(2) }
        let pairs = try Pairs(writingIn: URL(fileURLWithPath: arguments[2]))
        say("begins")
        try pairs.writeForever(by: number)
    }

    static func backUp(_ arguments: [String]) throws {
        guard arguments.count == 5 else { exit(2) }
        let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[2]))
        let targets = URL(fileURLWithPath: arguments[3])
        _ = try factory.archives()
        say("begins")
        for number in 0..<1000 {
            let target = targets.appendingPathComponent("\(arguments[4])-\(number).sqlite")
            try factory.backup(to: target)
            say("\(number)")
            // The last is left.
            if number > 0 {
                try FileManager.default.removeItem(at: targets.appendingPathComponent("\(arguments[4])-\(number - 1).sqlite"))
            }
        }
    }
}
