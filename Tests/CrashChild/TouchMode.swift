import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Records items on the safe archive, prints each number once it is acknowledged, then waits to be
/// killed.
///
///     CrashChild touch FOLDER MILLISECONDS COUNT
enum TouchMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 5, let now = Int64(arguments[3]), let count = Int(arguments[4])
        else { exit(2) }
        let file = try DatabaseFile.open(
            at: Library.url(in: arguments[2]),
            clock: Library.Clock(now).wallClock
        )
        let store = try file.store(
            named: ScriptArchive.safe.rawValue,
            codec: ItemCodec(.safe),
            memory: Capacity(1.megaByte),
            disk: .unlimited,
            caching: .values
        )
        for number in 0..<count {
            let item = CrashScript.Item(
                archive: .safe,
                key: "touched \(number)",
                version: number,
                filling: 300
            )
            try store.record(item, forKey: EntryKey(item.key))
            say("\(number)")
        }
        while true { pause() }
    }
}
