import Foundation
import Samples
import Vellum

/// Two processes that write to one file, compared with one.
enum TwoWriters {
    static func measure(_ workspace: Workspace) throws -> [Figure] {
        var (one, two): ([Double], [Double]) = ([], [])
        for round in 0..<3 {
            one.append(try total(of: 1, workspace, round))
            two.append(try total(of: 2, workspace, round))
        }
        let (alone, together) = (Distribution(one).median, Distribution(two).median)
        return [
            Figure(title: "Records of one process", value: alone, unit: "/s"),
            Figure(title: "… of two on one file, together", value: together, unit: "/s"),
            Figure(
                title: "… the rate of one beside that of two together",
                value: alone / together,
                unit: "x",
                limit: 1.25
            ),
        ]
    }

    /// The records of all of them per second.
    private static func total(
        of processes: Int,
        _ workspace: Workspace,
        _ round: Int
    ) throws -> Double {
        let folder = try workspace.folder("writers-\(processes)-\(round)")
        let children = try (0..<processes).map { number in
            let child = Process()
            child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            child.arguments = ["write", folder.path, "\(number)", workspace.isQuick ? "2" : "5"]
            let output = Pipe()
            child.standardOutput = output
            try child.run()
            return (child, output)
        }
        let rates = children.map { child, output -> Double in
            let said = output.fileHandleForReading.readDataToEndOfFile()
            child.waitUntilExit()
            return Double(
                String(decoding: said, as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines
                )
            ) ?? .nan
        }
        try FileManager.default.removeItem(at: folder)
        return rates.reduce(0, +)
    }

    /// The child's process: records for so many seconds, and prints the rate.
    static func write(_ arguments: [String]) throws {
        let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[0]))
        let store = try factory.store(
            for: Person.self,
            memoryLimit: 1.megaByte,
            diskLimit: 1.gigaByte
        )
        let (number, seconds) = (Int(arguments[1]) ?? 0, Double(arguments[2]) ?? 1)
        var count = 0
        let begin = Date()
        while Date().timeIntervalSince(begin) < seconds {
            for _ in 0..<20 {
                try store.record(Person(number * 10_000_000 + count % 20_000))
                count += 1
            }
        }
        print(Double(count) / Date().timeIntervalSince(begin))
        try factory.close()
    }
}
