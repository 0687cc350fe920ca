import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C10: several processes on one file.
@Suite(.ownThreads(.longSuite), .serialized)
struct ManyProcessesTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func fourProcessesOnOneFileLoseNothingAndKeepItsLimits() async throws {
        let seed: UInt64 = 4
        let archives = try SharedArchives(in: folder.url.path)
        let milliseconds = Tally.count(30_000, sample: 500)
        let sharing = SharingProcesses(
            "share",
            in: folder.url,
            seed: seed,
            milliseconds: milliseconds
        )
        // A reader sees limits that hold together at all times.
        let tight = try archives.store(.tight)
        var looks = 0
        while sharing.goOn {
            looks += 1
            let held = try tight.statistics().disk.bytes
            if held > SharedArchives.tightLimit {
                Issue.record("\(held) bytes are more than the limit")
            }
            await pause()
        }
        var owned: [String: Int] = [:]
        var winners: [Int: Int] = [:]
        var operations = 0
        for (process, (end, lines)) in try sharing.results().enumerated() {
            #expect(end == .exited(0), "seed \(seed), process \(process)")
            for line in lines {
                let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                switch words.first {
                case "own": owned[words[2]] = Int(words[1])
                case "won":
                    let number = Int(words[1]) ?? 0
                    #expect(winners[number] == nil, "\(number) was won twice")
                    winners[number] = process
                case "did": operations += Int(words[1]) ?? 0
                default: Issue.record("seed \(seed), process \(process): \(line)")
                }
            }
        }
        for (key, version) in owned { #expect(try archives.find(.safe, key) == version) }
        for (number, process) in winners {
            #expect(
                try archives.find(.safe, "claim \(number)").map { $0 % Sharer.processes } == process
            )
        }
        #expect(winners.count == (winners.keys.max() ?? -1) + 1, "a number was lost")
        // Each process carries out some hundreds of operations, also if it hardly runs.
        #expect(winners.count > 4 && operations > 100)
        let report = try archives.file.verify()
        #expect(report.isIntact, "\(report)")
        try archives.file.close()
        print(
            """
            FIGURES processes=\(Sharer.processes) operations=\(operations) claims=\(winners.count) \
            looks=\(looks)
            """
        )
    }
}

/// Processes that share a file for a time, and a thread that waits for their ends.
struct SharingProcesses {
    typealias Ended = (end: Spawned.End, lines: [String])

    private final class End: Sendable {
        let isReached = Locked(false)
    }

    private let end = End()
    private let ends: OnThread<Result<[Ended], any Error>>

    init(_ mode: String, in folder: URL, seed: UInt64, milliseconds: Int) {
        ends = OnThread { [end] in
            defer { end.isReached.withLock { $0 = true } }
            return Result<[Ended], any Error> {
                let children = try (0..<Sharer.processes).map {
                    try Spawned([mode, folder.path, "\(seed)", "\($0)", "\(milliseconds)"])
                }
                return children.map { $0.end() }
            }
        }
    }

    var goOn: Bool { !end.isReached.withLock { $0 } }

    /// Waits for all, and returns how each has ended.
    func results() throws -> [Ended] { try ends.result().get() }
}
