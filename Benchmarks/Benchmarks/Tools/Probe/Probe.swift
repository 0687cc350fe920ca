import Foundation
import Samples

/// Measurements that need their own process. Run `Probe fill` first, then the others, one at a
/// time.
@main
enum Probe {
    static func main() async throws {
        let workspace = Workspace()
        switch CommandLine.arguments.dropFirst().first {
        case "fill": try ResidentMemory.fill(workspace)
        case "resident-memory": try ResidentMemory.measure(workspace)
        case "log": try LogGrowth.measure(workspace)
        case "query-memory": try await QueryMemory.measure(workspace)
        case "cache": try CacheTimes.measure(workspace)
        case "reliability": try Reliability.measure(workspace)
        case "read": try StoppedReader.read(Array(CommandLine.arguments.dropFirst(2)))
        case "stopped-reader":
            try workspace.write(try StoppedReader.measure(workspace), named: "3 stopped reader")
        case "checkpoints":
            try workspace.write(try CheckpointPauses.measure(workspace), named: "5 checkpoints")
        case "contention":
            try workspace.write(
                try Contention.measure(workspace) + SixWriters.measure(workspace),
                named: "4 contention"
            )
        case "migration":
            try workspace.write(try MigrationTimes.measure(workspace), named: "6 migration")
        case "trace-hits": try HitTimes.trace(workspace)
        case "hits": try workspace.write(try HitTimes.measure(workspace), named: "8 hits")
        case "hits-of": try HitTimes.profile(workspace, Array(CommandLine.arguments.dropFirst(2)))
        case "flood": try SixWriters.flood(Array(CommandLine.arguments.dropFirst(2)))
        case "contend": try Contention.contend(Array(CommandLine.arguments.dropFirst(2)))
        case "write": try TwoWriters.write(Array(CommandLine.arguments.dropFirst(2)))
        default:
            print(
                """
                Probe fill | resident-memory | log | query-memory | cache | reliability | \
                stopped-reader | contention | migration | hits
                """
            )
            exit(2)
        }
    }
}
