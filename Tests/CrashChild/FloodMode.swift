import CrashScript
import Foundation
import VellumEngine

/// Writes a number of megabytes to the same few keys, reports its progress, and goes on with each
/// line that it receives.
///
///     CrashChild flood FOLDER MEGABYTES
enum FloodMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let megabytes = Int(arguments[3]) else { exit(2) }
        let archives = try SharedArchives(in: arguments[2])
        say("begins")
        for number in 0..<megabytes * 20 {
            try archives.put(.safe, "flood \(number % 4)", number, filling: 50_000)
            guard number % 10 == 9 else { continue }
            say("written")
            _ = readLine()
        }
        try archives.close()
    }
}
