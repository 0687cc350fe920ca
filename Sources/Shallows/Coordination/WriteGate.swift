internal import Foundation
internal import VellumCore

/// Keeps reads that fill the front of a composition from overtaking its writes: the locked shell of a ``FillGate``.
final class WriteGate: Sendable {
    private struct State: Sendable {
        var gate = FillGate()
        /// How many writes of every key began.
        var wipes = 0
        /// Writes that wait for the fills of a stripe to end.
        var waiting: [Int: [@Sendable () -> Void]] = [:]
        var next: UInt64 = 0
        /// Fills that are under way.
        var fills: [UInt64: Fill] = [:]
        /// Writes that wait and want to hear that they wait for such a fill.
        var concerned: [UInt64: (stripes: ClosedRange<Int>, tell: @Sendable () -> Void)] = [:]

        mutating func begin(_ stripe: Int) -> UInt64 {
            next += 1
            fills[next] = Fill(stripe: stripe)
            return next
        }
    }

    private struct Fill: Sendable {
        let stripe: Int
        /// Whether it waits for code of a user's own.
        var isLate = false
    }

    private let state = Locked(State())
    /// The layer that is named where a call is refused.
    private let layer: String

    init(layer: String) {
        self.layer = layer
    }

    /// Begins a write of a key of the stripe, if neither a fill nor another write is under way. Returns whether it did; then other
    /// writes must be admitted before long, and it must be ended.
    func beginSoleWrite(_ stripe: Int) -> Bool {
        let thread = Self.thread
        return state.withLock { $0.gate.beginSoleWrite(stripe, thread) }
    }

    func admitOtherWrites(_ stripe: Int) {
        let ready = state.withLock { state in
            state.gate.admitOtherWrites(stripe)
            return state.waiting.isEmpty ? nil : state.waiting.removeValue(forKey: stripe)
        }
        for next in ready ?? [] { next() }
    }

    func end(_ stripe: Int) {
        state.withLock { $0.gate.endWrite(stripe) }
    }

    /// The thread that runs.
    private static var thread: UInt { UInt(bitPattern: Int(pthread_self())) }

    /// Runs a write of a key of the stripe: once no fill of it is under way, and no older read fills any more.
    func write<Value: Sendable>(_ stripe: Int, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        write(stripe...stripe, call, work)
    }

    /// Runs a write of every key.
    func writeAll<Value: Sendable>(_ call: Call, _ work: @escaping @Sendable () -> Reply<Value>) -> Reply<Value> {
        state.withLock { $0.wipes += 1 }
        return write(0...FillGate.stripeCount - 1, call, work)
    }

    func ticket(for stripe: Int) -> FillGate.Ticket? {
        state.withLock { $0.gate.ticket(stripe) }
    }

    /// Whether nothing was written since the ticket was given.
    func isCurrent(_ ticket: FillGate.Ticket) -> Bool { state.withLock { $0.gate.isCurrent(ticket) } }

    /// Runs a fill, if nothing was written since the ticket was given; else returns `nil`.
    func fill<Value: Sendable>(_ ticket: FillGate.Ticket, _ call: Call, _ work: (Call) -> Reply<Value>) -> Reply<Value>? {
        let number = state.withLock { state in state.gate.beginFill(ticket) ? state.begin(ticket.stripe) : nil }
        return number.map { filling($0, ticket.stripe, call, work) }
    }

    /// How many writes of every key began.
    var wipes: Int { state.withLock { $0.wipes } }

    /// Runs the end of a write that takes back what it did. Writes that begin meanwhile come after it.
    ///
    /// - Parameter work: Is told whether there was a write of every key since: then what was there before is not to come back.
    func undo<Value: Sendable>(_ stripe: Int, _ call: Call, since wipes: Int, _ work: (Bool, Call) -> Reply<Value>) -> Reply<Value> {
        let (number, wasWiped) = state.withLock { state in
            state.gate.beginUndoing(stripe)
            return (state.begin(stripe), state.wipes != wipes)
        }
        return filling(number, stripe, call) { work(wasWiped, $0) }
    }

    private func filling<Value: Sendable>(_ number: UInt64, _ stripe: Int, _ call: Call, _ work: (Call) -> Reply<Value>) -> Reply<Value> {
        let filling = call.whenLate { [self] in fillIsLate(number) }
        let named = NamedWork(name)
        return named.doing { work(filling) }.map { [self] outcome in
            named.end()
            let ready = state.withLock { state in
                state.fills[number] = nil
                return state.gate.endFill(stripe) ? state.waiting.removeValue(forKey: stripe) ?? [] : []
            }
            for next in ready { next() }
            return outcome
        }
    }

    /// What a front does while it is filled. What it writes itself does not wait for the fill.
    private var name: NamedWork.Name { NamedWork.Name(owner: ObjectIdentifier(self), key: nil) }

    private func write<Value: Sendable>(
        _ stripes: ClosedRange<Int>, _ call: Call, _ work: @escaping @Sendable () -> Reply<Value>
    ) -> Reply<Value> {
        let thread = Self.thread
        let blocked = state.withLock { state in stripes.filter { !state.gate.beginWrite($0, thread) } }
        guard !blocked.isEmpty, !name.isCurrent else { return workAndEnd(stripes, work) }
        let cleared = Promise<Void>()
        wait(for: blocked[...], thread) { cleared.keep(.success(())) }
        let number = concern(stripes, call, cleared)
        let work = NamedWork.keeping(work)
        let proceed: @Sendable (Outcome<Void>) -> Reply<Value> = { [self] outcome in
            if let number { state.withLock { $0.concerned[number] = nil } }
            guard case .failure(let error) = outcome else { return workAndEnd(stripes) { work(()) } }
            endWrite(stripes)
            return .failure(error)
        }
        if call.waits { return proceed(cleared.wait()) }
        let promise = Promise<Value>()
        // Not on the thread that ends the fill: it has a caller of its own to answer.
        cleared.whenKept { outcome in Aside.start { proceed(outcome).deliver { promise.keep($0) } } }
        return .later(promise)
    }

    private func workAndEnd<Value: Sendable>(_ stripes: ClosedRange<Int>, _ work: () -> Reply<Value>) -> Reply<Value> {
        work().map { [self] outcome in
            endWrite(stripes)
            return outcome
        }
    }

    private func endWrite(_ stripes: ClosedRange<Int>) {
        state.withLock { state in for stripe in stripes { state.gate.endWrite(stripe) } }
    }

    /// Calls `next` once nothing is in the way in any of the stripes. Nothing can come: there is a write of each.
    private func wait(for stripes: ArraySlice<Int>, _ thread: UInt, _ next: @escaping @Sendable () -> Void) {
        guard let stripe = stripes.first else { return next() }
        let isClear = state.withLock { state in
            if !state.gate.blocks(stripe, thread) { return true }
            state.waiting[stripe, default: []].append { [self] in wait(for: stripes, thread, next) }
            return false
        }
        if isClear { wait(for: stripes.dropFirst(), thread, next) }
    }

    // MARK: Fills that wait for code of a user's own

    /// Has whoever is concerned told when what he waits for is late: at once where it is.
    private func concern(_ stripes: ClosedRange<Int>, _ call: Call, _ cleared: Promise<Void>) -> UInt64? {
        let refuse: @Sendable () -> Void = { [layer] in cleared.keep(.failure(.wouldBlock(layer: layer, key: nil))) }
        guard let tell = call.isRefusedWhenLate ? refuse : call.whenLate else { return nil }
        let (number, isLate) = state.withLock { state in
            state.next += 1
            state.concerned[state.next] = (stripes, tell)
            return (state.next, state.fills.values.contains { $0.isLate && stripes.contains($0.stripe) })
        }
        if isLate { tell() }
        return number
    }

    private func fillIsLate(_ number: UInt64) {
        let concerned = state.withLock { state -> [@Sendable () -> Void] in
            guard let stripe = state.fills[number]?.stripe else { return [] }
            state.fills[number]?.isLate = true
            return state.concerned.values.filter { $0.stripes.contains(stripe) }.map(\.tell)
        }
        for tell in concerned { tell() }
    }
}
