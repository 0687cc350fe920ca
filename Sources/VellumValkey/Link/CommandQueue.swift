/// The commands that await replies, in the order in which they were sent, which is that of the replies.
///
/// A pure value. A caller that stops waiting leaves its place behind, because its reply still arrives.
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

    /// When the oldest command was sent that was not answered, in milliseconds.
    var oldestSent: Int64? { count > 0 ? commands[first].sent : nil }

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
