internal import Dispatch
internal import Tiers

/// Pieces of work that take turns: one at a time for each ``Turn``, in the order in which they came.
///
/// Costs nothing for a turn that nobody has: there is no entry for it.
final class Turns: Sendable {
    /// Those of updates, of every storage: an update of a storage excludes the others of the same key.
    static let ofUpdates = Turns()

    private let lines = Locked<[Turn: [@Sendable () -> Void]]>([:])

    /// Runs the work when it is its turn, at once where nobody has it. A caller that waits is blocked until then.
    func run<Value: Sendable>(_ turn: Turn, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        if take(turn, orElse: nil) { return leave(turn, after: work()) }
        if call.waits {
            let semaphore = DispatchSemaphore(value: 0)
            if !take(turn, orElse: { semaphore.signal() }) { semaphore.wait() }
            return leave(turn, after: work())
        }
        let promise = Promise<Value>()
        let begin: @Sendable () -> Void = { [self] in leave(turn, after: work()).deliver { promise.keep($0) } }
        // Not on the thread that leaves the turn: it has a caller of its own to answer.
        if take(turn, orElse: { Offload.start(begin) }) { begin() }
        return .later(promise)
    }

    /// Takes a turn that nobody has, or stands in line for it.
    private func take(_ turn: Turn, orElse next: (@Sendable () -> Void)?) -> Bool {
        lines.withLock { lines in
            guard lines[turn] != nil else {
                lines[turn] = []
                return true
            }
            if let next { lines[turn]?.append(next) }
            return false
        }
    }

    private func leave<Value: Sendable>(_ turn: Turn, after reply: Reply<Value>) -> Reply<Value> {
        reply.map { [self] outcome in
            let next = lines.withLock { lines -> (@Sendable () -> Void)? in
                guard let line = lines[turn], !line.isEmpty else {
                    lines[turn] = nil
                    return nil
                }
                return lines[turn]?.removeFirst()
            }
            next?()
            return outcome
        }
    }
}
