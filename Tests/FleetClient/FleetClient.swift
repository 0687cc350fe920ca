import Foundation

// One process of a fleet that shares a cache, for tests that disturb it.
//
//     FleetClient NUMBER ORACLE SEED TRUST PADDING FILLS CALM SERVER…
//
//     FleetClient streams SERVER
//
// The first prints a line every 100 ms, and when the oracle has become quiet a line with what it
// counted. TRUST is in milliseconds; PADDING are the bytes that fill a value; FILLS is 1 if it also
// sets values that nobody needs; CALM is 1 if nothing will go wrong, so that no call may end for
// its time; SERVER is a port, Sentinels as host:port, or `cluster` and its nodes.

@main
enum FleetClient {
    static func main() async throws {
        #if Valkey
            let arguments = CommandLine.arguments
            if arguments.count == 3, arguments[1] == "streams", let port = Int(arguments[2]) {
                exit(await Client.usesNoStream(port: port))
            }
            guard arguments.count >= 9, let number = Int(arguments[1]),
                let seed = UInt64(arguments[3]), let trust = Int(arguments[4]),
                let padding = Int(arguments[5])
            else { exit(2) }
            try await Client(
                number,
                arguments[2],
                seed: seed,
                trust: trust,
                padding: padding,
                fills: arguments[6] == "1",
                isCalm: arguments[7] == "1",
                server: Array(arguments[8...])
            ).run()
        #endif
    }
}
