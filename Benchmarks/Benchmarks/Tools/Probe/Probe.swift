import Foundation
import Samples

/// Measures what needs a process of its own. `Probe fill` first, then the others, each by itself.
@main
enum Probe {
    static func main() async throws {
        let desk = Desk()
        switch CommandLine.arguments.dropFirst().first {
        case "fill": try ResidentMemory.fill(desk)
        case "resident-memory": try ResidentMemory.measure(desk)
        case "log": try LogGrowth.measure(desk)
        case "query-memory": try await QueryMemory.measure(desk)
        case "cache": try CacheTimes.measure(desk)
        case "reliability": try Reliability.measure(desk)
        case "read": try StoppedReader.read(Array(CommandLine.arguments.dropFirst(2)))
        case "stopped-reader": try desk.write(try StoppedReader.measure(desk), named: "3 stopped reader")
        case "write": try TwoWriters.write(Array(CommandLine.arguments.dropFirst(2)))
        default:
            print("Probe fill | resident-memory | log | query-memory | cache | reliability | stopped-reader")
            exit(2)
        }
    }
}
