internal import VellumCore

/// The commands that await replies, in the order in which they were sent, which is that of the
/// replies.
///
/// A pure value. A caller that stops waiting leaves its place behind, because its reply still
/// arrives.
///
/// - Complexity: O(1) for every operation unless stated otherwise.
struct CommandQueue<Caller: Sendable>: Sendable {
    private struct Command: Sendable {
        /// `nil` if no caller waits for the reply any more.
        var caller: Caller?
        var sent: Int64
        var deadline: Int64
    }

    private var commands: ContiguousArray<Command> = []
    /// The place of the first command that awaits its reply.
    private var first = 0
    /// The number of that command.
    private var firstNumber: UInt64 = 0

    var count: Int { commands.count - first }

    /// The oldest command that was not answered, and when it was sent, in milliseconds.
    var oldest: (number: UInt64, sent: Int64)? {
        count > 0 ? (firstNumber, commands[first].sent) : nil
    }

    /// Adds a command, and returns its number. Times are in milliseconds.
    mutating func append(_ caller: Caller, sent: Int64, deadline: Int64) -> UInt64 {
        commands.append(Command(caller: caller, sent: sent, deadline: deadline))
        return firstNumber + UInt64(count) - 1
    }

    /// Removes the first command, whose reply has arrived.
    ///
    /// - Returns: Who waits for it and when it was sent; `nil` if no command awaits a reply.
    mutating func popFirst() -> (caller: Caller?, sent: Int64)? {
        guard count > 0 else { return nil }
        let command = commands[first]
        commands[first].caller = nil
        first += 1
        firstNumber += 1
        if first == commands.count || first >= 1024 && first * 2 >= commands.count {
            commands.removeFirst(first)
            first = 0
        }
        return (command.caller, command.sent)
    }

    /// Takes the caller of a command, which need not wait any longer; `nil` if it does not wait.
    mutating func takeCaller(of number: UInt64) -> Caller? {
        guard number >= firstNumber, number - firstNumber < UInt64(count) else { return nil }
        let place = first + Int(number - firstNumber)
        defer { commands[place].caller = nil }
        return commands[place].caller
    }

    /// Takes the callers whose deadline has passed. O(commands).
    mutating func takeExpired(at now: Int64) -> [Caller] {
        var expired: [Caller] = []
        for place in first..<commands.count where commands[place].deadline <= now {
            if let caller = commands[place].caller { expired.append(caller) }
            commands[place].caller = nil
        }
        return expired
    }

    /// Takes all callers, and removes all commands. O(commands).
    mutating func removeAll() -> [Caller] {
        defer {
            firstNumber += UInt64(count)
            commands = []
            first = 0
        }
        return commands[first...].compactMap(\.caller)
    }
}

/// Decides whether a server answers no more. A pure value.
///
/// A reply may have arrived that the process had no time to read, on a busy machine or because it
/// was stopped. So a silence counts when it is seen twice, and what had arrived was read in
/// between.
struct SilenceWatch: Sendable {
    private var suspected: UInt64?

    /// - Parameters:
    ///   - oldest: The oldest command without a reply.
    ///   - since: When commands could be sent; `nil` if they cannot yet.
    ///   - longest: How long the server may be silent. All times are in milliseconds.
    mutating func isStuck(
        _ oldest: (number: UInt64, sent: Int64)?,
        since: Int64?,
        longest: Int64,
        at now: Int64
    ) -> Bool {
        guard let since, let oldest, now - max(oldest.sent, since) > longest else {
            suspected = nil
            return false
        }
        return exchange(&suspected, with: oldest.number) == oldest.number
    }
}
