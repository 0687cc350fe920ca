import Foundation

// Shared caches beside what a user would use instead, on one server of this machine, in one run:
// `make bench-shared`.

@main
enum SharedBenchmark {
    static func main() async throws {
        #if Valkey
            try await Comparison().run()
        #else
            print("Build it with the trait: make bench-shared.")
        #endif
    }
}
