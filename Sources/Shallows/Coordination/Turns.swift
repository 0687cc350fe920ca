internal import VellumCore

/// Pieces of work that take turns: one at a time for each ``Turn``, in the order in which they came.
///
/// Costs nothing for a turn that nobody has: there is no entry for it.
final class Turns: Sendable {
    /// Those of updates, of every storage: an update of a storage excludes the others of the same key.
    static let ofUpdates = Turns()

    private struct Line: Sendable {
        /// The number of whoever has the turn.
        var holder: UInt64
        /// Whether he waits for code of a user's own.
        var isLate = false
        var waiting = FirstInFirstOut<(number: UInt64, place: Place)>()
        /// Those who wait and want to hear that he does, by their numbers.
        var concerned: [UInt64: @Sendable () -> Void] = [:]
    }

    /// A place in the line. Kept when it is its turn, or failed by whoever gave it up.
    private typealias Place = Promise<Void>

    private struct State: Sendable {
        var next: UInt64 = 0
        var lines: [Turn: Line] = [:]
    }

    private let state = Locked(State())
    /// Runs the work when it is its turn, at once where nobody has it. A caller that waits is blocked until then, and refused where
    /// that may take as long as code of a user's own.
    ///
    /// - Parameter layer: The layer that is named where it is refused.
    func run<Value: Sendable>(
        _ turn: Turn, layer: String, _ call: Call, _ work: @escaping @Sendable (Call) -> Reply<Value>
    ) -> Reply<Value> {
        let place: Place
        let number: UInt64
        switch take(turn, layer, call) {
        case .taken(let own): return hold(turn, own, call, work)
        case .late: return .failure(.wouldBlock(layer: layer, key: nil))
        case .inLine(let own, let line): (number, place) = (own, line)
        }
        if call.waits {
            // Whoever has the turn waits for this call, on this thread or in the task that it was made in.
            if name(turn).isCurrent {
                place.keep(.failure(ShallowsError(.recursiveCall, "The call would wait for itself to end.", layer: layer)))
            }
            if case .failure(let error) = place.wait() { return .failure(error) }
            return hold(turn, number, call, work)
        }
        let promise = Promise<Value>()
        let work = NamedWork.keeping(work)
        let handler = call.cancellation?.onCancel { place.keep(.failure(.cancelled(layer: layer, key: nil))) }
        place.whenKept { outcome in
            if let handler { call.cancellation?.removeHandler(handler) }
            if case .failure(let error) = outcome {
                promise.keep(.failure(error))
            } else {
                // Not on the thread that leaves the turn: it has a caller of its own to answer.
                Aside.start { self.hold(turn, number, call, work).deliver { promise.keep($0) } }
            }
        }
        return .later(promise)
    }

    private enum Taking {
        case taken(UInt64)
        case late
        case inLine(UInt64, Place)
    }

    /// Takes a turn that nobody has, or stands in line for it.
    private func take(_ turn: Turn, _ layer: String, _ call: Call) -> Taking {
        let isRefusedWhenLate = call.isRefusedWhenLate
        let (taking, isLate) = state.withLock { state -> (Taking, Bool) in
            state.next += 1
            let number = state.next
            guard let isLate = state.lines[turn]?.isLate else {
                state.lines[turn] = Line(holder: number)
                return (.taken(number), false)
            }
            guard !isLate || !isRefusedWhenLate else { return (.late, false) }
            let place = Place()
            state.lines[turn]?.waiting.append((number, place))
            if isRefusedWhenLate {
                state.lines[turn]?.concerned[number] = { place.keep(.failure(.wouldBlock(layer: layer, key: nil))) }
            } else if let whenLate = call.whenLate {
                state.lines[turn]?.concerned[number] = whenLate
            }
            return (.inLine(number, place), isLate)
        }
        if isLate { call.whenLate?() }
        return taking
    }

    private func hold<Value: Sendable>(
        _ turn: Turn, _ number: UInt64, _ call: Call, _ work: (Call) -> Reply<Value>
    ) -> Reply<Value> {
        let named = NamedWork(name(turn))
        return named.doing { work(call.whenLate { [self] in holderIsLate(turn, number) }) }.map { [self] outcome in
            named.end()
            leave(turn)
            return outcome
        }
    }

    private func name(_ turn: Turn) -> NamedWork.Name { NamedWork.Name(owner: ObjectIdentifier(self), key: KeyIdentity(turn)) }

    private func holderIsLate(_ turn: Turn, _ number: UInt64) {
        let concerned = state.withLock { state -> [@Sendable () -> Void] in
            guard state.lines[turn]?.holder == number else { return [] }
            state.lines[turn]?.isLate = true
            return state.lines[turn]?.concerned.values.map { $0 } ?? []
        }
        for tell in concerned { tell() }
    }

    /// Gives the turn to the next who still wants it.
    private func leave(_ turn: Turn) {
        while let place = next(turn), !place.keep(.success(())) {}
    }

    private func next(_ turn: Turn) -> Place? {
        state.withLock { state in
            guard let next = state.lines[turn]?.waiting.popFirst() else {
                state.lines[turn] = nil
                return nil
            }
            state.lines[turn]?.concerned[next.number] = nil
            state.lines[turn]?.holder = next.number
            state.lines[turn]?.isLate = false
            return next.place
        }
    }
}
