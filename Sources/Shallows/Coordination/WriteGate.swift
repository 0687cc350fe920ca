internal import Dispatch
internal import Tiers

/// Keeps reads that fill the front of a composition from overtaking its writes: the locked shell of a ``FillGate``.
final class WriteGate<Key: Sendable>: Sendable {
    private struct State: Sendable {
        var gate = FillGate()
        /// Writes that wait for the fills of a stripe to end.
        var waiting: [Int: [@Sendable () -> Void]] = [:]
        /// How many fills wait for code of a user's own.
        var foreignFills = 0
    }

    private let state = Locked(State())
    private let stripe: @Sendable (Key) -> Int

    private let layer: String

    init(layer: String) {
        self.layer = layer
        stripe = Self.striping()
    }

    /// Runs a write of one key: once no fill of it is under way, and no older read fills any more.
    func write<Value: Sendable>(_ key: Key, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        write(stripe(key)...stripe(key), call, work)
    }

    /// Runs a write of every key.
    func writeAll<Value: Sendable>(_ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        write(0...FillGate.stripeCount - 1, call, work)
    }

    func ticket(for key: Key) -> FillGate.Ticket? {
        let stripe = stripe(key)
        return state.withLock { $0.gate.ticket(stripe) }
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

    /// The stripe of a key, where keys can be compared; else they have one in common.
    private static func striping() -> @Sendable (Key) -> Int {
        func ofHashable<Other: Hashable & SendableMetatype>(_: Other.Type) -> @Sendable (Key) -> Int {
            // `Other` is `Key`, of which the compiler does not know that it is Hashable.
            { UInt(bitPattern: unsafeBitCast($0, to: Other.self).hashValue).remainder }
        }
        guard let type = Key.self as? any (Hashable & SendableMetatype).Type else { return { _ in 0 } }
        return ofHashable(type)
    }
}

extension UInt {
    fileprivate var remainder: Int { Int(self % UInt(FillGate.stripeCount)) }
}
