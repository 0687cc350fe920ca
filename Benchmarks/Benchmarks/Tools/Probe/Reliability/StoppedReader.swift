import Foundation
import Samples
import Vellum

/// A process that writes while another one was stopped during a read, or keeps reading.
enum StoppedReader {
    static func measure(_ workspace: Workspace) throws -> [Figure] {
        var (running, stopped, logs): ([Double], [Double], [Double]) = ([], [], [])
        for round in 0..<(workspace.isQuick ? 3 : 7) {
            running.append(try rate(isStopped: false, workspace, round).rate)
            let outcome = try rate(isStopped: true, workspace, round)
            stopped.append(outcome.rate)
            logs.append(outcome.log)
        }
        let (before, beside) = (Distribution(running).median, Distribution(stopped).median)
        return [
            Figure(title: "Records beside an idle reader", value: before, unit: "/s"),
            Figure(
                title: "… beside a reader that was stopped (SIGSTOP)",
                value: beside,
                unit: "/s"
            ),
            Figure(
                title: "… the rate beside the idle one by that beside the stopped one",
                value: before / beside,
                unit: "x",
                limit: 1 / 0.7
            ),
            Figure(title: "… the log then", value: Distribution(logs).median, unit: "MB"),
        ]
    }

    private static func rate(
        isStopped: Bool,
        _ workspace: Workspace,
        _ round: Int
    ) throws -> (rate: Double, log: Double) {
        let folder = try workspace.folder("stopped-\(isStopped)-\(round)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder)
        try factory.store(for: Person.self, memoryLimit: 1.megaByte, diskLimit: 1.gigaByte).record(
            contentsOf: (0..<1000).map(Person.init)
        )
        try factory.close()

        let (reader, readerOutput) = try child(["read", folder.path, isStopped ? "on" : "once"])
        // It prints a line once it reads.
        _ = readerOutput.fileHandleForReading.availableData
        if isStopped { kill(reader.processIdentifier, SIGSTOP) }
        let (writer, output) = try child(["write", folder.path, "0", workspace.isQuick ? "3" : "8"])
        let said = output.fileHandleForReading.readDataToEndOfFile()
        writer.waitUntilExit()
        let log =
            try FileManager.default.attributesOfItem(atPath: folder.path + "/Archives.sqlite-wal")[
                .size
            ] as? NSNumber
        kill(reader.processIdentifier, SIGKILL)
        reader.waitUntilExit()
        let rate =
            Double(
                String(decoding: said, as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines
                )
            ) ?? .nan
        return (rate, (log?.doubleValue ?? 0) / 1_048_576)
    }

    private static func child(_ arguments: [String]) throws -> (Process, Pipe) {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        child.arguments = arguments
        let output = Pipe()
        child.standardOutput = output
        try child.run()
        return (child, output)
    }

    /// The reader's process: reads from the disk, once or until it is killed.
    static func read(_ arguments: [String]) throws {
        let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[0]))
        let store = try factory.store(for: Person.self)
        _ = try store.metadata(forKey: Person.key(1))
        print("reads")
        fflush(nil)
        var number = 0
        while true {
            if arguments[1] == "once" {
                sleep(1)
            } else {
                number += 1
                _ = try store.metadata(forKey: Person.key(number % 1000))
            }
        }
    }
}
