/// Who waits for which load: at most one for each key at a time, the *single-flight* of Go's `singleflight` package.
///
/// A pure value without a lock, a task or a clock; ``Loads`` is its locked shell. It is told what happens and says what
/// must be done. Numbers of flights and waiters are the caller's, and are never used twice. At most one flight for each key can be
/// joined; others of that key are under way only where they were detached.
///
/// - Complexity: O(1) for every call, O(w log w) for a landing that w wait for.
package struct SingleFlight<Key: Hashable & Sendable>: Sendable {
    package typealias Number = UInt64

    private struct Flight {
        var key: Key
        var waiters: Set<Number>
        /// Whether it goes on when nobody waits for it.
        var isKept: Bool
    }

    private var flights: [Number: Flight] = [:]
    private var numbers: [Key: Number] = [:]
    private var destinations: [Number: Number] = [:]

    package init() {}

    /// What whoever boards must do.
    package enum Boarding: Equatable {
        /// Start the loader: it is the first.
        case start
        /// Wait for what was started already.
        case join(Number)
    }

    /// What follows from a waiter's leaving.
    package enum Departure: Equatable {
        /// It was not waiting any more.
        case none
        /// Others still wait, or the flight goes on without.
        case left
        /// It was the last: this flight's loader must be cancelled. Whoever asks for its key from now on starts another.
        case abandoned(Number)
    }

    /// How many flights are under way.
    package var count: Int { flights.count }

    /// The flight that loads the key, if any.
    package func flight(of key: Key) -> Number? { numbers[key] }

    /// Whether the flight is under way: neither landed nor abandoned.
    package func isUnderWay(_ flight: Number) -> Bool { flights[flight] != nil }

    /// Adds a waiter for the key, to the flight that is under way or to a new one.
    ///
    /// - Parameters:
    ///   - isKept: Whether the flight is to go on when nobody waits any more. Once one waiter wants so it holds.
    ///   - flight: The number of the flight, if it is new.
    package mutating func board(_ key: Key, waiter: Number, isKept: Bool, newFlight flight: Number) -> Boarding {
        if let present = numbers[key] {
            flights[present]?.waiters.insert(waiter)
            if isKept { flights[present]?.isKept = true }
            destinations[waiter] = present
            return .join(present)
        }
        flights[flight] = Flight(key: key, waiters: [waiter], isKept: isKept)
        numbers[key] = flight
        destinations[waiter] = flight
        return .start
    }

    /// Starts a flight that nobody waits for, unless one is under way. Returns whether it is to be started.
    package mutating func refresh(_ key: Key, newFlight flight: Number) -> Bool {
        guard numbers[key] == nil else { return false }
        flights[flight] = Flight(key: key, waiters: [], isKept: true)
        numbers[key] = flight
        return true
    }

    /// Takes one waiter out, and no other.
    package mutating func leave(waiter: Number) -> Departure {
        guard let number = destinations.removeValue(forKey: waiter), var flight = flights.removeValue(forKey: number) else { return .none }
        flight.waiters.remove(waiter)
        if flight.waiters.isEmpty, !flight.isKept {
            forget(number, of: flight.key)
            return .abandoned(number)
        }
        flights[number] = flight
        return .left
    }

    /// Ends the flight and returns who waits for it, the lowest number first; `nil` if it was abandoned.
    package mutating func land(_ number: Number) -> [Number]? {
        guard let flight = flights.removeValue(forKey: number) else { return nil }
        forget(number, of: flight.key)
        for waiter in flight.waiters { destinations[waiter] = nil }
        return flight.waiters.sorted()
    }

    /// Lets no one else join the flight of the key: whoever asks from now on starts another. Who waits for it still does.
    package mutating func detach(_ key: Key) {
        numbers[key] = nil
    }

    /// The same for every key. O(n).
    package mutating func detachAll() {
        numbers = [:]
    }

    private mutating func forget(_ number: Number, of key: Key) {
        if numbers[key] == number { numbers[key] = nil }
    }

    /// Stops if the tables disagree: for tests. O(n).
    package func checkInvariants() {
        for (key, number) in numbers { precondition(flights[number]?.key == key, "A key that leads to no flight of its own.") }
        for (number, flight) in flights {
            precondition(flight.isKept || !flight.waiters.isEmpty, "A flight that nobody waits for.")
            for waiter in flight.waiters { precondition(destinations[waiter] == number, "A waiter for another flight.") }
        }
        precondition(destinations.count == flights.values.reduce(0) { $0 + $1.waiters.count }, "Waiters without a flight.")
    }
}
