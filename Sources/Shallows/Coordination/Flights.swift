internal import Synchronization
internal import VellumCore

/// Retrievals from the back of a composition that are under way, one for each key, and who waits for them: the locked shell of a
/// ``SingleFlight``.
final class Flights<Key: Sendable, Value: Sendable>: Sendable {
    private final class Flight: Sendable {
        let landing = Promise<Value>()
        let cancellation = Cancellation()
        /// Kept when the flight waits for code of a user's own.
        let late = Promise<Void>()
    }

    /// What retrievals must have in common to be one.
    private struct Route: Hashable, Sendable {
        var key: KeyIdentity
        /// Whether the flight was started by a call that is refused where others wait: those start their own, or they would be, too.
        var isRefusedWhenLate: Bool
    }

    private struct State: Sendable {
        var next: UInt64 = 0
        var table = SingleFlight<Route>()
        var flights: [UInt64: Flight] = [:]
    }

    private let state = Locked(State())
    /// How many are under way: looked at by every write, which most often finds none. Who has read from the back what a write then
    /// replaces has counted itself before, and both took the back's lock since.
    private let underWay = Atomic(0)

    private let landed = Atomic(0)

    /// How many have landed. Asked before the front is, it tells whether one may have filled it since.
    var landings: Int { landed.load(ordering: .acquiring) }

    /// Gives the reply of the retrieval of the key that is under way; `retrieve` starts one if there is none.
    ///
    /// Whoever cancels his call leaves; when the last has left, the retrieval is cancelled. A retrieval that asks for its own key
    /// is not made to wait for itself: it asks anew.
    func join(_ key: Key, layer: String, _ call: Call, _ retrieve: (Call) -> Reply<Value>) -> Reply<Value> {
        guard let identity = KeyIdentity(key) else { return retrieve(call) }
        let name = NamedWork.Name(owner: ObjectIdentifier(self), key: identity)
        guard !name.isCurrent else { return retrieve(call) }
        let isRefused = call.isRefusedWhenLate
        let (number, waiter, flight, isNew) = board(Route(key: identity, isRefusedWhenLate: isRefused))
        if let whenLate = call.whenLate { flight.late.whenKept { _ in whenLate() } }
        guard isNew else { return wait(for: flight, waiter, layer: layer, key, call) }

        let flying = call.cancelled(by: flight.cancellation).whenLate { flight.late.keep(.success(())) }
        let work = NamedWork(name)
        switch work.doing({ retrieve(flying) }) {
        case .now(let outcome):
            work.end()
            land(number, flight, outcome)
            return .now(outcome)
        case .later(let promise):
            promise.whenKept { [self] in
                work.end()
                land(number, flight, $0)
            }
            return wait(for: flight, waiter, layer: layer, key, call)
        }
    }

    /// Lets no one join a retrieval of the key that is under way: what it brings is old. Who waits for it asked earlier.
    func detach(_ key: Key) {
        guard underWay.load(ordering: .acquiring) > 0, let identity = KeyIdentity(key) else { return }
        state.withLock { state in
            for isRefused in [false, true] { state.table.detach(Route(key: identity, isRefusedWhenLate: isRefused)) }
        }
    }

    func detachAll() {
        state.withLock { $0.table.detachAll() }
    }

    private func board(_ route: Route) -> (number: UInt64, waiter: UInt64, Flight, isNew: Bool) {
        state.withLock { state in
            state.next += 2
            let (new, waiter) = (state.next - 1, state.next)
            // Who may be refused waits with those who may not, until it is clear that he is.
            let other = Route(key: route.key, isRefusedWhenLate: false)
            let route = state.table.flight(of: other) == nil ? route : other
            switch state.table.board(route, waiter: waiter, isKept: false, newFlight: new) {
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
        if call.isRefusedWhenLate {
            let answer = Promise<Value>()
            flight.landing.whenKept { answer.keep($0) }
            flight.late.whenKept { [self] _ in
                if answer.keep(.failure(.wouldBlock(layer: layer, key: key))) { leave(waiter) }
            }
            return .now(answer.wait())
        }
        if call.waits { return .now(flight.landing.wait()) }
        guard let cancellation = call.cancellation else { return .later(flight.landing) }
        let answer = Promise<Value>()
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
            // Before it can no longer be joined.
            landed.add(1, ordering: .acquiringAndReleasing)
            if state.flights.removeValue(forKey: number) != nil { underWay.subtract(1, ordering: .acquiringAndReleasing) }
            _ = state.table.land(number)
        }
        flight.landing.keep(outcome)
    }

    // MARK: For tests

    /// How many retrievals are under way.
    var count: Int { state.withLock { $0.flights.count } }
}
