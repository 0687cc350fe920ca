import CrashScript
import Foundation

/// Counts keys up in two threads until the file `stop` is in the folder.
///
///     CrashChild count FOLDER NAME
enum CountMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4 else { exit(2) }
        let folder = URL(fileURLWithPath: arguments[2])
        let threads = try (0..<2).map { number in
            try Counting(
                in: folder,
                name: "\(arguments[3]).\(number)",
                seed: UInt64(getpid()) &* 31 &+ UInt64(number)
            )
        }
        say("begins")
        DispatchQueue.concurrentPerform(iterations: threads.count) { index in
            var counting = threads[index]
            do {
                try counting.run()
            } catch {
                say("wrong \(String(reflecting: error).replacing("\n", with: " "))")
                exit(1)
            }
        }
    }
}
