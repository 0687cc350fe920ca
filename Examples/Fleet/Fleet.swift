import Foundation

// Four processes share a cache of slow answers, on a server that is killed in the middle and comes
// back empty; or, with `cluster`, on a cluster that loses a primary.

@main
enum Fleet {
    static func main() async throws {
        #if Valkey
            let arguments = CommandLine.arguments
            if arguments.count == 4, arguments[1] == "worker", let number = Int(arguments[2]),
                let port = Int(arguments[3])
            {
                try await Worker(number: number, port: port).run()
            } else if arguments.count > 3, arguments[1] == "shards" {
                try await ShardWorker(nodes: Array(arguments[3...])).run()
            } else if arguments.count == 2, arguments[1] == "cluster" {
                try Shards().run()
            } else {
                try Conductor().run()
            }
        #else
            print("Build it with the trait: make demo-fleet.")
        #endif
    }
}
