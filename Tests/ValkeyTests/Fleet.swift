#if Valkey
    import FleetSupport
    import Foundation
    import VellumTestSupport

    /// The processes of a fleet, two on each of four machines, and what they know of each other.
    /// Blocks the thread.
    final class Fleet {
        private static let trust = 300
        let oracle: Oracle
        private(set) var clients: [Spawned] = []
        private let folder: TemporaryDirectory
        private let place: [String]
        private let settings: [String]

        /// - Parameters:
        ///   - place: Where the server is, as for `FleetClient`.
        ///   - padding: The bytes that fill a value.
        ///   - fills: Whether they also set values that nobody needs.
        ///   - isCalm: Whether nothing will go wrong, so that no call may end for its time.
        ///   - losesRemovals: Whether a removal may be lost though the server acknowledged it.
        init(
            _ place: [String],
            seed: UInt64,
            padding: Int = 10,
            fills: Bool = false,
            isCalm: Bool,
            losesRemovals: Bool
        ) throws {
            self.place = place
            folder = try TemporaryDirectory()
            oracle = try Oracle(folder.file("oracle"))
            oracle.losesRemovals = losesRemovals
            settings =
                ["\(seed)", "\(Self.trust)", "\(padding)"] + [fills, isCalm].map { $0 ? "1" : "0" }
            for number in 0..<Oracle.clients { clients.append(try client(number)) }
        }

        deinit { for client in clients { _ = kill(client.identifier, SIGKILL) } }

        private func client(_ number: Int) throws -> Spawned {
            try Spawned(
                ["\(number)", folder.file("oracle").path] + settings + place,
                of: "FleetClient"
            )
        }

        /// Kills a process and starts another one.
        func replace(_ number: Int) throws {
            _ = clients[number].kill()
            clients[number] = try client(number)
        }

        struct EndedEarly: Error {
            let client: Int
        }

        /// Waits for a tenth of a second, as the first process counts it.
        private func tick() throws {
            guard clients[0].line() == "tick" else { throw EndedEarly(client: 0) }
        }

        /// - Parameter disturb: Makes one trouble and ends it. Returns how many tenths of a second
        ///   it took.
        func run(ticks: Int, _ disturb: () throws -> Int) throws -> FleetCounts {
            try waitForProgress()
            var passed = 0
            while passed < ticks { passed += try disturb() }
            try waitForProgress()
            oracle.isQuiet = true
            return try clients.enumerated().reduce(FleetCounts()) { sum, element in
                var last = ""
                while let line = element.element.line() { last = line == "tick" ? last : line }
                guard last.hasPrefix("end "), let counts = FleetCounts(last.dropFirst(4)) else {
                    throw EndedEarly(client: element.offset)
                }
                return sum + counts
            }
        }

        /// Returns when the server has acknowledged something to each process anew, and memory has
        /// answered.
        func waitForProgress() throws {
            let (before, hits) = ((0..<Oracle.clients).map(oracle.progress), oracle.nearHits)
            while oracle.nearHits <= hits { try tick() }
            for (client, count) in before.enumerated() {
                while oracle.progress(of: client) < count + 100 { try tick() }
            }
        }

        /// Returns when a process has returned again what it had loaded without the server.
        func waitForOutage() throws {
            let before = oracle.inOutage
            while oracle.inOutage == before { try tick() }
        }

        /// Returns when each key that is loose was written again.
        func tighten() throws {
            let before = oracle.acknowledged()
            let loose = (0..<Oracle.keys).filter(oracle.isLoose)
            while loose.contains(where: { oracle.acknowledged()[$0] <= before[$0] + 1 }) {
                try tick()
            }
            // What was trusted before.
            _ = try wait(2 * Self.trust / 100)
            oracle.loose = 0
        }

        /// Waits for so many tenths of a second, at least.
        func wait(_ ticks: Int) throws -> Int {
            let end = Oracle.now() + UInt64(ticks) * 100
            // Earlier ticks may not have been read yet.
            while Oracle.now() < end { try tick() }
            return ticks
        }
    }
#endif
