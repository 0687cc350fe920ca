internal import Synchronization
internal import Tiers

/// Retrievals from the back of a composition that are under way, one for each key, and who waits for them: the locked shell of a
/// ``SingleFlight``.
final class Flights<Key: Sendable, Value: Sendable>: Sendable {
    private final class Flight: Sendable {
        let landing = Promise<Value>(isForeign: true)
        let cancellation = Cancellation()
        let state = Locked(Progress.asking)

        /// Whether a thread may be blocked until it lands.
        enum Progress: Sendable {
            /// Its starter is still being asked, on a thread of its own.
            case asking
            case own, foreign
        }
    }

    private struct State: Sendable {
        var next: UInt64 = 0
        var table = SingleFlight<KeyIdentity>()
        var flights: [UInt64: Flight] = [:]
    }

    private let state = Locked(State())
    /// How many are under way: looked at by every write, which most often finds none. Who has read from the back what a write then
    /// replaces has counted itself before, and both took the back's lock since.
    private let underWay = Atomic(0)

    /// Gives the reply of the retrieval of the key that is under way; `retrieve` starts one if there is none.
    ///
    /// Whoever cancels his call leaves; when the last has left, the retrieval is cancelled. A retrieval that asks for its own key
    /// is not made to wait for itself: it asks anew.
    func join(_ key: Key, layer: String, _ call: Call, _ retrieve: (Call) -> Reply<Value>) -> Reply<Value> {
        guard let identity = KeyIdentity(key) else { return retrieve(call) }
        let name = FlightName(owner: ObjectIdentifier(self), key: identity)
        guard !FlightName.current.contains(name) else { return retrieve(call) }
        let (number, waiter, flight, isNew) = board(identity)
        guard isNew else { return wait(for: flight, waiter, layer: layer, key, call) }

        let call = (own: call, flight: Call(waits: call.waits, cancellation: flight.cancellation, reporter: call.reporter))
        let reply = FlightName.$current.withValue(FlightName.current + [name]) { retrieve(call.flight) }
        switch reply {
        case .now(let outcome):
            land(number, flight, outcome)
            return reply
        case .later(let promise):
            flight.state.withLock { $0 = promise.isForeign ? .foreign : .own }
            promise.whenKept { [self] in land(number, flight, $0) }
            return wait(for: flight, waiter, layer: layer, key, call.own)
        }
    }

    /// Lets no one join a retrieval of the key that is under way: what it brings is old. Who waits for it asked earlier.
    func detach(_ key: Key) {
        guard underWay.load(ordering: .acquiring) > 0 else { return }
        state.withLock { state in
            guard let identity = KeyIdentity(key) else { return }
            state.table.detach(identity)
        }
    }

    func detachAll() {
        state.withLock { $0.table.detachAll() }
    }

    private func board(_ identity: KeyIdentity) -> (number: UInt64, waiter: UInt64, Flight, isNew: Bool) {
        state.withLock { state in
            state.next += 2
            let (new, waiter) = (state.next - 1, state.next)
            switch state.table.board(identity, waiter: waiter, isKept: false, newFlight: new) {
            case .join(let number):
                guard let flight = state.flights[number] else { preconditionFailure("A flight that no one started.") }
                return (number, waiter, flight, false)
            case .start:
                let flight = Flight()
                state.flights[new] = flight
                underWay.add(1, ordering: .acquiringAndReleasing)
                return (new, waiter, flight, true)
            }
        }
    }

    private func wait(for flight: Flight, _ waiter: UInt64, layer: String, _ key: Key, _ call: Call) -> Reply<Value> {
        if call.waits {
            if flight.state.withLock({ $0 == .foreign }), Reply<Value>.isInsideTask {
                leave(waiter)
                return .failure(.wouldBlock(layer: layer, key: key))
            }
            return .now(flight.landing.wait())
        }
        guard let cancellation = call.cancellation else { return .later(flight.landing) }
        let answer = Promise<Value>(isForeign: true)
        let handler = cancellation.onCancel { [self] in
            if answer.keep(.failure(.cancelled(layer: layer, key: key))) { leave(waiter) }
        }
        flight.landing.whenKept {
            cancellation.removeHandler(handler)
            answer.keep($0)
        }
        return .later(answer)
    }

    private func leave(_ waiter: UInt64) {
        let abandoned = state.withLock { state -> Flight? in
            guard case .abandoned(let number) = state.table.leave(waiter: waiter) else { return nil }
            underWay.subtract(1, ordering: .acquiringAndReleasing)
            return state.flights.removeValue(forKey: number)
        }
        abandoned?.cancellation.cancel()
    }

    private func land(_ number: UInt64, _ flight: Flight, _ outcome: Outcome<Value>) {
        state.withLock { state in
            if state.flights.removeValue(forKey: number) != nil { underWay.subtract(1, ordering: .acquiringAndReleasing) }
            _ = state.table.land(number)
        }
        flight.landing.keep(outcome)
    }

    // MARK: For tests

    /// How many retrievals are under way.
    var count: Int { state.withLock { $0.flights.count } }
}

/// Which retrievals the code that runs is part of.
private struct FlightName: Hashable, Sendable {
    let owner: ObjectIdentifier
    let key: KeyIdentity

    @TaskLocal static var current: [FlightName] = []
}
