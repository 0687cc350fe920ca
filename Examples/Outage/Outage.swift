import Foundation

// A service with a cache, under steady load, while its source works, hangs, fails and works again:
// what its metrics show.

@main
enum Outage {
    static func main() async throws {
        #if Metrics
            let arguments = CommandLine.arguments
            try await Demonstration(
                folder: URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : ".build/outage")
            ).run()
        #else
            print("Build it with the trait: make demo-outage.")
        #endif
    }
}
