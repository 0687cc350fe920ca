import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Runs operations of a script until it is killed, or has run a number of them; prints a line when
/// it begins.
///
///     CrashChild script FOLDER JOURNAL SCRIPT SEED COUNT
enum ScriptMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 7, let script = Script(rawValue: arguments[4]),
            let seed = UInt64(arguments[5]),
            let count = Int(arguments[6])
        else { exit(2) }
        let journal = try Journal(arguments[3])
        let performer = Performer(
            in: arguments[2],
            try JournalEntries(path: arguments[3]).start,
            journal
        )
        var random = SeededGenerator(seed: seed)
        if ProcessInfo.processInfo.environment["VELLUM_COUNT_POINTS"] != nil {
            CrashPoint.startCounting()
        }
        say("begins")
        do {
            for _ in 0..<count { try performer.perform(script.next(performer.model, &random)) }
            try performer.close()
        } catch {
            journal.complain("an operation failed: \(String(reflecting: error))")
            exit(1)
        }
        for (point, passings) in CrashPoint.passings { say("\(point.rawValue) \(passings)") }
    }
}
