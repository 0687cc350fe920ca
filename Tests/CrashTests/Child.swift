import Foundation

/// A child process and the lines it prints.
final class Child {
    private let process = Process()
    private let output = Pipe()
    private var buffer = Data()

    /// Starts `CrashChild`, which is in the folder of the tests.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let beside = Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() } + [Bundle.main.bundleURL]
        let candidates = beside.map { $0.appendingPathComponent("CrashChild") }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardOutput = output
        try process.run()
    }

    /// Returns the next line; `nil` at the end of the output.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            buffer.append(more)
        }
    }

    func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Kills the process, and returns the lines it had printed.
    func kill() -> [String] {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        let lines = lines()
        process.waitUntilExit()
        return lines
    }

    func waitForExit() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
