import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Shares one file with other processes for a number of milliseconds, and reports its memory and
/// descriptors at intervals.
///
///     CrashChild soak FOLDER SEED NUMBER MILLISECONDS
enum SoakMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 6, let seed = UInt64(arguments[3]), let number = Int(arguments[4]),
            let milliseconds = Int(arguments[5])
        else { exit(2) }
        let archives = try SharedArchives(in: arguments[2])
        var sharer = Sharer(archives, number: number, seed: seed, claims: false)
        let clock = ContinuousClock()
        var next = 1
        do {
            // What is opened when it is first needed is open then.
            for _ in 0..<500 { try sharer.step() }
            let start = clock.now
            // Twenty times, at equal intervals, or after some operations if they take longer.
            while next <= 20 {
                for _ in 0..<10 { try sharer.step() }
                if clock.now - start >= .milliseconds(milliseconds) * next / 20 {
                    next += 1
                    say("memory \(residentBytes) descriptors \(descriptors)")
                }
            }
            try archives.close()
        } catch {
            say("wrong \(String(reflecting: error).replacing("\n", with: " "))")
            exit(1)
        }
        for line in sharer.results { say(line) }
        say("did \(sharer.operations)")
    }

    /// The resident memory of the process, without mapped files if the system distinguishes them.
    private static var residentBytes: Int {
        #if os(Linux)
            let status = String(
                decoding: FileManager.default.contents(atPath: "/proc/self/status") ?? Data(),
                as: UTF8.self
            )
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
            let words = line?.split(whereSeparator: \.isWhitespace) ?? []
            return words.count > 1 ? (Int(words[1]) ?? 0) * 1024 : 0
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }

    private static var descriptors: Int { (0..<1024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
}
