#if Valkey
    import FleetSupport
    import Foundation
    @testable import MiniCache
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote
    import VellumTestSupport
    import VellumValkey

    /// Eight processes that share a cache on a cluster, while something goes wrong again and again.
    /// Each compares what it reads with an oracle.
    ///
    /// `VELLUM_FLEET` and `VELLUM_SEED` as in ``FleetTests``. Without the first, one of the
    /// troubles: a cluster takes seconds to start and to change.
    @Suite(.ownThreads(.longSuite), .serialized)
    struct ClusterFleetTests {
        static func number(_ name: String) -> Int? {
            ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
        }
        static let ticks = 10 * (number("VELLUM_FLEET") ?? 1)

        @Test(arguments: number("VELLUM_FLEET") == nil ? [.primaryKilled] : ClusterTrouble.allCases)
        func whatAClusterDoesMakesNothingStale(_ trouble: ClusterTrouble) async throws {
            let seed = UInt64(Self.number("VELLUM_SEED") ?? Int.random(in: 0..<1_000_000))
            let counts = try ClusterFleet(trouble, seed: seed).run(ticks: Self.ticks)
            print("\(trouble), seed \(seed): \(counts.text)")
            #expect(counts.nearHits > 0 && counts.writes > 0, "seed \(seed)")
            // Of keys whose primary may lose what it acknowledged, the processes count nothing
            // until they were written again.
            #expect((counts.stale, counts.confirmedStale, counts.lost) == (0, 0, 0), "seed \(seed)")
            #expect(counts.diverged == 0, "seed \(seed)")
            if !trouble.losesWrites { #expect(counts.unremoved == 0, "seed \(seed)") }
            if trouble == .nothing { #expect(counts.overlaps == 0, "seed \(seed)") }
        }
    }

    /// What goes wrong.
    enum ClusterTrouble: CaseIterable {
        case nothing, slotsMove, primaryKilled, primaryStopped, primaryCutOff, promotedByHand,
            promotedInOrder, restartedInTurn,
            connectionsKilled,
            commandsPaused, grows

        /// Whether a primary may lose what it acknowledged.
        var losesWrites: Bool {
            ![.nothing, .slotsMove, .promotedInOrder, .connectionsKilled, .commandsPaused, .grows]
                .contains(self)
        }
    }

    /// A cluster, and what goes wrong with it. Blocks the thread.
    private final class ClusterFleet {
        private let trouble: ClusterTrouble
        private let cluster: RedisCluster
        private let fleet: Fleet
        /// Where the slots of the shared keys are, and in what turn they move.
        private let slots: [Int]
        private var random: SeededGenerator

        init(_ trouble: ClusterTrouble, seed: UInt64) throws {
            (self.trouble, random) = (trouble, SeededGenerator(seed: seed))
            cluster = try RedisCluster()
            let keys = RemoteKeys(cacheName: "fleet:values:1")
            slots = try (0..<Oracle.keys).map {
                ClusterMap.slot(of: keys.value(of: try CacheKey.of($0)))
            }
            fleet = try Fleet(
                ["cluster"] + cluster.addresses.prefix(3),
                seed: seed,
                isCalm: trouble == .nothing,
                losesRemovals: trouble.losesWrites
            )
        }

        func run(ticks: Int) throws -> FleetCounts {
            try fleet.run(ticks: ticks) {
                let begin = Oracle.now()
                return max(try disturb(), Int(Oracle.now() - begin) / 100)
            }
        }

        /// From now on, a primary may lose what it acknowledged.
        private func loosen(_ number: Int) throws {
            fleet.oracle.loose = try slots.enumerated().reduce(fleet.oracle.loose) {
                loose,
                element in
                try cluster.owner(ofSlot: element.element) == number
                    ? loose | 1 << UInt64(element.offset) : loose
            }
        }

        private func aPrimary() throws -> (Int, slot: Int) {
            let slot = slots[Int.random(in: 0..<slots.count, using: &random)]
            return (try cluster.owner(ofSlot: slot), slot)
        }

        /// Where the slot goes when its primary is lost.
        private func waitForAnother(than number: Int, slot: Int, asked: Int) throws {
            try cluster.waitUntil("another node has the slot") {
                try self.cluster.owner(ofSlot: slot, asked: asked) != number
            }
        }

        private func other(than number: Int) -> Int {
            (0..<cluster.size).first { $0 != number } ?? 0
        }

        private func replica(of number: Int) throws -> Int { try cluster.replica(of: number) }

        private func disturb() throws -> Int {
            let (number, slot) = try aPrimary()
            switch trouble {
            case .nothing: return try fleet.wait(5)
            case .slotsMove:
                let targets = Set(try slots.map { try cluster.owner(ofSlot: $0) }).subtracting([
                    number
                ]).sorted()
                guard let target = targets.randomElement(using: &random) else {
                    return try fleet.wait(1)
                }
                try cluster.beginMove(ofSlot: slot, from: number, to: target)
                if Bool.random(using: &random) { _ = try fleet.wait(1) }
                try cluster.moveKeys(ofSlot: slot, from: number, to: target)
                try cluster.endMove(ofSlot: slot, to: target)
                return try fleet.wait(1)
            case .primaryKilled:
                try loosen(number)
                cluster.kill(number)
                try waitForAnother(than: number, slot: slot, asked: other(than: number))
                try fleet.tighten()
                try cluster.restart(number)
                try cluster.waitUntilWhole()
                return try 30 + fleet.wait(5)
            case .primaryStopped:
                try loosen(number)
                cluster.server(number).stop()
                let passed = try fleet.wait(30)
                cluster.server(number).resume()
                try cluster.waitUntilWhole()
                try fleet.tighten()
                return passed
            case .primaryCutOff:
                let heir = try replica(of: number)
                try loosen(number)
                try cluster.cutOff(number)
                try cluster.promote(heir)
                try waitForAnother(than: number, slot: slot, asked: heir)
                // Who asks the old one only goes on with it for a second or two.
                let passed = try fleet.wait(25)
                try fleet.tighten()
                cluster.kill(number)
                return passed + 10_000  // Nobody is there who could be cut off next.
            case .promotedByHand, .promotedInOrder:
                let heir = try replica(of: number)
                if trouble == .promotedByHand { try loosen(number) }
                try cluster.promote(heir, by: trouble == .promotedByHand ? "TAKEOVER" : "")
                try waitForAnother(than: number, slot: slot, asked: heir)
                let passed = try fleet.wait(10)
                try cluster.waitUntilWhole()
                if trouble == .promotedByHand { try fleet.tighten() }
                return passed
            case .restartedInTurn:
                for number in Set(try slots.map { try cluster.owner(ofSlot: $0) }).sorted() {
                    guard
                        let slot = try slots.first(where: {
                            try cluster.owner(ofSlot: $0) == number
                        })
                    else { continue }
                    try loosen(number)
                    cluster.kill(number)
                    try waitForAnother(than: number, slot: slot, asked: other(than: number))
                    try cluster.restart(number)
                    try cluster.waitUntilWhole()
                    try fleet.tighten()
                }
                return 100
            case .connectionsKilled:
                try cluster.command(number, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                return try fleet.wait(2)
            case .commandsPaused:
                try cluster.command(number, "CLIENT", "PAUSE", "400", "ALL")
                return try fleet.wait(8)
            case .grows:
                let new = try cluster.grow()
                for slot in slots
                where try Int.random(in: 0..<3, using: &random) == 0
                    && cluster.owner(ofSlot: slot) != new
                {
                    try cluster.move(slot: slot, from: try cluster.owner(ofSlot: slot), to: new)
                }
                _ = try fleet.wait(10)
                return 10_000  // Nodes are not taken away again.
            }
        }
    }
#endif
