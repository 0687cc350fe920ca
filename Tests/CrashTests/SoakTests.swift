import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Processes that use one file for a long time do not accumulate memory, descriptors or disk space,
/// and their contents do not drift.
///
/// `VELLUM_SOAK` sets the duration in seconds; a few by default.
@Suite(.ownThreads(.longSuite), .serialized)
struct SoakTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static var seconds: Double {
        ProcessInfo.processInfo.environment["VELLUM_SOAK"].flatMap(Double.init)
            ?? Double(LongRun.number(4, usually: 2))
    }

    /// The figures that a child printed.
    private struct Story {
        var memory: [Int] = []
        var descriptors: [Int] = []
        var owned: [String: Int] = [:]
        var operations = 0
        var problems: [String] = []

        init(_ lines: [String]) {
            for line in lines {
                let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                switch words.first {
                case "memory":
                    memory.append(Int(words[1]) ?? 0)
                    descriptors.append(Int(words[2].split(separator: " ").last ?? "") ?? 0)
                case "own": owned[words[2]] = Int(words[1])
                case "did": operations = Int(words[1]) ?? 0
                default: problems.append(line)
                }
            }
        }

        /// The growth of memory from its first third to its end.
        var growth: Int {
            let early = memory.prefix(memory.count / 3).max() ?? 0
            let late = memory.suffix(memory.count / 3).sorted()
            return late.isEmpty ? 0 : late[late.count / 2] - early
        }
    }

    @Test func longRunningProcessesDoNotAccumulateResources() async throws {
        let seed: UInt64 = 8
        let milliseconds = Int(Self.seconds * 1000)
        let archives = try SharedArchives(in: folder.url.path)
        let sharing = SharingProcesses(
            "soak",
            in: folder.url,
            seed: seed,
            milliseconds: milliseconds
        )
        // The size of the files is bounded, too.
        let names = [ScriptArchive.safe, .power, .relaxed, .tight, .fleeting]
        var (largestLog, largestFile, looks) = (0, 0, 0)
        while sharing.goOn {
            looks += 1
            largestLog = max(largestLog, folder.size(of: "Archives.sqlite-wal"))
            let live = try names.reduce(0) { try $0 + archives.store($1).statistics().disk.bytes }
            let file = archives.file.fileSize.bytes
            largestFile = max(largestFile, file)
            if file > 2 * live + 4 << 20 {
                Issue.record("The file takes \(file) bytes for \(live).")
            }
            await pause()
        }
        // A process that does not run in the middle of a read keeps the log from beginning anew,
        // which `LogSizeTests` excludes. Once they have ended, nobody does.
        try await until("the log is short again") {
            try archives.put(.safe, "last", 1)
            return folder.size(of: "Archives.sqlite-wal") <= 8 << 20
        }

        var operations = 0
        var growth = 0
        for (process, (end, lines)) in try sharing.results().enumerated() {
            let story = Story(lines)
            #expect(end == .exited(0) && story.problems == [], "seed \(seed), process \(process)")
            for (key, version) in story.owned {
                #expect(try archives.find(.safe, key) == version, "seed \(seed)")
            }
            #expect(story.memory.count >= 5)
            #expect(story.growth <= 8 << 20, "process \(process): \(story.memory)")
            // Readers and checkpoints open their connections when they are first needed.
            let late = story.descriptors.suffix(story.descriptors.count / 2)
            #expect(
                (late.max() ?? 0) - (late.min() ?? 0) <= 2,
                "process \(process): \(story.descriptors)"
            )
            operations += story.operations
            growth = max(growth, story.growth)
        }
        let report = try archives.file.verify()
        #expect(report.isIntact, "\(report)")
        try archives.file.close()
        #expect(folder.size(of: "Archives.sqlite-wal") == 0)
        print(
            """
            FIGURES soakSeconds=\(Int(Self.seconds)) processes=\(Sharer.processes) \
            operations=\(operations) memoryGrowth=\(growth) largestFile=\(largestFile) \
            largestLog=\(largestLog) looks=\(looks)
            """
        )
    }
}
