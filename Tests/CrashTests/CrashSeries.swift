import CrashScript
import Foundation
import TestThreads
import VellumEngine
import VellumTestSupport

/// A series of folders in which children run one script and are killed.
final class CrashSeries {
    /// How a child ends.
    enum Death: CustomStringConvertible {
        case outside(afterMicroseconds: Int)
        case at(CrashPoint, passing: Int)
        /// It is not killed, and prints how often it passed each point.
        case none

        var description: String {
            switch self {
            case .outside(let microseconds): "killed after \(microseconds) µs"
            case .at(let point, let passing): "killed at \(point.rawValue):\(passing)"
            case .none: "not killed"
            }
        }
    }

    struct Result {
        var wasKilled = false
        var passings: [CrashPoint: Int] = [:]
        var problems: [String] = []
        var opening = Duration.zero
    }

    let script: Script
    private let root: TemporaryDirectory
    private let template: Template
    private var current: (folder: String, model: Model)?
    private var rounds = 0

    init(_ script: Script) throws {
        self.script = script
        root = try TemporaryDirectory()
        template = try Template.of(script)
    }

    /// Runs a child for `count` operations, kills it, and checks the folder.
    ///
    /// - Parameter isFresh: Whether it begins with the prepared folder rather than the folder of
    ///   the previous child.
    func round(_ death: Death, seed: UInt64, count: Int, isFresh: Bool) throws -> Result {
        rounds += 1
        if isFresh || current == nil {
            if let old = current?.folder { try FileManager.default.removeItem(atPath: old) }
            let folder = root.file("round \(rounds)").path
            try FileManager.default.copyItem(atPath: template.folder, toPath: folder)
            current = (folder, template.model)
        }
        guard let (folder, model) = current else { return Result() }
        let path = root.file("journal \(rounds)").path
        let journal = try Journal(path)
        for line in model.lines { journal.append(line) }

        var result = try live(
            death,
            ["script", folder, path, script.rawValue, "\(seed)", "\(count)"]
        )
        let entries = try JournalEntries(path: path)
        // Sometimes the next child gets the folder as the killed one left it, and only a copy is
        // checked.
        var looked = folder
        if seed % 3 == 0 {
            looked = root.file("copy \(rounds)").path
            try FileManager.default.createDirectory(
                atPath: looked,
                withIntermediateDirectories: true
            )
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where !name.hasSuffix("-shm") {
                try FileManager.default.copyItem(
                    atPath: folder + "/" + name,
                    toPath: looked + "/" + name
                )
            }
        }
        let outcome: Checker.Outcome
        do {
            outcome = try Checker(folder: looked).check(entries)
        } catch {
            throw Failure(description: "\(context(death, seed)): \(String(reflecting: error))")
        }
        result.opening = outcome.opening
        result.problems += outcome.problems.map { "\(context(death, seed)): \($0)" }
        if result.problems.isEmpty {
            current = (folder, outcome.model)
            if looked != folder { try FileManager.default.removeItem(atPath: looked) }
            try FileManager.default.removeItem(atPath: path)
        } else {
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent(
                "vellum-crash-\(script.rawValue)-\(rounds)-\(seed)"
            )
            .path
            if !FileManager.default.fileExists(atPath: kept) {
                try FileManager.default.copyItem(atPath: root.url.path, toPath: kept)
            }
            current = nil
        }
        return result
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private func context(_ death: Death, _ seed: UInt64) -> String {
        "\(script.rawValue), round \(rounds), seed \(seed), \(death)"
    }

    private func live(_ death: Death, _ arguments: [String]) throws -> Result {
        var result = Result()
        var environment: [String: String] = [:]
        switch death {
        case .at(let point, let passing):
            environment["VELLUM_CRASH_POINT"] = "\(point.rawValue):\(passing)"
        case .none: environment["VELLUM_COUNT_POINTS"] = "1"
        case .outside: break
        }
        let child = try Spawned(arguments, environment: environment)
        if child.line() == "begins", case .outside(let microseconds) = death {
            child.kill(afterMicroseconds: microseconds)
        }
        let (end, lines) = child.end()
        result.wasKilled = end == .killed(SIGKILL)
        if !result.wasKilled, end != .exited(0) {
            result.problems.append("\(death): the child ended with \(end)")
        }
        for line in lines {
            let words = line.split(separator: " ")
            if words.count == 2, let point = CrashPoint(rawValue: String(words[0])) {
                result.passings[point] = Int(words[1])
            }
        }
        return result
    }
}
