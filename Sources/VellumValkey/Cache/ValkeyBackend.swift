#if Valkey
    internal import Foundation
    package import VellumCore
    package import VellumRemote

    /// The entries of one cache on a Valkey or Redis server.
    package final class ValkeyBackend: RemoteBackend {
        /// How long calls may take and leases last, in milliseconds.
        package struct Times: Sendable {
            package var read: Int64 = 250
            package var write: Int64 = 1000
            package var lease: Int64 = 2000

            package init() {}
        }

        private let route: Route
        private let keys: RemoteKeys
        private let groupKeys: RemoteKeys
        private let times: Times

        package init(_ route: Route, _ keys: RemoteKeys, _ groupKeys: RemoteKeys, _ times: Times = Times()) {
            (self.route, self.keys, self.groupKeys, self.times) = (route, keys, groupKeys, times)
        }

        /// The backend of a server alone.
        package convenience init(_ link: Link, _ keys: RemoteKeys, _ groupKeys: RemoteKeys, _ times: Times = Times()) {
            self.init(.server(link), keys, groupKeys, times)
        }

        package func entry(forKey key: EntryKey) async throws(RemoteFailure) -> RemoteEntry {
            let name = keys.value(of: key)
            return try entry(try await answer(Self.read(name), name, within: times.read), under: name)
        }

        /// GET would bring a value of any length, for which all callers of the connection wait.
        private static func read(_ name: String) -> RESPCommand { RESPCommand(reading, key: name) }

        private static let reading = RESPCommand.Frame("GETRANGE", after: Int64(0), Int64(RemoteRecord.longest))

        package func entries(forKeys asked: [EntryKey]) async throws(RemoteFailure) -> [RemoteEntry] {
            var entries: [RemoteEntry] = []
            if route.cluster != nil {
                let replies = try await answers(asked.map { (Self.read(keys.value(of: $0)), keys.value(of: $0)) }, within: times.read)
                for (key, reply) in zip(asked, replies) { entries.append(try entry(reply, key)) }
                return entries
            }
            while entries.count < asked.count {
                // One reply has hardly more bytes than that of a large entry: callers of the connection wait for it.
                let rest = asked[entries.count...]
                let reply = try await run(Scripts.entries, rest.map(keys.value), [Int64(RemoteRecord.longest)], within: times.read)
                guard let parts = reply.elements, parts.count == rest.count, parts.first != .null else { throw .unexpectedReply }
                for (key, part) in zip(rest, parts.prefix { $0 != .null }) { entries.append(try entry(part, key)) }
            }
            return entries
        }

        package func entryOrLease(
            forKey key: EntryKey, token: LeaseToken, ignoresEntry: Bool, atReply: @escaping @Sendable () -> Void
        ) async throws(RemoteFailure) -> LeaseAnswer {
            let reply = try await run(
                Scripts.entryOrLease, [keys.value(of: key), keys.lease(of: key)],
                [token.text, times.lease, ignoresEntry ? "1" : "0", Int64(RemoteRecord.longest)], within: times.read, atReply: atReply)
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

        package func put(_ record: RemoteRecord, forKey key: EntryKey, lifetime: Int64?) async throws(RemoteFailure) {
            guard try await put(record, key, lifetime, by: Scripts.put) else { throw .unexpectedReply }
        }

        package func putIfAbsent(
            _ record: RemoteRecord, forKey key: EntryKey, lifetime: Int64?, replacing removed: RemoteRecord?
        ) async throws(RemoteFailure) -> Bool? {
            let value = keys.value(of: key)
            var arguments: [any RESPCommand.Argument] = [record.encoded(under: value), lifetime.map { max(1, $0) } ?? 0]
            if let removed { arguments.append(removed.encoded(under: value).prefix(RemoteRecord.headerLength)) }
            let reply = try await run(Scripts.putIfAbsent, [value, keys.lease(of: key)], arguments, within: times.write)
            return reply == .integer(2) ? nil : try isDone(reply)
        }

        /// - Parameters:
        ///   - token: The third argument of the script, if it has one.
        ///   - headerOnly: Whether the header alone is sent, and the length of the entry.
        private func put(
            _ record: RemoteRecord, _ key: EntryKey, _ lifetime: Int64?, by script: String, token: LeaseToken? = nil,
            headerOnly: Bool = false
        ) async throws(RemoteFailure) -> Bool {
            let value = keys.value(of: key)
            let bytes = record.encoded(under: value)
            var arguments: [any RESPCommand.Argument] = [
                headerOnly ? bytes.prefix(RemoteRecord.headerLength) : bytes, lifetime.map { max(1, $0) } ?? 0,
            ]
            if let token { arguments.append(token.text) }
            if headerOnly { arguments.append(Int64(bytes.count)) }
            return try isDone(await run(script, [value, keys.lease(of: key)], arguments, within: times.write))
        }

        package func drop(_ dropped: [EntryKey]) async throws(RemoteFailure) {
            guard !dropped.isEmpty else { return }
            let names = dropped.map { [keys.value(of: $0), keys.lease(of: $0)] }
            for reply in try await run(Scripts.drop, names, [], within: times.write) {
                guard try isDone(reply) else { throw .unexpectedReply }
            }
        }

        package func dropAll(at places: Set<Int>) async -> [Int: RemoteFailure] {
            guard let cluster = route.cluster else { return await dropAll(at: places) { _ in nil } }
            // Where slots are on their way to, too.
            await cluster.learnAnew(within: times.write)
            let all = places.contains(PendingRemovals.everywhere) ? Set(cluster.places) : places
            if all.isEmpty {
                return [PendingRemovals.everywhere: cluster.isClosed ? .closed : .unreachable("No primary of the cluster is known.")]
            }
            // A key may move from a primary that was not looked through yet to one that was.
            let first = await dropAll(at: all) { $0 }
            let second = await dropAll(at: all.subtracting(first.keys)) { $0 }
            return first.merging(second) { $1 }
        }

        private func dropAll(at places: Set<Int>, _ place: @escaping @Sendable (Int) -> Int?) async -> [Int: RemoteFailure] {
            await withTaskGroup(of: (Int, RemoteFailure?).self) { group in
                for one in places { group.addTask { (one, await self.failure(toDropAllAt: place(one))) } }
                var failures: [Int: RemoteFailure] = [:]
                for await (place, failure) in group { failures[place] = failure }
                return failures
            }
        }

        private func failure(toDropAllAt place: Int?) async -> RemoteFailure? {
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
                guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, let found = parts[1].elements else {
                    throw .unexpectedReply
                }
                try await drop(Array(Set(found.compactMap(\.data).compactMap { keys.entryKey(of: $0)?.key })))
                cursor = next
            } while cursor != "0"
        }

        package func epochs(
            of groups: [EntryKey], orMake new: (epoch: UInt64, lifetime: Int64?)?
        ) async throws(RemoteFailure) -> [EntryKey: UInt64] {
            var arguments: [any RESPCommand.Argument] = []
            if let new {
                // Twice as long as they must, and an hour at least: it is rare that one has to last longer.
                let (needed, kept) = new.lifetime.map { (max(1, $0), min(max(2 * $0, $0 + 3_600_000), .max >> 1)) } ?? (0, 0)
                arguments = [new.epoch.bytes, needed, kept]
            }
            let replies = try await run(
                Scripts.epochs, groups.map { [groupKeys.value(of: $0)] }, arguments, within: new == nil ? times.read : times.write)
            let epochs = replies.flatMap { $0.elements ?? [] }
            guard epochs.count == groups.count else { throw .unexpectedReply }
            let found = zip(groups, epochs).compactMap { group, epoch in epoch.data.flatMap(UInt64.init(bytes:)).map { (group, $0) } }
            return Dictionary(found) { first, _ in first }
        }

        package func removeGroups(_ groups: [EntryKey], epoch: UInt64) async throws(RemoteFailure) {
            for reply in try await run(Scripts.removeGroups, groups.map { [groupKeys.value(of: $0)] }, [epoch.bytes], within: times.write) {
                guard try isDone(reply) else { throw .unexpectedReply }
            }
        }

        package var leaseDuration: Int64 { times.lease }

        package func fill(
            _ record: RemoteRecord, forKey key: EntryKey, lifetime: Int64?, token: LeaseToken
        ) async throws(RemoteFailure) -> Bool {
            try await put(record, key, lifetime, by: Scripts.fill, token: token)
        }

        package func renewEntry(
            _ record: RemoteRecord, forKey key: EntryKey, lifetime: Int64?, token: LeaseToken
        ) async throws(RemoteFailure) -> Bool {
            try await put(record, key, lifetime, by: Scripts.renewEntry, token: token, headerOnly: true)
        }

        package func renew(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) -> Bool {
            try isDone(await run(Scripts.renew, [keys.lease(of: key)], [token.text, times.lease], within: times.write))
        }

        package func giveBack(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) {
            _ = try await run(Scripts.giveBack, [keys.lease(of: key)], [token.text], within: times.write)
        }

        // MARK: Commands

        /// The text of a script goes with each call: the server keeps it compiled, and forgets it when it likes.
        private static func eval(_ script: String, _ keys: [String], _ arguments: [any RESPCommand.Argument]) -> RESPCommand {
            RESPCommand(["EVAL", script, Int64(keys.count)] + keys + arguments)
        }

        private func run(
            _ script: String, _ keys: [String], _ arguments: [any RESPCommand.Argument], within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil, caller: StaticString = #function
        ) async throws(RemoteFailure) -> RESPValue {
            try await answer(Self.eval(script, keys, arguments), keys[0], within: milliseconds, atReply: atReply, script: caller)
        }

        /// Runs a script for keys of any slots, in one command where a server has all of them.
        ///
        /// - Parameter keys: Those of one slot together.
        private func run(
            _ script: String, _ keys: [[String]], _ arguments: [any RESPCommand.Argument], within milliseconds: Int64,
            caller: StaticString = #function
        ) async throws(RemoteFailure) -> [RESPValue] {
            guard route.cluster != nil else {
                return [try await run(script, keys.flatMap { $0 }, arguments, within: milliseconds, caller: caller)]
            }
            return try await answers(keys.map { (Self.eval(script, $0, arguments), $0[0]) }, within: milliseconds, script: caller)
        }

        /// - Parameters:
        ///   - key: One of the command's, all of which have one slot.
        ///   - place: Where it is sent in a cluster, if it has no key.
        private func answer(
            _ command: RESPCommand, _ key: String, at place: Int? = nil, within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil, script: StaticString? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            try await observed(command.name, script) { [route] () throws(RemoteFailure) in
                guard let place else { return try await route.call(command, key: key, within: milliseconds, atReply: atReply) }
                guard let cluster = route.cluster else { throw .unexpectedReply }
                return try await cluster.call(command, at: place, within: milliseconds)
            }
        }

        /// The replies of a cluster to commands with one key each, or the first failure.
        private func answers(
            _ commands: [(command: RESPCommand, key: String)], within milliseconds: Int64, script: StaticString? = nil
        ) async throws(RemoteFailure) -> [RESPValue] {
            let all = try await observed(commands.first?.command.name ?? "", script) { [route] () throws(RemoteFailure) in
                var replies: [RESPValue] = []
                for result in await route.cluster?.call(each: commands, within: milliseconds) ?? [] {
                    let reply = try result.get()
                    if case .error = reply { return reply }
                    replies.append(reply)
                }
                return .array(replies)
            }
            return all.elements ?? []
        }

        private func observed(
            _ name: String, _ script: StaticString?, _ call: () async throws(RemoteFailure) -> RESPValue
        ) async throws(RemoteFailure) -> RESPValue {
            guard ObservedCall.isInstalled else { return try Self.checked(try await call()) }
            let server = route.server
            return try await ObservedCall.run(
                .command(
                    name, script: script.map { String("\($0)".prefix { $0 != "(" }) }, host: server.host, port: server.port,
                    database: server.database)
            ) { () async -> Result<RESPValue, RemoteFailure> in
                do throws(RemoteFailure) {
                    return .success(try Self.checked(try await call()))
                } catch {
                    return .failure(error)
                }
            }.get()
        }

        private static func checked(_ reply: RESPValue) throws(RemoteFailure) -> RESPValue {
            guard case .error(let message) = reply else { return reply }
            throw RESPValue.code(ofError: message) == "OOM" ? .full : .failed(message)
        }

        /// Returns whether a script did its work.
        private func isDone(_ reply: RESPValue) throws(RemoteFailure) -> Bool {
            switch reply {
            case .integer(0): return false
            case .integer(1): return true
            default: throw .unexpectedReply
            }
        }

        /// - Parameter reply: Of GETRANGE, whose reply is empty if there is no entry.
        private func entry(_ reply: RESPValue, _ key: EntryKey) throws(RemoteFailure) -> RemoteEntry {
            try entry(reply, under: keys.value(of: key))
        }

        private func entry(_ reply: RESPValue, under name: String) throws(RemoteFailure) -> RemoteEntry {
            guard case .bytes(let bytes) = reply else { throw .unexpectedReply }
            if bytes.isEmpty { return .missing }
            guard bytes.count <= RemoteRecord.longest else { return .tooLarge }
            return RemoteRecord(bytes, under: name).map(RemoteEntry.record) ?? .damaged
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
