#if Valkey
    import FleetSupport
    import Foundation
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    /// Entries and leases on a real server. Its clock is that of the machine.
    @Suite(.ownThreads)
    struct ValkeyBackendTests {
        private let server: RedisServer
        private let link: Link
        private let keys = RemoteKeys(cacheName: "test")
        private let backend: ValkeyBackend
        private let key: EntryKey = "key"
        private static let long: Int64 = 600_000

        init() throws {
            server = try RedisServer()
            var configuration = server.configuration
            configuration.connectTimeout = Self.long
            link = Link(
                to: configuration,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            var times = ValkeyBackend.Times()
            (times.read, times.write, times.lease) = (Self.long, Self.long, Self.long)
            backend = ValkeyBackend(
                link,
                keys,
                RemoteKeys(cacheName: "test", areOfGroups: true),
                times
            )
        }

        private func record(_ text: String?, expires: WallInstant = .never) -> RemoteRecord {
            RemoteRecord(
                value: text.map { Data($0.utf8) },
                typeVersion: 3,
                written: WallInstant(rawValue: 1_700_000_000_000),
                expires: expires
            )
        }

        private func lease(_ token: String, ignoresEntry: Bool = false) async throws -> LeaseAnswer
        {
            try await backend.entryOrLease(
                forKey: key,
                token: LeaseToken(token),
                ignoresEntry: ignoresEntry,
                atReply: {}
            )
        }

        @Test func whatIsPutIsFoundUntilItIsDropped() async throws {
            #expect(try await backend.entry(forKey: key) == .missing)
            try await backend.put(record("a"), forKey: key, lifetime: nil)
            #expect(try await backend.entry(forKey: key) == .record(record("a")))
            try await backend.put(record(nil), forKey: key, lifetime: Self.long)
            #expect(try await backend.entry(forKey: key) == .record(record(nil)))
            try await backend.drop([key])
            #expect(try await backend.entry(forKey: key) == .missing)
        }

        @Test func theServerForgetsAnEntryAfterItsLifetime() async throws {
            try await backend.put(record("a"), forKey: key, lifetime: Self.long)
            let rest =
                try await link.call(RESPCommand("PTTL", keys.value(of: key)), within: Self.long)
                .integer ?? 0
            #expect(1...Self.long ~= rest)
            try await backend.put(record("a"), forKey: key, lifetime: nil)
            #expect(
                try await link.call(RESPCommand("PTTL", keys.value(of: key)), within: Self.long)
                    == .integer(-1)
            )
            try await backend.put(record("a"), forKey: key, lifetime: 0)
            #expect(
                try await link.call(RESPCommand("PTTL", keys.value(of: key)), within: Self.long)
                    .integer ?? 0 < 2
            )
        }

        @Test func aValidEntryWithAValueStays() async throws {
            _ = try await lease("a")
            #expect(
                try await backend.putIfAbsent(
                    record("a"),
                    forKey: key,
                    lifetime: Self.long,
                    replacing: nil
                ) == true
            )
            // What the holder of the lease has loaded is too late.
            #expect(
                try await !backend.fill(
                    record("loaded"),
                    forKey: key,
                    lifetime: nil,
                    token: LeaseToken("a")
                )
            )
            #expect(
                try await backend.putIfAbsent(
                    record("b"),
                    forKey: key,
                    lifetime: nil,
                    replacing: nil
                ) == false
            )
            #expect(try await backend.entry(forKey: key) == .record(record("a")))
            let old = record("old", expires: WallInstant(rawValue: 1_700_000_000_001))
            for absent in [old, record(nil)] {
                try await backend.put(absent, forKey: key, lifetime: nil)
                #expect(
                    try await backend.putIfAbsent(
                        record("c"),
                        forKey: key,
                        lifetime: nil,
                        replacing: nil
                    ) == true
                )
                #expect(try await backend.entry(forKey: key) == .record(record("c")))
            }
        }

        @Test func manyEntriesAreThoseOfSingleCommands() async throws {
            let (small, large): (EntryKey, EntryKey) = ("small", "large")
            let long = String(repeating: "x", count: RemoteRecord.longest / 4)
            try await backend.put(record("x"), forKey: small, lifetime: nil)
            try await backend.put(record(long), forKey: large, lifetime: nil)
            _ = try await link.call(RESPCommand("SET", keys.value(of: key), "x"), within: Self.long)
            let asked = [small, large, "nothing", key, small, large]
            var single: [RemoteEntry] = []
            for key in asked { single.append(try await backend.entry(forKey: key)) }
            #expect(try await backend.entries(forKeys: asked) == single)
            #expect(single[1] == .record(record(long)))
            #expect(single[2...3] == [.missing, .damaged])
            #expect(try await backend.entries(forKeys: []) == [])
        }

        @Test func oneOfManyGetsTheLease() async throws {
            let answers = try await withThrowingTaskGroup(of: LeaseAnswer.self) { group in
                for number in 0..<32 { group.addTask { try await lease("\(number)") } }
                return try await group.reduce(into: [LeaseAnswer]()) { $0.append($1) }
            }
            #expect(answers.count { $0 == .granted(old: .missing) } == 1)
            for case .busy(let rest, let old) in answers {
                #expect(1...Self.long ~= rest)
                #expect(old == .missing)
            }
            #expect(answers.count == 32)
        }

        @Test func whatTheHolderLoadsIsStored() async throws {
            #expect(try await lease("a") == .granted(old: .missing))
            #expect(try await backend.renew(LeaseToken("a"), forKey: key))
            #expect(try await !backend.renew(LeaseToken("b"), forKey: key))
            #expect(
                try await backend.fill(
                    record("loaded"),
                    forKey: key,
                    lifetime: nil,
                    token: LeaseToken("a")
                )
            )
            #expect(try await lease("b") == .found(.record(record("loaded"))))
            // A lease ends with what it was for.
            #expect(
                try await !backend.fill(
                    record("again"),
                    forKey: key,
                    lifetime: nil,
                    token: LeaseToken("a")
                )
            )
        }

        /// S5: a value that was loaded before a write does not replace it.
        @Test(arguments: [true, false])
        func aWriteDuringALoadDeclinesWhatIsLoaded(_ removes: Bool) async throws {
            #expect(try await lease("a") == .granted(old: .missing))
            if removes {
                try await backend.drop([key])
            } else {
                try await backend.put(record("new"), forKey: key, lifetime: nil)
            }
            #expect(try await !backend.renew(LeaseToken("a"), forKey: key))
            #expect(
                try await !backend.fill(
                    record("late"),
                    forKey: key,
                    lifetime: nil,
                    token: LeaseToken("a")
                )
            )
            #expect(
                try await backend.entry(forKey: key)
                    == (removes ? .missing : .record(record("new")))
            )
        }

        @Test func aHolderThatGivesUpLetsTheNextOneLoad() async throws {
            #expect(try await lease("a") == .granted(old: .missing))
            try await backend.giveBack(LeaseToken("b"), forKey: key)
            guard case .busy = try await lease("b") else {
                Issue.record("A lease was given back by another.")
                return
            }
            try await backend.giveBack(LeaseToken("a"), forKey: key)
            #expect(try await lease("b") == .granted(old: .missing))
        }

        @Test func anExpiredEntryIsGivenWithTheLease() async throws {
            let old = record("old", expires: WallInstant(rawValue: 1_700_000_000_001))
            try await backend.put(old, forKey: key, lifetime: nil)
            #expect(try await lease("a") == .granted(old: .record(old)))
            guard case .busy(_, .record(old)) = try await lease("b") else {
                Issue.record("The expired entry is not given to who waits.")
                return
            }
        }

        @Test func aDamagedEntryCanBeLoadedAnew() async throws {
            for bytes in [Data("x".utf8), Data(count: 40), record("a").encoded(under: "another")] {
                _ = try await link.call(
                    RESPCommand("SET", keys.value(of: key), bytes),
                    within: Self.long
                )
                #expect(try await backend.entry(forKey: key) == .damaged)
                #expect(try await lease("a", ignoresEntry: true) == .granted(old: .damaged))
                #expect(
                    try await backend.fill(
                        record("whole"),
                        forKey: key,
                        lifetime: nil,
                        token: LeaseToken("a")
                    )
                )
                #expect(try await backend.entry(forKey: key) == .record(record("whole")))
            }
        }

        @Test func aFullServerSaysSo() async throws {
            _ = try await link.call(
                RESPCommand("CONFIG", "SET", "maxmemory", "1"),
                within: Self.long
            )
            do {
                try await backend.put(record("a"), forKey: key, lifetime: nil)
                Issue.record("A full server stored an entry.")
            } catch {
                #expect(error == .full)
            }
        }
    }
#endif
