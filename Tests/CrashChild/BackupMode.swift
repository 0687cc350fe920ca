import CrashScript
import Foundation
import Vellum
import VellumFiles

/// Writes pairs, or copies their file.
///
///     CrashChild pairs FOLDER NUMBER
///     CrashChild back-up FOLDER TARGETS NAME
///     CrashChild restore BACKUP FILE
///     CrashChild read-as USER FILE
enum BackupMode {
    static func write(_ arguments: [String]) throws {
        guard arguments.count == 4, let number = Int(arguments[3]) else { exit(2) }
        let pairs = try Pairs(writingIn: URL(fileURLWithPath: arguments[2]))
        say("begins")
        try pairs.writeForever(by: number)
    }

    static func restore(_ arguments: [String]) throws {
        guard arguments.count == 4 else { exit(2) }
        _ = try ArchiveFile.restore(
            from: URL(fileURLWithPath: arguments[2]),
            to: URL(fileURLWithPath: arguments[3])
        )
    }

    /// Prints how many pairs the file has, or the error, as another user.
    static func read(_ arguments: [String]) throws {
        guard arguments.count == 4, let user = uid_t(arguments[2]), setgid(user) == 0,
            setuid(user) == 0
        else { exit(2) }
        do {
            let factory = ArchivesFactory(readingOnly: URL(fileURLWithPath: arguments[3]))
            say("\(try Pairs(in: factory).count)")
        } catch {
            say("\(error)".replacingOccurrences(of: "\n", with: " "))
        }
    }

    static func backUp(_ arguments: [String]) throws {
        guard arguments.count == 5 else { exit(2) }
        let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[2]))
        let targets = URL(fileURLWithPath: arguments[3])
        _ = try whileBusy { try factory.archives() }
        say("begins")
        for number in 0..<1000 {
            let target = targets.appendingPathComponent("\(arguments[4])-\(number).sqlite")
            try whileBusy { try factory.backup(to: target) }
            say("\(number)")
            // The last is left.
            if number > 0 {
                try FileManager.default.removeItem(
                    at: targets.appendingPathComponent("\(arguments[4])-\(number - 1).sqlite")
                )
            }
        }
    }
}
