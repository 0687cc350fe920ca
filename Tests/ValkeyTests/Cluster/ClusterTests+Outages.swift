#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import ShallowsValkey
    import TestThreads
    import Testing
    import VellumRemote
    import VellumTestSupport

    extension ClusterTests {
        // MARK: Outages

        @Test func anOutageOfOnePrimaryLeavesTheOthersAlone() async throws {
            let cluster = try await Self.make()
            let program = try Program(cluster) {
                ($0.readTimeout, $0.writeTimeout) = (.seconds(60), .seconds(60))
                $0.outageMaxAge = .seconds(600)
            }
            let (dead, alive) = (Self.key(of: 0), Self.key(of: 1))
            for key in [dead, alive] { try await program.cache.set(1, forKey: key) }
            for key in [dead, alive] { #expect(try await program.cache.value(forKey: key) == 1) }
            cluster.kill(0)
            await until("it is known that the primary is lost") {
                do throws(VellumError) {
                    _ = try await program.cache.value(forKey: dead, freshness: .confirmed)
                    return false
                } catch {
                    return true
                }
            }
            await #expect(throws: VellumError.self) {
                try await program.cache.removeValue(forKey: dead)
            }
            // Memory still answers, and so does the server.
            let hits = program.cache.statistics.nearHits
            #expect(try await program.cache.value(forKey: alive) == 1)
            #expect(program.cache.statistics.nearHits == hits + 1)
            try await program.cache.set(2, forKey: alive)
            try await program.cache.removeValue(forKey: alive)
            #expect(try await program.cache.value(forKey: alive, freshness: .confirmed) == nil)
            #expect(program.cache.statistics.pendingRemovals == 1)
            // What was loaded without the server is remembered for its own keys only.
            for source in [LoadSource.loaded, .loadedInOutage] {
                #expect(try await program.cache.load(dead) { 7 }.source == source)
            }
            #expect(try await program.cache.load(alive) { 8 }.source == .loaded)
            let (storage, well) = (
                try ValkeyStorage<Int>(program.server, name: "all"), Self.key(of: 1, in: "all")
            )
            try await storage.set(1, forKey: Filename(rawValue: well))
            await #expect(throws: (any Error).self) { try await storage.removeAll() }
            #expect(await !Self.has(storage, Filename(rawValue: well)))
            try await storage.set(2, forKey: Filename(rawValue: well))
            try await Self.run { try cluster.restart(0) }
            await until("the removal has arrived") {
                program.cache.statistics.pendingRemovals == 0
            }
        }

        /// Nobody says on a new connection what changed before it.
        @Test func aConnectionThatIsMadeAgainForgetsWhatItsPrimarySaid() async throws {
            let cluster = try await Self.make()
            let (one, other) = (try Program(cluster), try Program(cluster))
            let (key, stays) = (Self.key(of: 0), Self.key(of: 1))
            for name in [key, stays] { try await one.cache.set(1, forKey: name) }
            for _ in 0..<2 {
                for name in [key, stays] { #expect(try await other.cache.value(forKey: name) == 1) }
            }
            _ = try await Self.run {
                try cluster.command(0, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            }
            await Self.set(2, key, one.cache)
            await until("the other program reads the new value") {
                do throws(VellumError) {
                    return try await other.cache.value(forKey: key) == 2
                } catch {
                    #expect(error.code == .unreachable)
                    return false
                }
            }
            // The other primary was not asked again.
            let hits = other.cache.statistics.nearHits
            #expect(try await other.cache.value(forKey: stays) == 1)
            #expect(other.cache.statistics.nearHits == hits + 1)
        }

        @Test(arguments: ["killed", "FORCE", "cut off"]) func aReplicaThatIsPromotedIsUsed(
            _ way: String
        ) async throws {
            let cluster = try await Self.make(replicas: 1)
            let (one, other) = (try Program(cluster), try Program(cluster))
            let key = Self.key(of: 0)
            try await one.cache.set(1, forKey: key)
            #expect(try await other.cache.value(forKey: key) == 1)
            let slot = Self.slot(key)
            switch way {
            case "killed": cluster.kill(0)
            case "FORCE": try await Self.run { try cluster.promote(3, by: "FORCE") }
            default:
                try await Self.run {
                    try cluster.cutOff(0)
                    try cluster.promote(3)
                }
            }
            try await Self.run {
                try cluster.waitUntil("the replica has the slot") {
                    try cluster.owner(ofSlot: slot, asked: 1) == 3
                }
            }
            var version = 1
            // Where it is cut off, the old one acknowledges for a moment what is lost.
            await until("the new primary has what is set") {
                version += 1
                do {
                    try await one.cache.set(version, forKey: key)
                    let size = try await Self.run { try cluster.command(3, "DBSIZE") }
                    let value = try await other.cache.value(forKey: key, freshness: .confirmed)
                    return size != "0" && value == version
                } catch {
                    #expect(error is VellumError)
                    return false
                }
            }
            try await until("a near read finds the new value") {
                try await other.cache.value(forKey: key) == version
            }
        }

        /// All that it knew are replicas now, those it was configured with, too.
        @Test func everyPrimaryMayBecomeAReplica() async throws {
            let cluster = try await Self.make(replicas: 1)
            let program = try Program(cluster)
            let keys = (0..<3).map { Self.key(of: $0) }
            for key in keys { try await program.cache.set(1, forKey: key) }
            try await Self.run {
                try cluster.waitUntil("all primaries are replicas") {
                    // Who stands still for a second meanwhile is a replica again.
                    for replica in 3..<6 { try cluster.promote(replica, by: "") }
                    return try (0..<3).allSatisfy {
                        try cluster.owner(ofSlot: $0 * 5461, asked: 4) >= 3
                    }
                }
            }
            for key in keys {
                await Self.set(2, key, program.cache)
                #expect(try await program.cache.value(forKey: key, freshness: .confirmed) == 2)
            }
        }

        @Test func aClosedClusterSaysSo() async throws {
            let program = try Program(try await Self.common.value, name: "closed")
            try await program.cache.set(1, forKey: "a")
            let storage = try ValkeyStorage<Int>(program.server, name: "closed")
            program.server.close()
            let calls: [() async throws -> Void] = [
                { try await program.cache.set(1, forKey: "a") }, { try await storage.removeAll() },
                { try await program.cache.removeValue(forKey: "a") },
                { _ = try await program.cache.values(forKeys: ["a", "b"]) },
            ]
            for call in calls {
                await #expect { try await call() } throws: { error in
                    (error as? VellumError)?.code == .closed
                }
            }
            let unused = try Program(try await Self.common.value, name: "closed")
            unused.server.close()
            await #expect { try await unused.cache.set(1, forKey: "a") } throws: {
                ($0 as? VellumError)?.code == .closed
            }
        }
    }
#endif
