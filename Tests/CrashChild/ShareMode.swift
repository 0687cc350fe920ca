import CrashScript
import Foundation
import VellumEngine

/// Shares one file with other processes for a number of milliseconds, and for 500 operations, then
/// prints the required contents.
enum ShareMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 6, let seed = UInt64(arguments[3]), let number = Int(arguments[4]),
            let milliseconds = Int(arguments[5])
        else { exit(2) }
        let archives = try SharedArchives(in: arguments[2])
        var sharer = Sharer(archives, number: number, seed: seed)
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(milliseconds)
        do {
            while clock.now < end || sharer.operations < 500 { try sharer.step() }
            try archives.close()
        } catch {
            say("wrong \(String(reflecting: error).replacing("\n", with: " "))")
            exit(1)
        }
        for line in sharer.results { say(line) }
        say("did \(sharer.operations)")
    }
}
