#if Valkey
    internal import Foundation
    internal import VellumCore
    internal import VellumRemote

    extension ValkeyBackend {
        // MARK: Commands

        /// The text of a script goes with each call: the server keeps it compiled, and forgets it
        /// when it likes.
        private static func eval(
            _ script: String,
            _ keys: [String],
            _ arguments: [any RESPCommand.Argument]
        ) -> RESPCommand {
            RESPCommand(["EVAL", script, Int64(keys.count)] + keys + arguments)
        }

        func run(
            _ script: String,
            _ keys: [String],
            _ arguments: [any RESPCommand.Argument],
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil,
            caller: StaticString = #function
        ) async throws(RemoteFailure) -> RESPValue {
            try await answer(
                Self.eval(script, keys, arguments),
                keys[0],
                within: milliseconds,
                atReply: atReply,
                script: caller
            )
        }

        /// Runs a script for keys of any slots, in one command where a server has all of them.
        ///
        /// - Parameter keys: Those of one slot together.
        func run(
            _ script: String,
            _ keys: [[String]],
            _ arguments: [any RESPCommand.Argument],
            within milliseconds: Int64,
            caller: StaticString = #function
        ) async throws(RemoteFailure) -> [RESPValue] {
            guard route.cluster != nil else {
                return [
                    try await run(
                        script,
                        keys.flatMap { $0 },
                        arguments,
                        within: milliseconds,
                        caller: caller
                    )
                ]
            }
            return try await answers(
                keys.map { (Self.eval(script, $0, arguments), $0[0]) },
                within: milliseconds,
                script: caller
            )
        }

        /// - Parameters:
        ///   - key: One of the command's, all of which have one slot.
        ///   - place: Where it is sent in a cluster, if it has no key.
        func answer(
            _ command: RESPCommand,
            _ key: String,
            at place: Int? = nil,
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil,
            script: StaticString? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            try await observed(command.name, script) { [route] () throws(RemoteFailure) in
                guard let place else {
                    return try await route.call(
                        command,
                        key: key,
                        within: milliseconds,
                        atReply: atReply
                    )
                }
                guard let cluster = route.cluster else { throw .unexpectedReply }
                return try await cluster.call(command, at: place, within: milliseconds)
            }
        }

        /// The replies of a cluster to commands with one key each, or the first failure.
        func answers(
            _ commands: [(command: RESPCommand, key: String)],
            within milliseconds: Int64,
            script: StaticString? = nil
        ) async throws(RemoteFailure) -> [RESPValue] {
            let all = try await observed(commands.first?.command.name ?? "", script) {
                [route] () throws(RemoteFailure) in
                var replies: [RESPValue] = []
                for result in await route.cluster?.call(each: commands, within: milliseconds) ?? []
                {
                    let reply = try result.get()
                    if case .error = reply { return reply }
                    replies.append(reply)
                }
                return .array(replies)
            }
            return all.elements ?? []
        }

        private func observed(
            _ name: String,
            _ script: StaticString?,
            _ call: () async throws(RemoteFailure) -> RESPValue
        ) async throws(RemoteFailure) -> RESPValue {
            guard ObservedCall.isInstalled else { return try Self.checked(try await call()) }
            let server = route.server
            return try await ObservedCall.run(
                .command(
                    name,
                    script: script.map { String("\($0)".prefix { $0 != "(" }) },
                    host: server.host,
                    port: server.port,
                    database: server.database
                )
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
        func isDone(_ reply: RESPValue) throws(RemoteFailure) -> Bool {
            switch reply {
            case .integer(0): return false
            case .integer(1): return true
            default: throw .unexpectedReply
            }
        }

        /// - Parameter reply: Of GETRANGE, whose reply is empty if there is no entry.
        func entry(_ reply: RESPValue, _ key: EntryKey) throws(RemoteFailure) -> RemoteEntry {
            try entry(reply, under: keys.value(of: key))
        }

        func entry(
            _ reply: RESPValue,
            under name: String
        ) throws(RemoteFailure) -> RemoteEntry {
            guard case .bytes(let bytes) = reply else { throw .unexpectedReply }
            if bytes.isEmpty { return .missing }
            guard bytes.count <= RemoteRecord.longest else { return .tooLarge }
            return RemoteRecord(bytes, under: name).map(RemoteEntry.record) ?? .damaged
        }
    }
#endif
