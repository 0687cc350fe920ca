#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumTestSupport

    import struct VellumCore.Locked

    @testable import VellumValkey

    /// Groups on a real server. Each `Program` has a connection of its own, like a machine.
    @Suite(.ownThreads)
    struct SharedGroupServerTests {
        private struct SourceDown: Error {}

        private final class Counter: Sendable {
            private let value = Locked(0)
            var count: Int { value.withLock { $0 } }
            func add() { value.withLock { $0 += 1 } }
        }

        private final class Program: Sendable {
            let server: ValkeyServer
            let cache: SharedCache<String, Int>

            init(_ port: Int, change: (inout ValkeyConfiguration) -> Void = { _ in }) throws {
                var configuration = ValkeyConfiguration(host: "127.0.0.1", port: port)
                // Nothing depends on how busy the machine is.
                (configuration.connectTimeout, configuration.readTimeout) = (.seconds(600), .seconds(600))
                (configuration.writeTimeout, configuration.trust, configuration.lease) = (.seconds(600), .seconds(60), .seconds(600))
                configuration.longestWait = .seconds(600)
                change(&configuration)
                server = ValkeyServer(configuration)
                cache = try SharedCacheManager(name: "test", server: server).cache(
                    cacheName: "numbers", cacheVersion: .custom("1"), maxAge: .hours(1), keepExpiredFor: .seconds(3600))
            }

            /// Reads until there is a near hit.
            func warm(_ key: String, _ value: Int) async throws {
                let hits = cache.statistics.nearHits
                try await until("memory answers") {
                    let found = try await cache.value(forKey: key)
                    #expect(found == value)
                    return cache.statistics.nearHits > hits
                }
            }

            /// Returns when near reads find nothing more; no read asks for the key before.
            func waitUntilRemoved(_ key: String) async throws {
                try await until("near reads find nothing") {
                    try await cache.value(forKey: key) == nil
                }
            }
        }

        private let redis: RedisServer
        private let administrator: Link

        init() throws {
            redis = try RedisServer()
            administrator = Link(
                to: redis.configuration,
                observer: Link.Observer(onConnected: { _ in }, onLost: {}, onInvalidated: { _ in }, onReply: { _ in }))
        }

        @discardableResult
        private func command(_ parts: any RESPCommand.Argument...) async throws -> RESPValue {
            try await administrator.call(RESPCommand(parts), within: 600_000)
        }

        private func epoch(of group: String) -> String { "v1:{gtest:numbers:1\0\(group)}" }

        @Test func whatOneProgramRemovesNoOtherReads() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["user:42", "tenant:7"])
            try await one.cache.set(2, forKey: "b", groups: ["tenant:7"])
            try await one.cache.set(3, forKey: "user:42")
            for program in [one, other] { for (key, value) in [("a", 1), ("b", 2), ("user:42", 3)] { try await program.warm(key, value) } }
            try await one.cache.removeAll(group: "user:42")
            #expect(try await one.cache.value(forKey: "a") == nil)
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == nil)
            for program in [one, other] {
                #expect(try await program.cache.values(forKeys: ["a", "b", "user:42"]) == ["b": 2, "user:42": 3])
                #expect(
                    try await program.cache.values(forKeys: ["a", "b", "user:42"], freshness: .confirmed) == ["b": 2, "user:42": 3])
            }
            // The server tells the other one, without a question.
            try await other.cache.removeAll(group: "tenant:7")
            try await one.waitUntilRemoved("b")
            try await one.cache.set(4, forKey: "b", groups: ["tenant:7"])
            #expect(try await other.cache.value(forKey: "b", freshness: .confirmed) == 4)
        }

        /// Also if the one that was read is gone: it has expired, was evicted, or somebody wrote something else.
        @Test(arguments: ["DEL", "SET short", "SET long", "LPUSH", "FLUSHALL"])
        func anEpochThatIsLostRemovesItsGroup(_ loss: String) async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g", "h"])
            for program in [one, other] { try await program.warm("a", 1) }
            switch loss {
            case "SET short": try await command("SET", epoch(of: "g"), "x")
            case "SET long": try await command("SET", epoch(of: "g"), Data(count: 100_000))
            case "LPUSH":
                try await command("DEL", epoch(of: "g"))
                try await command("LPUSH", epoch(of: "g"), "x")
            case "FLUSHALL": try await command("FLUSHALL")
            default: try await command("DEL", epoch(of: "g"))
            }
            for program in [one, other] {
                try await program.waitUntilRemoved("a")
                #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
            }
            try await one.cache.set(2, forKey: "a", groups: ["g", "h"])
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
            try await other.cache.removeAll(group: "g")
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }

        @Test func anEpochLastsAtLeastAsLongAsItsEntries() async throws {
            let program = try Program(redis.port)
            func rest() async throws -> Int64 { try await command("PTTL", epoch(of: "g")).integer ?? 0 }
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() > 3_600_000)
            let short = try await rest()
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() <= short, "The others are not told again.")
            try await program.cache.set(1, forKey: "a", maxAge: .days(7), groups: ["g"])
            let long = try await rest()
            #expect(long > 7 * 86_400_000)
            try await program.cache.set(1, forKey: "a", maxAge: .seconds(1), groups: ["g"])
            #expect(try await rest() > 7 * 86_400_000, "It is never shortened.")
            try await program.cache.removeAll(group: "g")
            #expect(try await rest() > 7 * 86_400_000)
            try await program.cache.set(1, forKey: "b", maxAge: .days(1_000_000_000_000), groups: ["g"])
            #expect(try await rest() == -1)
            try await program.cache.set(1, forKey: "b", maxAge: .days(1_000_000_000_000), groups: ["new"])
            #expect(try await command("STRLEN", epoch(of: "new")).integer == 8)
            try await program.cache.set(1, forKey: "b", maxAge: .days(1), groups: ["new"])
            #expect(try await program.cache.value(forKey: "b", freshness: .confirmed) == 1)
        }

        /// Who makes an epoch is not told of that, and whoever waits gets the one value.
        @Test func oneLoaderRunsAfterARemoval() async throws {
            let programs = try (0..<4).map { _ in try Program(redis.port) }
            let counter = Counter()
            for round in 0..<20 {
                if round % 2 == 0 { try await command("DEL", epoch(of: "g")) } else { try await programs[0].cache.removeAll(group: "g") }
                for program in programs { try await program.waitUntilRemoved("a") }
                let (before, asking) = (counter.count, Counter())
                let values = try await withThrowingTaskGroup(of: Int.self) { group in
                    for program in programs {
                        for _ in 0..<4 {
                            group.addTask {
                                asking.add()
                                let cache = program.cache.loading(into: ["g", "h"])
                                return try await cache.value(forKey: "a") {
                                    counter.add()
                                    await until("all programs ask") { asking.count == 16 }
                                    return counter.count
                                }
                            }
                        }
                    }
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                // When the server lost the epoch, who had asked for it may hear of the new one, and load once more.
                if round % 2 == 1 { #expect((counter.count - before, values.count) == (1, 1), "round \(round)") }
            }
        }

        /// Also while a load of its value runs, which another machine waits for.
        @Test(arguments: [true, false]) func aLoadIsOvertakenByTheRemovalOfItsGroup(_ isOwn: Bool) async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let (loads, gate) = (Counter(), AsyncStream.makeStream(of: Void.self))
            let first = Task {
                try await one.cache.loading(into: ["g"]).load("a") {
                    loads.add()
                    for await _ in gate.stream { break }
                    return 1
                }
            }
            await until("the loader runs") { loads.count > 0 }
            try await (isOwn ? one : other).cache.removeAll(group: "g")
            // The server says it before its next answer.
            _ = try await one.cache.value(forKey: "b", freshness: .confirmed)
            #expect(try await other.cache.loading(into: ["g"]).load("a") { 2 } == Loaded(2, .loaded))
            #expect(try await one.cache.loading(into: ["g"]).load("a") { 3 }.value == 2)
            gate.continuation.yield()
            #expect(try await first.value == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a", freshness: .confirmed) == 2)
        }

        @Test func aRememberedFailureEndsWithItsGroup() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let options = LoadOptions(errorMaxAge: .seconds(600))
            await #expect(throws: SourceDown.self) {
                try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) { () -> Int in throw SourceDown() }
            }
            await #expect(throws: SourceDown.self) { try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) { 1 } }
            try await other.cache.removeAll(group: "g")
            _ = try await one.cache.value(forKey: "b", freshness: .confirmed)
            #expect(try await one.cache.loading(into: ["g"]).value(forKey: "a", options: options) { 1 } == 1)
        }

        @Test func anEntryOfARemovedGroupIsAbsent() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g"])
            #expect(try await !other.cache.setIfAbsent(2, forKey: "a"))
            try await one.cache.removeAll(group: "g")
            let set = try await withThrowingTaskGroup(of: Bool.self) { group in
                for program in [one, other] {
                    for number in 3..<8 { group.addTask { try await program.cache.setIfAbsent(number, forKey: "a") } }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(set == 1)
            #expect(try await one.cache.value(forKey: "a", freshness: .confirmed) ?? 0 >= 3)
        }

        @Test func anUnchangedValueOfAGroupGetsANewDate() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let cache = one.cache.loading(into: ["g", "h"])
            _ = try await cache.load("a", maxAge: .timeInterval(0), staleIfError: .seconds(600)) { 1 }
            let renewed = try await cache.load("a") { previous in
                #expect(previous == 1)
                return .unchanged(maxAge: .seconds(600))
            }
            #expect(renewed == Loaded(1, .loaded))
            #expect(try await other.cache.value(forKey: "a") == 1)
            try await other.cache.removeAll(group: "h")
            #expect(try await cache.load("a") { previous in .value(previous ?? 7) } == Loaded(7, .loaded))
        }

        @Test func aFullServerStillRemovesGroups() async throws {
            let program = try Program(redis.port)
            try await program.cache.set(1, forKey: "a", groups: ["g"])
            try await program.warm("a", 1)
            try await command("CONFIG", "SET", "maxmemory", "1")
            try await program.cache.removeAll(group: "g")
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
            let error = await #expect(throws: VellumError.self) { try await program.cache.set(1, forKey: "b", groups: ["g"]) }
            #expect(error?.code == .serverFull)
            #expect(try await program.cache.loading(into: ["g"]).value(forKey: "b") { 7 } == 7)
        }

        @Test func anEntryInManyGroupsIsReadAndRemoved() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            let groups = Set((0..<200).map { "group \($0)" } + ["", String(repeating: "n", count: 1024)])
            try await one.cache.set(1, forKey: "a", groups: groups)
            try await other.warm("a", 1)
            try await one.cache.removeAll(group: String(repeating: "n", count: 1024))
            try await other.waitUntilRemoved("a")
            let error = await #expect(throws: VellumError.self) {
                try await one.cache.set(1, forKey: "a", groups: [String(repeating: "n", count: 1025)])
            }
            #expect(error?.code == .keyTooLong)
        }

        /// The commands that the guide lists.
        @Test func aUserNeedsFewCommands() async throws {
            let commands =
                "hello select client|tracking time get getrange set setrange strlen del pttl pexpire persist eval scan unlink"
            let rules: [any RESPCommand.Argument] = ["ACL", "SETUSER", "shop", "on", ">secret", "~v1:*", "-@all"]
            _ = try await administrator.call(
                RESPCommand(rules + commands.split(separator: " ").map { "+\($0)" }), within: 600_000)
            let program = try Program(redis.port) { ($0.user, $0.password) = ("shop", "secret") }
            try await program.cache.set(1, forKey: "a", groups: ["g"])
            try await program.cache.set(1, forKey: "a", maxAge: .days(1_000_000_000_000), groups: ["g"])
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == 1)
            #expect(try await !program.cache.setIfAbsent(2, forKey: "a"))
            try await program.cache.removeAll(group: "g")
            let grouped = program.cache.loading(into: ["g"])
            #expect(try await grouped.load("a", maxAge: .timeInterval(0)) { 3 } == Loaded(3, .loaded))
            #expect(try await grouped.load("a") { _ in .unchanged(maxAge: .seconds(86_400)) } == Loaded(3, .loaded))
            try await program.cache.removeValue(forKey: "a")
            #expect(try await program.cache.value(forKey: "a", freshness: .confirmed) == nil)
        }

        @Test func aRemovalThatCouldNotBeSentIsSentLater() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g"])
            try await until("a removal fails of a value that is there") {
                do throws(VellumError) {
                    try await other.cache.set(1, forKey: "a", groups: ["g"])
                } catch { return false }
                try await command("CLIENT", "KILL", "TYPE", "normal")
                do throws(VellumError) { try await one.cache.removeAll(group: "g") } catch { return true }
                return false
            }
            // Nobody asks for the removal again.
            await until("the removal has arrived") {
                do throws(VellumError) {
                    return try await other.cache.value(forKey: "a", freshness: .confirmed) == nil
                } catch {
                    return false
                }
            }
        }

        @Test func nearValuesOfAGroupEndWhenTheServerIsSilent() async throws {
            // When a read has waited in vain, whatever the server had said before it was silent is
            // trusted no longer.
            let program = try Program(redis.port) {
                ($0.trust, $0.readTimeout) = (.milliseconds(200), .milliseconds(400))
            }
            await until("the value can be set") {
                do throws(VellumError) {
                    try await program.cache.set(1, forKey: "a", groups: ["g"])
                    return true
                } catch {
                    #expect([.outcomeUnknown, .unreachable].contains(error.code))
                    return false
                }
            }
            redis.stop()
            defer { redis.resume() }
            var code: VellumError.Code?
            await until("memory answers no more") {
                do throws(VellumError) { _ = try await program.cache.value(forKey: "a") } catch { code = error.code }
                return code != nil
            }
            #expect(code == .outcomeUnknown || code == .unreachable)
            let nearHits = program.cache.statistics.nearHits
            await #expect(throws: VellumError.self) { try await program.cache.value(forKey: "a") }
            #expect(program.cache.statistics.nearHits == nearHits)
        }

        /// After a removal has returned, no confirmed read of any program returns what was recorded before, nor does a near read of the remover.
        /// Near reads of the other end by what the server says.
        @Test(arguments: 0..<6 as Range<UInt64>) func readsAreThoseOfAModel(_ seed: UInt64) async throws {
            var random = SeededGenerator(seed: seed)
            let programs = [try Program(redis.port), try Program(redis.port)]
            var model: [String: (value: Int, groups: Set<String>)] = [:]
            let (keys, names) = (["a", "b", "c", "g"], ["g", "h", "i"])
            for number in 0..<250 {
                let (program, key) = (random.element(of: programs), random.element(of: keys))
                let groups = Set(names.randomSome(&random))
                switch Int.random(in: 0..<9, using: &random) {
                case 0...1:
                    try await program.cache.set(number, forKey: key, groups: groups)
                    model[key] = (number, groups)
                case 2:
                    try await program.cache.removeValue(forKey: key)
                    model[key] = nil
                case 3...4:
                    let group = random.element(of: names)
                    if number % 7 == 0 {
                        try await command("DEL", epoch(of: group))
                        // Each has heard it before the next answer.
                        for program in programs { _ = try await program.cache.value(forKey: "nothing", freshness: .confirmed) }
                    } else {
                        try await program.cache.removeAll(group: group)
                    }
                    model = model.filter { !$0.value.groups.contains(group) }
                    let near = try await program.cache.values(forKeys: keys)
                    #expect(near == model.mapValues(\.value), "\(number)")
                case 5:
                    // Near values of the other one would be an answer.
                    guard try await program.cache.value(forKey: key, freshness: .confirmed) == nil else { continue }
                    let loaded = try await program.cache.loading(into: groups).load(key) { number }
                    #expect(loaded == Loaded(number, .loaded), "\(number)")
                    // A load that hears of an epoch that it has made itself stores nothing.
                    if try await program.cache.value(forKey: key, freshness: .confirmed) == number { model[key] = (number, groups) }
                case 6:
                    #expect(try await program.cache.setIfAbsent(number, forKey: key) == (model[key] == nil), "\(number)")
                    if model[key] == nil { model[key] = (number, []) }
                case 7:
                    try await until("a near read is that of the model") {
                        try await program.cache.value(forKey: key) == model[key]?.value
                    }
                default:
                    #expect(try await program.cache.value(forKey: key, freshness: .confirmed) == model[key]?.value, "\(number)")
                    #expect(try await program.cache.values(forKeys: keys, freshness: .confirmed) == model.mapValues(\.value), "\(number)")
                }
            }
        }
    }
#endif
