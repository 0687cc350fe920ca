import CrashScript
import Foundation

/// Changes twins.
///
///     CrashChild twins FOLDER SEED COUNT
enum TwinsMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 5, let seed = UInt64(arguments[3]), let count = Int(arguments[4])
        else { exit(2) }
        var writer = try TwinWriter(in: URL(fileURLWithPath: arguments[2]), seed: seed)
        say("begins")
        for _ in 0..<count { try writer.write() }
        try writer.close()
    }
}
