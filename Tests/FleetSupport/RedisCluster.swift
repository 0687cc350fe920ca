#if Valkey
    internal import Foundation
    internal import TestThreads
    internal import Testing
    internal import VellumCore
    internal import VellumTestSupport
    internal import VellumValkey

    /// Three primaries with a replica each, and what goes wrong with them. Blocks the thread.
    package final class RedisCluster: Sendable {
        private struct Node: Sendable {
            var server: RedisServer
            var folder: TemporaryDirectory
            var id: String
        }

        struct CommandFailed: Error {
            let words: [String]
            let output: String
        }

        private let nodes = Locked<[Node]>([])

        /// Returns when all know each other, and each slot has a primary.
        ///
        /// - Parameter replicas: How many each primary has.
        package init(replicas: Int = 1) throws {
            let count = 3
            for _ in 0..<count * (replicas + 1) { _ = try addNode() }
            for number in 0..<count {
                let (first, last) = (number * 16384 / count, (number + 1) * 16384 / count - 1)
                try command(number, "CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)")
                try command(number, "CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
            }
            for number in 1..<count * (replicas + 1) { try meet(number, 0) }
            try waitUntil("the primaries know all nodes") {
                try (0..<count).allSatisfy {
                    let lines = try self.command($0, "CLUSTER", "NODES").split(separator: "\n")
                    return lines.count == self.size
                }
            }
            for number in count..<count * (replicas + 1) { try replicate(number, number % count) }
            try waitUntilWhole()
        }

        package var size: Int { nodes.withLock { $0.count } }

        package var addresses: [String] {
            nodes.withLock { $0.map { "127.0.0.1:\($0.server.port)" } }
        }

        package func server(_ number: Int) -> RedisServer { nodes.withLock { $0[number].server } }

        private func id(_ number: Int) -> String { nodes.withLock { $0[number].id } }

        /// Starts a node that knows nobody, and returns its number.
        private func addNode() throws -> Int {
            let folder = try TemporaryDirectory()
            let server = try RedisServer(inCluster: folder)
            let number = nodes.withLock { nodes in
                nodes.append(Node(server: server, folder: folder, id: ""))
                return nodes.count - 1
            }
            let id = try command(number, "CLUSTER", "MYID")
            nodes.withLock { $0[number].id = id }
            return number
        }

        private func meet(_ one: Int, _ other: Int) throws {
            let (port, bus) = server(other).ports
            try command(one, "CLUSTER", "MEET", "127.0.0.1", "\(port)", "\(bus)")
        }

        private func replicate(_ replica: Int, _ primary: Int) throws {
            // It has to know it first.
            try waitUntil("the replica knows its primary") {
                try self.command(replica, "CLUSTER", "NODES").contains(self.id(primary))
            }
            try command(replica, "CLUSTER", "REPLICATE", id(primary))
        }

        // MARK: Asking

        /// Sends a command with `redis-cli`, and returns its output without the end of the line.
        /// Throws if that is an error.
        @discardableResult
        package func command(_ number: Int, _ words: String...) throws -> String {
            try command(number, words)
        }

        @discardableResult
        private func command(_ number: Int, _ words: [String]) throws -> String {
            let output = try tell(number, words)
            if output.hasPrefix("ERR") || output.contains("(error)") {
                throw CommandFailed(words: words, output: output)
            }
            return output
        }

        private func tell(_ number: Int, _ words: [String]) throws -> String {
            let arguments = ["-p", "\(server(number).port)"] + words
            return try Child.run("redis-cli", arguments).output.trimmingCharacters(in: .newlines)
        }

        /// Asks until it is true, every twentieth of a second.
        ///
        /// - Parameter what: As for `blockUntil`.
        package func waitUntil(_ what: String, _ isTrue: () throws -> Bool) throws {
            try blockUntil(what) {
                if try isTrue() { return true }
                // Each question is a process: many would keep the nodes from what is waited for.
                usleep(50_000)
                return false
            }
        }

        /// Returns when all nodes that answer know one owner of each slot, and say that the cluster
        /// is well.
        package func waitUntilWhole() throws {
            try waitUntil("the nodes agree that the cluster is well") {
                let views = try (0..<self.size).map { try self.tell($0, ["CLUSTER", "INFO"]) }
                    .filter { !$0.isEmpty }
                let isWell = views.allSatisfy {
                    $0.contains("cluster_state:ok") && $0.contains("cluster_slots_ok:16384")
                }
                let owners = Set(
                    try (0..<self.size).map { try self.owners($0) }.filter { !$0.isEmpty }
                )
                return isWell && owners.count == 1
            }
        }

        /// The nodes with slots, as one of them says, each with its ranges.
        private func owners(_ asked: Int) throws -> [String: [String]] {
            let lines = try tell(asked, ["CLUSTER", "NODES"]).split(separator: "\n").map {
                $0.split(separator: " ").map(String.init)
            }
            return lines.reduce(into: [:]) { owners, fields in
                if fields.count > 8, fields[2].contains("master") {
                    owners[fields[0]] = fields[8...].filter { !$0.hasPrefix("[") }.sorted()
                }
            }
        }

        /// The number of the node that has the slot of a key, as the nodes say that are asked.
        package func owner(ofSlot slot: Int, asked: Int? = nil) throws -> Int {
            for number in asked.map({ [$0] }) ?? Array(0..<size) {
                for (id, ranges) in try owners(number) {
                    for range in ranges {
                        let ends = range.split(separator: "-").compactMap { Int($0) }
                        if let first = ends.first, let last = ends.last, first...last ~= slot {
                            return nodes.withLock { $0.firstIndex { $0.id == id } } ?? 0
                        }
                    }
                }
            }
            throw CommandFailed(words: ["\(slot)"], output: "Nobody has the slot.")
        }

        /// A replica of a primary.
        package func replica(of number: Int) throws -> Int {
            let lines = try command(number, "CLUSTER", "REPLICAS", id(number)).split(
                separator: "\n"
            ).map { $0.split(separator: " ") }
            let ids = lines.filter { $0.count > 2 && !$0[2].contains("fail") }.map { String($0[0]) }
            guard let id = ids.first, let found = nodes.withLock({ $0.firstIndex { $0.id == id } })
            else {
                throw CommandFailed(words: ["\(number)"], output: "It has no replica.")
            }
            return found
        }

        // MARK: What goes wrong

        /// Begins to move a slot. Its keys stay where they are.
        package func beginMove(ofSlot slot: Int, from one: Int, to other: Int) throws {
            try command(other, "CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", id(one))
            try command(one, "CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", id(other))
        }

        /// Moves the keys of a slot that has begun to move.
        package func moveKeys(ofSlot slot: Int, from one: Int, to other: Int) throws {
            while true {
                let keys = try command(one, "CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(
                    separator: "\n"
                ).map(String.init)
                if keys.isEmpty { return }
                // `redis-cli` cannot send U+0000, which the keys have.
                try command(one, "EVAL", Self.migrate, "0", "\(slot)", "\(server(other).port)")
            }
        }

        /// No key is an argument.
        private static let migrate = """
            local keys = redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], 100)
            if #keys == 0 then return 0 end
            return redis.call('MIGRATE', '127.0.0.1', ARGV[2], '', 0, 5000, 'REPLACE', 'KEYS', \
            unpack(keys))
            """

        /// Tells all primaries where the slot is now.
        package func endMove(ofSlot slot: Int, to number: Int) throws {
            try command(number, "CLUSTER", "SETSLOT", "\(slot)", "NODE", id(number))
            for other in 0..<size where other != number {
                // Replicas refuse it.
                _ = try tell(other, ["CLUSTER", "SETSLOT", "\(slot)", "NODE", id(number)])
            }
        }

        /// Moves a slot with its keys.
        package func move(slot: Int, from one: Int, to other: Int) throws {
            try beginMove(ofSlot: slot, from: one, to: other)
            try moveKeys(ofSlot: slot, from: one, to: other)
            try endMove(ofSlot: slot, to: other)
        }

        /// Promotes a replica: at once, without asking the others, unless the way says something
        /// else.
        ///
        /// The others may not agree in time on a busy machine: what is not done after five seconds
        /// is given up (redis.io/docs/latest/commands/cluster-failover), so they are asked again.
        ///
        /// - Parameter way: FORCE or TAKEOVER, or empty: then the primary lets it catch up before.
        package func promote(_ number: Int, by way: String = "TAKEOVER") throws {
            let words = ["CLUSTER", "FAILOVER"] + (way.isEmpty ? [] : [way])
            var questions = 0
            try waitUntil("the replica is a primary") {
                if try self.tell(number, ["ROLE"]).hasPrefix("master") { return true }
                if questions.isMultiple(of: 150) { try self.command(number, words) }
                questions += 1
                return false
            }
        }

        /// A primary forgets all other nodes: it goes on by itself, hears nothing of them, and they
        /// do not notice.
        package func cutOff(_ number: Int) throws {
            for other in 0..<size where other != number {
                _ = try tell(number, ["CLUSTER", "FORGET", id(other)])
            }
        }

        package func rejoin(_ number: Int, _ other: Int) throws { try meet(other, number) }

        package func kill(_ number: Int) { server(number).kill() }

        package func restart(_ number: Int) throws {
            let (ports, folder) = nodes.withLock { ($0[number].server.ports, $0[number].folder) }
            let server = try RedisServer(inCluster: folder, ports: ports)
            nodes.withLock { $0[number].server = server }
        }

        /// Adds a primary without slots, and returns its number.
        package func grow() throws -> Int {
            let number = try addNode()
            try meet(number, 0)
            try waitUntil("all nodes know the new one") {
                try (0..<self.size).allSatisfy {
                    try self.tell($0, ["CLUSTER", "NODES"]).contains(self.id(number))
                }
            }
            try waitUntilWhole()
            return number
        }
    }
#endif
