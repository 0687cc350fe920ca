#if Valkey
    import FleetSupport
    import Foundation
    import TestThreads
    import Testing
    import VellumCore
    import VellumTestSupport

    @testable import VellumRemote
    @testable import VellumValkey

    /// What is remembered of a real server while others write: an old value may be returned for a
    /// moment, and never stays.
    @Suite(.ownThreads)
    struct NearRaceTests {
        /// A process as the server sees it: a connection, and what is remembered of one cache.
        private final class Client: Sendable {
            private static let long: Int64 = 600_000
            let near: NearCache<String>
            let backend: ValkeyBackend
            private let link: Link

            init(_ server: RedisServer) throws {
                let keys = RemoteKeys(cacheName: "race")
                let trust = Trust(for: Self.long)
                let near = try NearCache<String>(capacity: Capacity(1.megaByte), trust: trust)
                var configuration = server.configuration
                configuration.connectTimeout = Self.long
                link = Link(
                    to: configuration,
                    observer: Link.Observer(
                        onConnected: {
                            near.forget(nil)
                            trust.begin($0)
                        },
                        onLost: { trust.stop() },
                        onInvalidated: { changed in
                            near.forget(
                                changed.map { $0.compactMap { keys.entryKey(of: $0)?.key } }
                            )
                        },
                        onReply: { trust.renew(sent: $0) }
                    )
                )
                var times = ValkeyBackend.Times()
                (times.read, times.write) = (Self.long, Self.long)
                backend = ValkeyBackend(
                    link,
                    keys,
                    RemoteKeys(cacheName: "test", areOfGroups: true),
                    times
                )
                self.near = near
            }

            /// Returns when everything is known that the server has said so far.
            func catchUp() async throws {
                _ = try await link.call(RESPCommand("PING"), within: Self.long)
            }

            func write(_ value: String, forKey key: EntryKey) async throws {
                let record = RemoteRecord(
                    value: Data(value.utf8),
                    typeVersion: 0,
                    written: WallInstant(rawValue: 0),
                    expires: .never
                )
                try await backend.put(record, forKey: key, lifetime: nil)
                near.forget([key])
            }

            func ask(_ key: EntryKey) async throws -> (value: String, record: RemoteRecord)? {
                guard case .record(let record) = try await backend.entry(forKey: key),
                    let value = record.value
                else { return nil }
                return (String(decoding: value, as: UTF8.self), record)
            }

            func read(_ key: EntryKey) async throws -> (value: String?, isNear: Bool) {
                if case let value?? = near.hit(forKey: key) { return (value, true) }
                let ticket = near.ticket(forKey: key)
                guard let (value, record) = try await ask(key) else { return (nil, false) }
                near.fill(value, record, forKey: key, ticket: ticket)
                return (value, false)
            }

            /// The keys under which something else is remembered than the server has. Nobody writes
            /// meanwhile.
            func staleKeys(of keys: [EntryKey]) async throws -> [EntryKey] {
                try await catchUp()
                var stale: [EntryKey] = []
                for key in keys {
                    guard case let value?? = near.hit(forKey: key) else { continue }
                    if try await ask(key)?.value != value { stale.append(key) }
                }
                return stale
            }
        }

        private let server: RedisServer
        private let reader: Client
        private let writer: Client

        init() throws {
            server = try RedisServer()
            reader = try Client(server)
            writer = try Client(server)
        }

        /// The change arrives between the reply and what its reader does with it.
        @Test(arguments: [true, false])
        func aReplyThatWasOvertakenIsNotRemembered(_ takesTicketBefore: Bool) async throws {
            try await writer.write("old", forKey: "k")
            try await reader.catchUp()
            let before = reader.near.ticket(forKey: "k")
            let (value, record) = try #require(try await reader.ask("k"))
            try await writer.write("new", forKey: "k")
            try await reader.catchUp()
            // A reader that takes no ticket, or too late, remembers the old value for ever, which
            // the check must see.
            reader.near.fill(
                value,
                record,
                forKey: "k",
                ticket: takesTicketBefore ? before : reader.near.ticket(forKey: "k")
            )
            #expect(try await reader.staleKeys(of: ["k"]) == (takesTicketBefore ? [] : ["k"]))
        }

        @Test func nothingOldStaysWhenManyReadAndWrite() async throws {
            let keys = (0..<8).map { EntryKey("\($0)") }
            for key in keys { try await writer.write("0", forKey: key) }
            let nearHits = try await withThrowingTaskGroup(of: Int.self) { [reader, writer] group in
                for task in 0..<16 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(task))
                        var nearHits = 0
                        for _ in 0..<1000
                        where try await reader.read(random.element(of: keys)).isNear {
                            nearHits += 1
                        }
                        // At the latest when nobody writes any more.
                        try await until("memory answers") {
                            let isNear = try await reader.read(random.element(of: keys)).isNear
                            if isNear { nearHits += 1 }
                            return nearHits > 0
                        }
                        return nearHits
                    }
                }
                for (task, client) in [writer, reader].enumerated() {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(100 + task))
                        for number in 0..<300 {
                            try await client.write(
                                "\(task)-\(number)",
                                forKey: random.element(of: keys)
                            )
                        }
                        return 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(nearHits > 0)
            #expect(try await reader.staleKeys(of: keys) == [])
        }

        /// S2: who has set a value does not read what was there before.
        @Test func aProcessReadsItsOwnWrites() async throws {
            for number in 0..<200 {
                try await reader.write("\(number)", forKey: "k")
                #expect(try await reader.read("k").value == "\(number)")
                #expect(try await reader.read("k").value == "\(number)")
            }
        }

        @Test func whatAnotherRemovesIsForgotten() async throws {
            try await writer.write("1", forKey: "k")
            // What is read by the call that connects is not remembered: its ticket is older than
            // the connection.
            try await reader.catchUp()
            _ = try await reader.read("k")
            #expect(try await reader.read("k").isNear)
            try await writer.backend.drop(["k"])
            try await reader.catchUp()
            #expect(try await reader.read("k").value == nil)
        }
    }
#endif
