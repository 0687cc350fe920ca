#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import ShallowsValkey
    import TestThreads
    import Testing
    import VellumRemote
    import VellumTestSupport

    @testable import VellumCore
    @testable import VellumValkey

    /// Shared caches on a real cluster: one for the tests that leave it as it is, and one for each
    /// of the others.
    @Suite(.ownThreads)
    struct ClusterTests {
        private final class Counter: Sendable {
            private let value = Locked(0)
            var count: Int { value.withLock { $0 } }
            func add() { value.withLock { $0 += 1 } }
        }

        final class Program: Sendable {
            let server: ValkeyServer
            let cache: SharedCache<String, Int>

            init(
                _ cluster: RedisCluster,
                name: String = "test",
                change: (inout ValkeyConfiguration) -> Void = { _ in }
            ) throws {
                var configuration = ValkeyConfiguration(cluster: Array(cluster.addresses.prefix(2)))
                // Nothing depends on how busy the machine is.
                let long = Duration.seconds(600)
                (configuration.connectTimeout, configuration.readTimeout) = (long, long)
                (configuration.writeTimeout, configuration.lease) = (long, long)
                (configuration.trust, configuration.longestWait) = (.seconds(60), long)
                change(&configuration)
                server = ValkeyServer(configuration)
                cache = try SharedCacheManager(name: name, server: server).cache(
                    cacheName: "numbers",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
            }
        }

        private static let cacheName = "test:numbers:1"

        static func slot(_ key: String, in name: String = cacheName) -> Int {
            ClusterMap.slot(of: RemoteKeys(cacheName: name).value(of: EntryKey(key)))
        }

        /// A key whose slot a primary has at the beginning.
        static func key(
            of primary: Int,
            _ number: Int = 0,
            in name: String = cacheName
        ) -> String {
            let range = primary * 16384 / 3..<(primary + 1) * 16384 / 3
            var (found, key) = (-1, 0)
            while true {
                if range.contains(slot("k\(key)", in: name)) { found += 1 }
                if found == number { return "k\(key)" }
                key += 1
            }
        }

        /// The cluster is driven on a thread of its own.
        static func run<Result: Sendable>(
            _ body: @escaping @Sendable () throws -> Result
        ) async throws -> Result {
            try await Lane().run { try body() }
        }

        /// It takes two seconds until a cluster works.
        static let common = Task { try await make() }

        static func make(replicas: Int = 0) async throws -> RedisCluster {
            try await run { try RedisCluster(replicas: replicas) }
        }

        // MARK: Reading and writing

        @Test func whatSharedCachesPromiseOnOneServerIsTrueOfACluster() async throws {
            let cluster = try await Self.common.value
            let (one, other) = (
                try Program(cluster, name: "promises"), try Program(cluster, name: "promises")
            )
            let keys = (0..<300).map { "key \($0)" }
            #expect(try await other.cache.values(forKeys: keys).isEmpty)
            for (number, key) in keys.enumerated() { try await one.cache.set(number, forKey: key) }
            #expect(
                try await other.cache.values(forKeys: keys)
                    == Dictionary(uniqueKeysWithValues: zip(keys, 0...))
            )
            // What was read while the server still spoke of the sets is asked again. Then memory
            // answers, until one of them is changed.
            _ = try await other.cache.values(forKeys: keys)
            let (asked, hits) = (
                other.cache.statistics.serverReads, other.cache.statistics.nearHits
            )
            #expect(try await other.cache.values(forKeys: keys).count == 300)
            #expect(
                other.cache.statistics.serverReads == asked
                    && other.cache.statistics.nearHits == hits + 300
            )
            for key in keys.prefix(20) {
                try await one.cache.set(-1, forKey: key)
                try await until("the other program reads the new value") {
                    try await other.cache.value(forKey: key) == -1
                }
            }
            #expect(try await one.cache.setIfAbsent(5, forKey: keys[0]) == false)
            try await other.cache.removeValue(forKey: keys[0])
            #expect(try await one.cache.setIfAbsent(5, forKey: keys[0]) == true)
            #expect(try await other.cache.value(forKey: keys[0], freshness: .confirmed) == 5)
        }

        @Test func removingAllLooksThroughEachPrimary() async throws {
            let cluster = try await Self.common.value
            let programs = try (0..<2).map { _ in try Program(cluster, name: "all") }
            let storages = try programs.map { try ValkeyStorage<Int>($0.server, name: "all") }
            try await programs[0].cache.set(1, forKey: "a")
            for number in 0..<100 {
                try await storages[0].set(number, forKey: Filename(rawValue: "\(number)"))
            }
            #expect(try await storages[1].retrieve(forKey: "7") == 7)
            try await storages[1].removeAll()
            for number in 0..<100 {
                await #expect(throws: (any Error).self) {
                    try await storages[1].retrieve(forKey: Filename(rawValue: "\(number)"))
                }
            }
            await until("memory has forgotten the value") { await !Self.has(storages[0], "7") }
            #expect(try await programs[1].cache.value(forKey: "a", freshness: .confirmed) == 1)
            // Before anything is known of the cluster, too.
            try await storages[0].set(1, forKey: "a")
            try await ValkeyStorage<Int>(Program(cluster).server, name: "all").removeAll()
            await until("memory has forgotten the value") { await !Self.has(storages[0], "a") }
        }

        /// Returns when a value could be set.
        static func set(
            _ value: Int,
            _ key: String,
            _ cache: SharedCache<String, Int>
        ) async {
            await until("the value can be set") {
                do throws(VellumError) {
                    try await cache.set(value, forKey: key)
                    return true
                } catch {
                    #expect(error.code == .unreachable || error.code == .outcomeUnknown)
                    return false
                }
            }
        }

        /// Returns when a set has waited in vain, for as long as it may. One whose last question
        /// was underway then is repeated.
        private static func setInVain(_ key: String, _ cache: SharedCache<String, Int>) async {
            await until("a set waits in vain") {
                do throws(VellumError) {
                    try await cache.set(2, forKey: key)
                    Issue.record("The value was set.")
                    return true
                } catch {
                    #expect(error.code == .unreachable || error.code == .outcomeUnknown)
                    return error.code == .unreachable
                }
            }
        }

        static func has(_ storage: ValkeyStorage<Int>, _ key: Filename) async -> Bool {
            do {
                _ = try await storage.retrieve(forKey: key)
                return true
            } catch {
                return false
            }
        }

        @Test func oneLoaderRunsOnAllMachines() async throws {
            let cluster = try await Self.common.value
            let programs = try (0..<4).map { _ in try Program(cluster, name: "loads") }
            let (asking, loads) = (Counter(), Counter())
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<120 {
                    let cache = programs[number % 4].cache
                    group.addTask {
                        asking.add()
                        return try await cache.value(forKey: "key \(number % 30)") {
                            loads.add()
                            await until("all machines ask") { asking.count == 120 }
                            return number % 30
                        }
                    }
                }
                for try await _ in group {}
            }
            #expect(loads.count == 30)
        }

        /// Its epoch is on another primary than the values.
        @Test func aRemovalOfAGroupIsHeardWhereverItsValuesAre() async throws {
            let cluster = try await Self.common.value
            let (one, other) = (
                try Program(cluster, name: "groups"), try Program(cluster, name: "groups")
            )
            let keys = (0..<30).map { "key \($0)" }
            for round in 0..<3 {
                for key in keys { try await one.cache.set(round, forKey: key, groups: ["g", "h"]) }
                #expect(
                    try await other.cache.values(forKeys: keys, freshness: .confirmed).count == 30
                )
                #expect(try await other.cache.values(forKeys: keys).count == 30)
                try await one.cache.removeAll(group: round == 1 ? "g" : "h")
                #expect(try await other.cache.values(forKeys: keys, freshness: .confirmed).isEmpty)
                #expect(try await one.cache.values(forKeys: keys).isEmpty)
                try await until("near reads find nothing") {
                    try await other.cache.values(forKeys: keys).isEmpty
                }
            }
            #expect(other.cache.statistics.nearHits > 0)
        }

        // MARK: Slots that move

        @Test func aSlotThatMovesIsFollowedAndWhatWasReadIsAskedAgain() async throws {
            let cluster = try await Self.make()
            let (one, other) = (try Program(cluster), try Program(cluster))
            let (key, stays) = (Self.key(of: 0), Self.key(of: 1))
            let slot = Self.slot(key)
            for name in [key, stays] { try await one.cache.set(1, forKey: name) }
            for name in [key, stays] { #expect(try await other.cache.value(forKey: name) == 1) }
            for (version, ends) in [(2, (0, 1)), (3, (1, 2)), (4, (2, 0))] {
                let asked = other.cache.statistics.serverReads
                try await Self.run { try cluster.beginMove(ofSlot: slot, from: ends.0, to: ends.1) }
                // Read, and set, while the keys are still there.
                #expect(
                    try await other.cache.value(forKey: key, freshness: .confirmed) == version - 1
                )
                try await Self.run { try cluster.moveKeys(ofSlot: slot, from: ends.0, to: ends.1) }
                // And when they are on the other side, and the slot is not.
                #expect(
                    try await other.cache.value(forKey: key, freshness: .confirmed) == version - 1
                )
                #expect(try await other.cache.value(forKey: key) == version - 1)
                try await Self.run { try cluster.endMove(ofSlot: slot, to: ends.1) }
                try await one.cache.set(version, forKey: key)
                #expect(try await other.cache.value(forKey: key, freshness: .confirmed) == version)
                try await until("a near read finds the new value") {
                    try await other.cache.value(forKey: key) == version
                }
                // What another primary said is still known.
                let before = other.cache.statistics
                #expect(try await other.cache.value(forKey: stays) == 1)
                if ends.0 != 1, ends.1 != 1 {
                    #expect(other.cache.statistics.nearHits == before.nearHits + 1)
                }
                #expect(before.serverReads > asked)
            }
        }

        /// Both keys of an entry are needed, and one of them may be on either side.
        @Test func whatNeedsASlotThatMovesWaitsWithinItsDeadline() async throws {
            let cluster = try await Self.make()
            let program = try Program(cluster)
            let key = Self.key(of: 0)
            let slot = Self.slot(key)
            try await program.cache.set(1, forKey: key)
            try await Self.run { try cluster.beginMove(ofSlot: slot, from: 0, to: 1) }
            let hurried = try Program(cluster) { $0.writeTimeout = .milliseconds(100) }
            await Self.setInVain(key, hurried.cache)
            async let set: Void = program.cache.set(3, forKey: key)
            try await Self.run {
                try cluster.moveKeys(ofSlot: slot, from: 0, to: 1)
                try cluster.endMove(ofSlot: slot, to: 1)
            }
            try await set
            #expect(try await hurried.cache.value(forKey: key, freshness: .confirmed) == 3)
        }

        /// Its primary says CLUSTERDOWN, and has the other slots all the time.
        @Test func aSlotThatNobodyHasIsWaitedForWithinTheDeadline() async throws {
            let cluster = try await Self.make()
            let program = try Program(cluster)
            let (key, other) = (Self.key(of: 0), Self.key(of: 0, 1))
            for name in [key, other] { try await program.cache.set(1, forKey: name) }
            _ = try await Self.run {
                try cluster.command(0, "CLUSTER", "DELSLOTS", "\(Self.slot(key))")
            }
            let hurried = try Program(cluster) {
                ($0.writeTimeout, $0.readTimeout) = (.milliseconds(300), .milliseconds(300))
            }
            await Self.set(2, other, hurried.cache)
            await Self.setInVain(key, hurried.cache)
            async let set: Void = program.cache.set(3, forKey: key)
            _ = try await Self.run {
                try cluster.command(0, "CLUSTER", "ADDSLOTS", "\(Self.slot(key))")
            }
            try await set
            #expect(try await program.cache.value(forKey: key, freshness: .confirmed) == 3)
            #expect(try await program.cache.value(forKey: other, freshness: .confirmed) == 2)
        }

        @Test func aSlotThatMovesWithoutItsKeysIsNotRememberedForLong() async throws {
            let cluster = try await Self.make()
            let program = try Program(cluster)
            let key = Self.key(of: 0)
            try await program.cache.set(1, forKey: key)
            #expect(try await program.cache.value(forKey: key) == 1)
            // Not what an operator does; nobody hears of the key.
            try await Self.run { try cluster.endMove(ofSlot: Self.slot(key), to: 1) }
            try await until("memory has forgotten the value") {
                try await program.cache.value(forKey: key) == nil
            }
        }

        @Test func aClusterThatGrowsIsFollowed() async throws {
            let cluster = try await Self.make()
            let (one, other) = (try Program(cluster), try Program(cluster))
            let keys = (0..<8).map { Self.key(of: 0, $0) }
            for key in keys { try await one.cache.set(1, forKey: key) }
            let new = try await Self.run { try cluster.grow() }
            for key in keys {
                try await Self.run { try cluster.move(slot: Self.slot(key), from: 0, to: new) }
                #expect(try await other.cache.value(forKey: key, freshness: .confirmed) == 1)
                try await other.cache.set(2, forKey: key)
                try await until("a near read finds the new value") {
                    try await one.cache.value(forKey: key) == 2
                }
            }
        }

        // MARK: What is refused

        @Test func whatAClusterCannotDoIsSaidAtOnce() async throws {
            let cluster = try await Self.common.value
            let alone = try RedisServer()
            let changes: [(String, (inout ValkeyConfiguration) -> Void)] = [
                ("database 0", { $0.database = 1 }), ("no Sentinels", { $0.sentinels = ["a:1"] }),
                ("no Sentinels", { $0.otherAddresses = ["a:1"] }),
                ("no node of a cluster", { $0.clusterNodes = ["127.0.0.1:\(alone.port)"] }),
                (
                    "is a node of a cluster",
                    { ($0.port, $0.clusterNodes) = (cluster.server(0).port, []) }
                ),
            ]
            for (text, change) in changes {
                let program = try Program(cluster, change: change)
                await #expect { _ = try await program.cache.value(forKey: "a") } throws: { error in
                    let error = error as? VellumError
                    return error?.code == .refused && error?.message.contains(text) == true
                }
            }
        }

        @Test func seedsThatAreGoneAreNotNeeded() async throws {
            let cluster = try await Self.common.value
            let program = try Program(cluster) { $0.clusterNodes.insert("127.0.0.1:1", at: 0) }
            try await program.cache.set(1, forKey: "a")
            let lost = try Program(cluster) { $0.clusterNodes = ["127.0.0.1:1"] }
            await #expect { _ = try await lost.cache.value(forKey: "a") } throws: {
                ($0 as? VellumError)?.code == .unreachable
            }
        }

        /// Each read asks, and those who wait for a loader ask again and again.
        @Test(arguments: [true, false]) func withoutTrustNoTrackingIsNeeded(
            _ isCluster: Bool
        ) async throws {
            let alone = try RedisServer()
            let cluster = isCluster ? try await Self.make() : nil
            for number in 0..<(cluster?.size ?? 1) {
                let rules = ["ACL", "SETUSER", "default", "-client|tracking"]
                guard let cluster else {
                    _ = try await Discovery.ask(alone.configuration, [RESPCommand(rules)])
                    continue
                }
                _ = try await Self.run {
                    try cluster.command(number, "ACL", "SETUSER", "default", "-client|tracking")
                }
            }
            func program(_ trust: Duration) throws -> SharedCache<String, Int> {
                var configuration =
                    cluster.map { ValkeyConfiguration(cluster: $0.addresses) }
                    ?? ValkeyConfiguration(host: "127.0.0.1", port: alone.port)
                let long = Duration.seconds(600)
                (configuration.connectTimeout, configuration.readTimeout) = (long, long)
                (configuration.writeTimeout, configuration.lease) = (long, long)
                (configuration.trust, configuration.longestWait) = (trust, long)
                return try SharedCacheManager(name: "test", server: ValkeyServer(configuration))
                    .cache(
                        cacheName: "numbers",
                        cacheVersion: .custom("1"),
                        maxAge: .hours(1)
                    )
            }
            let (one, other, trusting) = (
                try program(.zero), try program(.zero), try program(.seconds(1))
            )
            await #expect { _ = try await trusting.value(forKey: "a") } throws: { error in
                (error as? VellumError)?.code == .refused
                    && (error as? VellumError)?.message.contains("set trust to zero") == true
            }
            try await one.set(1, forKey: "a", groups: ["g"])
            #expect(try await other.value(forKey: "a") == 1)
            try await one.set(2, forKey: "a", groups: ["g"])
            #expect(try await other.value(forKey: "a") == 2)
            try await one.removeAll(group: "g")
            #expect(try await other.value(forKey: "a") == nil)
            let (asking, loads) = (Counter(), Counter())
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    let cache = number % 2 == 0 ? one : other
                    group.addTask {
                        asking.add()
                        return try await cache.value(forKey: "b") {
                            loads.add()
                            await until("all machines ask") { asking.count == 20 }
                            // Time for the others to be told that somebody loads. Without it, this
                            // can only miss a defect.
                            for _ in 0..<10 { await pause() }
                            return 5
                        }
                    }
                }
                for try await value in group { #expect(value == 5) }
            }
            #expect(loads.count == 1 && one.statistics.nearHits == 0)
        }
    }
#endif
