import Foundation
import Samples

/// Measures what needs a process of its own. `Probe fill` first, then the others, each by itself.
@main
enum Probe {
    static func main() throws {
        let desk = Desk()
        switch CommandLine.arguments.dropFirst().first {
        case "fill": try ResidentMemory.fill(desk)
        case "resident-memory": try ResidentMemory.measure(desk)
        case "log": try LogGrowth.measure(desk)
        default:
            print("Probe fill | resident-memory | log")
            exit(2)
        }
    }
}
