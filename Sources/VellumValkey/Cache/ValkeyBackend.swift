#if Valkey
    internal import Foundation
    internal import VellumCore
    internal import VellumRemote

    /// The entries of one cache on a Valkey or Redis server.
    final class ValkeyBackend: RemoteBackend {
        /// How long calls may take and leases last, in milliseconds.
        struct Times: Sendable {
            var read: Int64 = 250
            var write: Int64 = 1000
            var lease: Int64 = 2000

            init() {}
        }

        let route: Route
        let keys: RemoteKeys
        private let groupKeys: RemoteKeys
        private let times: Times

        init(
            _ route: Route,
            _ keys: RemoteKeys,
            _ groupKeys: RemoteKeys,
            _ times: Times = Times()
        ) {
            self.route = route
            self.keys = keys
            self.groupKeys = groupKeys
            self.times = times
        }

        /// The backend of a server alone.
        convenience init(
            _ link: Link,
            _ keys: RemoteKeys,
            _ groupKeys: RemoteKeys,
            _ times: Times = Times()
        ) {
            self.init(.server(link), keys, groupKeys, times)
        }

        func entry(forKey key: EntryKey) async throws(RemoteFailure) -> RemoteEntry {
            let name = keys.value(of: key)
            return try entry(
                try await answer(Self.read(name), name, within: times.read),
                under: name
            )
        }

        /// GET would bring a value of any length, for which all callers of the connection wait.
        private static func read(_ name: String) -> RESPCommand { RESPCommand(reading, key: name) }

        private static let reading = RESPCommand.Frame(
            "GETRANGE",
            after: Int64(0),
            Int64(RemoteRecord.longest)
        )

        func entries(forKeys asked: [EntryKey]) async throws(RemoteFailure) -> [RemoteEntry] {
            var entries: [RemoteEntry] = []
            if route.cluster != nil {
                let replies = try await answers(
                    asked.map {
                        (Self.read(keys.value(of: $0)), keys.value(of: $0))
                    },
                    within: times.read
                )
                for (key, reply) in zip(asked, replies) {
                    entries.append(try entry(reply, key))
                }
                return entries
            }
            while entries.count < asked.count {
                // One reply has hardly more bytes than that of a large entry: callers of the
                // connection wait for it.
                let rest = asked[entries.count...]
                let reply = try await run(
                    Scripts.entries,
                    rest.map(keys.value),
                    [Int64(RemoteRecord.longest)],
                    within: times.read
                )
                guard let parts = reply.elements, parts.count == rest.count, parts.first != .null
                else { throw .unexpectedReply }
                for (key, part) in zip(rest, parts.prefix { $0 != .null }) {
                    entries.append(try entry(part, key))
                }
            }
            return entries
        }

        func entryOrLease(
            forKey key: EntryKey,
            token: LeaseToken,
            ignoresEntry: Bool,
            atReply: @escaping @Sendable () -> Void
        ) async throws(RemoteFailure) -> LeaseAnswer {
            let reply = try await run(
                Scripts.entryOrLease,
                [keys.value(of: key), keys.lease(of: key)],
                [token.text, times.lease, ignoresEntry ? "1" : "0", Int64(RemoteRecord.longest)],
                within: times.read,
                atReply: atReply
            )
            let parts = reply.elements ?? []
            switch (parts.first?.integer, parts.count) {
            case (0, 2) where !ignoresEntry: return .found(try entry(parts[1], key))
            case (1, 3):
                guard let rest = parts[1].integer else { throw .unexpectedReply }
                return .busy(rest: rest, old: try entry(parts[2], key))
            case (2, 2): return .granted(old: try entry(parts[1], key))
            default: throw .unexpectedReply
            }
        }

        func put(
            _ record: RemoteRecord,
            forKey key: EntryKey,
            lifetime: Int64?
        ) async throws(RemoteFailure) {
            guard try await put(record, key, lifetime, by: Scripts.put) else {
                throw .unexpectedReply
            }
        }

        func putIfAbsent(
            _ record: RemoteRecord,
            forKey key: EntryKey,
            lifetime: Int64?,
            replacing removed: RemoteRecord?
        ) async throws(RemoteFailure) -> Bool? {
            let value = keys.value(of: key)
            var arguments: [any RESPCommand.Argument] = [
                record.encoded(under: value), lifetime.map { max(1, $0) } ?? 0,
            ]
            if let removed {
                arguments.append(removed.encoded(under: value).prefix(RemoteRecord.headerLength))
            }
            let reply = try await run(
                Scripts.putIfAbsent,
                [value, keys.lease(of: key)],
                arguments,
                within: times.write
            )
            return reply == .integer(2) ? nil : try isDone(reply)
        }

        /// - Parameters:
        ///   - token: The third argument of the script, if it has one.
        ///   - headerOnly: Whether the header alone is sent, and the length of the entry.
        private func put(
            _ record: RemoteRecord,
            _ key: EntryKey,
            _ lifetime: Int64?,
            by script: String,
            token: LeaseToken? = nil,
            headerOnly: Bool = false
        ) async throws(RemoteFailure) -> Bool {
            let value = keys.value(of: key)
            let bytes = record.encoded(under: value)
            var arguments: [any RESPCommand.Argument] = [
                headerOnly ? bytes.prefix(RemoteRecord.headerLength) : bytes,
                lifetime.map { max(1, $0) } ?? 0,
            ]
            if let token { arguments.append(token.text) }
            if headerOnly { arguments.append(Int64(bytes.count)) }
            return try isDone(
                await run(
                    script,
                    [value, keys.lease(of: key)],
                    arguments,
                    within: times.write
                )
            )
        }

        func drop(_ dropped: [EntryKey]) async throws(RemoteFailure) {
            guard !dropped.isEmpty else { return }
            let names = dropped.map {
                [keys.value(of: $0), keys.lease(of: $0)]
            }
            for reply in try await run(Scripts.drop, names, [], within: times.write) {
                guard try isDone(reply) else { throw .unexpectedReply }
            }
        }

        func dropAll(at places: Set<Int>) async -> [Int: RemoteFailure] {
            guard let cluster = route.cluster else { return await dropAll(at: places) { _ in nil } }
            // Where slots are on their way to, too.
            await cluster.learnAnew(within: times.write)
            let all = places.contains(PendingRemovals.everywhere) ? Set(cluster.places) : places
            if all.isEmpty {
                return [
                    PendingRemovals.everywhere: cluster.isClosed
                        ? .closed : .unreachable("No primary of the cluster is known.")
                ]
            }
            // A key may move from a primary that was not looked through yet to one that was.
            let first = await dropAll(at: all) { $0 }
            let second = await dropAll(at: all.subtracting(first.keys)) { $0 }
            return first.merging(second) { $1 }
        }

        private func dropAll(
            at places: Set<Int>,
            _ place: @escaping @Sendable (Int) -> Int?
        ) async -> [Int: RemoteFailure] {
            await withTaskGroup(of: (Int, RemoteFailure?).self) { group in
                for one in places {
                    group.addTask { (one, await self.failure(toDropAllAt: place(one))) }
                }
                var failures: [Int: RemoteFailure] = [:]
                for await (place, failure) in group { failures[place] = failure }
                return failures
            }
        }

        func failure(toDropAllAt place: Int?) async -> RemoteFailure? {
            do throws(RemoteFailure) {
                try await dropAll(at: place)
                return nil
            } catch {
                return error
            }
        }

        /// - Parameter place: That of a primary; `nil` for the server alone.
        private func dropAll(at place: Int?) async throws(RemoteFailure) {
            var cursor = "0"
            repeat {
                let scan = RESPCommand("SCAN", cursor, "MATCH", keys.pattern, "COUNT", "1000")
                let reply = try await answer(scan, "", at: place, within: times.write)
                guard let parts = reply.elements, parts.count == 2, let next = parts[0].text,
                    let found = parts[1].elements
                else {
                    throw .unexpectedReply
                }
                try await drop(
                    Array(
                        Set(found.compactMap(\.data).compactMap { keys.entryKey(of: $0)?.key })
                    )
                )
                cursor = next
            } while cursor != "0"
        }

        func epochs(
            of groups: [EntryKey],
            orMake new: (epoch: UInt64, lifetime: Int64?)?
        ) async throws(RemoteFailure) -> [EntryKey: UInt64] {
            var arguments: [any RESPCommand.Argument] = []
            if let new {
                // Twice as long as they must, and an hour at least: it is rare that one has to last
                // longer.
                let (needed, kept) =
                    new.lifetime.map {
                        (
                            max(1, $0),
                            min(max(2 * $0, $0 + 3_600_000), .max >> 1)
                        )
                    }
                    ?? (0, 0)
                arguments = [new.epoch.bytes, needed, kept]
            }
            let replies = try await run(
                Scripts.epochs,
                groups.map { [groupKeys.value(of: $0)] },
                arguments,
                within: new == nil ? times.read : times.write
            )
            let epochs = replies.flatMap { $0.elements ?? [] }
            guard epochs.count == groups.count else { throw .unexpectedReply }
            let found = zip(groups, epochs).compactMap { group, epoch in
                epoch.data.flatMap(UInt64.init(bytes:)).map { (group, $0) }
            }
            return Dictionary(found) { first, _ in first }
        }

        func removeGroups(_ groups: [EntryKey], epoch: UInt64) async throws(RemoteFailure) {
            for reply in try await run(
                Scripts.removeGroups,
                groups.map { [groupKeys.value(of: $0)] },
                [epoch.bytes],
                within: times.write
            ) {
                guard try isDone(reply) else { throw .unexpectedReply }
            }
        }

        var leaseDuration: Int64 { times.lease }

        func fill(
            _ record: RemoteRecord,
            forKey key: EntryKey,
            lifetime: Int64?,
            token: LeaseToken
        ) async throws(RemoteFailure) -> Bool {
            try await put(record, key, lifetime, by: Scripts.fill, token: token)
        }

        func renewEntry(
            _ record: RemoteRecord,
            forKey key: EntryKey,
            lifetime: Int64?,
            token: LeaseToken
        ) async throws(RemoteFailure) -> Bool {
            try await put(
                record,
                key,
                lifetime,
                by: Scripts.renewEntry,
                token: token,
                headerOnly: true
            )
        }

        func renew(
            _ token: LeaseToken,
            forKey key: EntryKey
        ) async throws(RemoteFailure) -> Bool {
            try isDone(
                await run(
                    Scripts.renew,
                    [keys.lease(of: key)],
                    [token.text, times.lease],
                    within: times.write
                )
            )
        }

        func giveBack(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) {
            _ = try await run(
                Scripts.giveBack,
                [keys.lease(of: key)],
                [token.text],
                within: times.write
            )
        }
    }

    extension UInt64 {
        fileprivate var bytes: Data { withUnsafeBytes(of: littleEndian) { Data($0) } }

        fileprivate init?(bytes: Data) {
            guard bytes.count == 8 else { return nil }
            self = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
