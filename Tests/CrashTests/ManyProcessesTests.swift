import CrashScript
import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C10: several processes on one file.
@Suite(.timeLimit(.minutes(Tally.minutes)), .serialized)
struct ManyProcessesTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func fourProcessesOnOneFileLoseNothingAndKeepItsLimits() async throws {
        let seed: UInt64 = 4
        let archives = try SharedArchives(in: folder.url.path)
        let milliseconds = Tally.count(30_000, sample: 1500)
        let children = try (0..<Sharer.processes).map {
            try Spawned(["share", folder.url.path, "\(seed)", "\($0)", "\(milliseconds)"])
        }
        // A reader sees limits that hold together at all times.
        let (tight, clock) = (try archives.store(.tight), ContinuousClock())
        let end = clock.now + .milliseconds(milliseconds)
        var looks = 0
        while clock.now < end {
            looks += 1
            let held = try tight.statistics().disk.bytes
            if held > SharedArchives.tightLimit { Issue.record("\(held) bytes are more than the limit") }
            await Task.yield()
        }
        var owned: [String: Int] = [:]
        var winners: [Int: Int] = [:]
        var operations = 0
        for (process, child) in children.enumerated() {
            let (end, lines) = child.end()
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
            #expect(try archives.find(.safe, "claim \(number)").map { $0 % Sharer.processes } == process)
        }
        #expect(winners.count == (winners.keys.max() ?? -1) + 1, "a number was lost")
        #expect(winners.count > 4 && operations > 100)
        let report = try archives.file.verify()
        #expect(report.isIntact, "\(report)")
        try archives.file.close()
        print("FIGURES processes=\(Sharer.processes) operations=\(operations) claims=\(winners.count) looks=\(looks)")
    }
}
