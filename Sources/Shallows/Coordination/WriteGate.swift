internal import Dispatch
internal import Tiers

/// Keeps reads that fill the front of a composition from overtaking its writes: the locked shell of a ``FillGate``.
final class WriteGate: Sendable {
    private struct State: Sendable {
        var gate = FillGate()
        /// Writes that wait for the fills of a stripe to end.
        var waiting: [Int: [@Sendable () -> Void]] = [:]
        /// How many fills wait for code of a user's own.
        var foreignFills = 0
    }

    private let state = Locked(State())

    private let layer: String

    init(layer: String) {
        self.layer = layer
    }

    /// Begins a write of keys of a stripe, if no fill is in its way. Returns whether it did; then it must be ended.
    func begin(_ stripe: Int) -> Bool {
        state.withLock { state in
            guard !state.gate.isFilling(stripe) else { return false }
            _ = state.gate.beginWrite(stripe)
            return true
        }
    }

    func end(_ stripe: Int) {
        state.withLock { $0.gate.endWrite(stripe) }
    }

    /// Runs a write of keys of a stripe: once no fill of it is under way, and no older read fills any more.
    func write<Value: Sendable>(_ stripe: Int, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        write(stripe...stripe, call, work)
    }

    /// Runs a write of every key.
    func writeAll<Value: Sendable>(_ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        write(0...FillGate.stripeCount - 1, call, work)
    }

    func ticket(for stripe: Int) -> FillGate.Ticket? {
        state.withLock { $0.gate.ticket(stripe) }
    }

    /// Whether nothing was written since the ticket was given.
    func isCurrent(_ ticket: FillGate.Ticket) -> Bool { state.withLock { $0.gate.isCurrent(ticket) } }

    /// Runs a fill, if nothing was written since the ticket was given; else returns `nil`.
    func fill<Value: Sendable>(_ ticket: FillGate.Ticket, _ work: () -> Reply<Value>) -> Reply<Value>? {
        guard state.withLock({ $0.gate.beginFill(ticket) }) else { return nil }
        let reply = work()
        let isForeign = if case .later(let promise) = reply { promise.isForeign } else { false }
        if isForeign { state.withLock { $0.foreignFills += 1 } }
        return reply.map { [self] outcome in
            let ready = state.withLock { state in
                if isForeign { state.foreignFills -= 1 }
                return state.gate.endFill(ticket) ? state.waiting.removeValue(forKey: ticket.stripe) ?? [] : []
            }
            for next in ready { next() }
            return outcome
        }
    }

    private func write<Value: Sendable>(
        _ stripes: ClosedRange<Int>, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>
    ) -> Reply<Value> {
        let blocked = state.withLock { state in stripes.filter { !state.gate.beginWrite($0) } }
        let writeAndEnd: @Sendable () -> Reply<Value> = { [self] in
            work().map { [self] outcome in
                state.withLock { state in for stripe in stripes { state.gate.endWrite(stripe) } }
                return outcome
            }
        }
        guard !blocked.isEmpty else { return writeAndEnd() }
        if call.waits, Reply<Value>.isInsideTask, state.withLock({ $0.foreignFills > 0 }) {
            state.withLock { state in for stripe in stripes { state.gate.endWrite(stripe) } }
            return .failure(.wouldBlock(layer: layer, key: nil))
        }
        let cleared = Promise<Void>()
        wait(for: blocked[...]) { cleared.keep(.success(())) }
        if call.waits {
            _ = cleared.wait()
            return writeAndEnd()
        }
        let promise = Promise<Value>()
        // Not on the thread that ends the fill: it has a caller of its own to answer.
        cleared.whenKept { _ in Offload.start { writeAndEnd().deliver { promise.keep($0) } } }
        return .later(promise)
    }

    /// Calls `next` once none of the stripes is being filled. None can begin to be: there is a write of each.
    private func wait(for stripes: ArraySlice<Int>, _ next: @escaping @Sendable () -> Void) {
        guard let stripe = stripes.first else { return next() }
        let isClear = state.withLock { state in
            if !state.gate.isFilling(stripe) { return true }
            state.waiting[stripe, default: []].append { [self] in wait(for: stripes.dropFirst(), next) }
            return false
        }
        if isClear { wait(for: stripes.dropFirst(), next) }
    }
}
