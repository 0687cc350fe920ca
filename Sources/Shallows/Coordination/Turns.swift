internal import Dispatch
internal import Tiers

/// Pieces of work that take turns: one at a time for each ``Turn``, in the order in which they came.
///
/// Costs nothing for a turn that nobody has: there is no entry for it.
final class Turns: Sendable {
    /// Those of updates, of every storage: an update of a storage excludes the others of the same key.
    static let ofUpdates = Turns()

    private struct Line: Sendable {
        var waiting = FirstInFirstOut<@Sendable () -> Void>()
        /// Whether whoever has the turn waits for code of a user's own.
        var isForeign = false
    }

    private let lines = Locked<[Turn: Line]>([:])

    /// Runs the work when it is its turn, at once where nobody has it. A caller that waits is blocked until then.
    func run<Value: Sendable>(
        _ turn: Turn, layer: String, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>
    ) -> Reply<Value> {
        if take(turn, orElse: nil) { return leave(turn, after: work()) }
        if call.waits {
            if Reply<Value>.isInsideTask, lines.withLock({ $0[turn]?.isForeign ?? false }) {
                return .failure(.wouldBlock(layer: layer, key: nil))
            }
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
                lines[turn] = Line()
                return true
            }
            if let next { lines[turn]?.waiting.append(next) }
            return false
        }
    }

    private func leave<Value: Sendable>(_ turn: Turn, after reply: Reply<Value>) -> Reply<Value> {
        if case .later(let promise) = reply, promise.isForeign { lines.withLock { $0[turn]?.isForeign = true } }
        return reply.map { [self] outcome in
            let next = lines.withLock { lines -> (@Sendable () -> Void)? in
                lines[turn]?.isForeign = false
                guard let next = lines[turn]?.waiting.popFirst() else {
                    lines[turn] = nil
                    return nil
                }
                return next
            }
            next?()
            return outcome
        }
    }
}
