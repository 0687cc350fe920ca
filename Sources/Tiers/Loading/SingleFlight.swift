/// Who waits for which load: at most one for each key at a time, the *single-flight* of Go's `singleflight` package.
///
/// A pure value without a lock, a task or a clock; ``Loads`` is its locked shell. It is told what happens and says what
/// must be done. Numbers of flights and waiters are the caller's, and are never used twice.
///
/// - Complexity: O(1) for every call, O(w log w) for a landing that w wait for.
struct SingleFlight<Key: Hashable & Sendable>: Sendable {
    typealias Number = UInt64

    private struct Flight {
        var key: Key
        var waiters: Set<Number>
        /// Whether it goes on when nobody waits for it.
        var isKept: Bool
    }

    private var flights: [Number: Flight] = [:]
    private var numbers: [Key: Number] = [:]
    private var destinations: [Number: Number] = [:]

    init() {}

    /// What whoever boards must do.
    enum Boarding: Equatable {
        /// Start the loader: it is the first.
        case start
        /// Wait for what was started already.
        case join(Number)
    }

    /// What follows from a waiter's leaving.
    enum Departure: Equatable {
        /// It was not waiting any more.
        case none
        /// Others still wait, or the flight goes on without.
        case left
        /// It was the last: this flight's loader must be cancelled. Whoever asks for its key from now on starts another.
        case abandoned(Number)
    }

    /// How many flights are under way.
    var count: Int { flights.count }

    /// The flight that loads the key, if any.
    func flight(of key: Key) -> Number? { numbers[key] }

    /// Whether the flight is under way: neither landed nor abandoned.
    func isUnderWay(_ flight: Number) -> Bool { flights[flight] != nil }

    /// Adds a waiter for the key, to the flight that is under way or to a new one.
    ///
    /// - Parameters:
    ///   - isKept: Whether the flight is to go on when nobody waits any more. Once one waiter wants so it holds.
    ///   - flight: The number of the flight, if it is new.
    mutating func board(_ key: Key, waiter: Number, isKept: Bool, newFlight flight: Number) -> Boarding {
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
    mutating func refresh(_ key: Key, newFlight flight: Number) -> Bool {
        guard numbers[key] == nil else { return false }
        flights[flight] = Flight(key: key, waiters: [], isKept: true)
        numbers[key] = flight
        return true
    }

    /// Takes one waiter out, and no other.
    mutating func leave(waiter: Number) -> Departure {
        guard let number = destinations.removeValue(forKey: waiter), var flight = flights.removeValue(forKey: number) else { return .none }
        flight.waiters.remove(waiter)
        if flight.waiters.isEmpty, !flight.isKept {
            numbers[flight.key] = nil
            return .abandoned(number)
        }
        flights[number] = flight
        return .left
    }

    /// Ends the flight and returns who waits for it, the lowest number first; `nil` if it was abandoned.
    mutating func land(_ number: Number) -> [Number]? {
        guard let flight = flights.removeValue(forKey: number) else { return nil }
        numbers[flight.key] = nil
        for waiter in flight.waiters { destinations[waiter] = nil }
        return flight.waiters.sorted()
    }

    /// Stops if the tables disagree: for tests. O(n).
    func checkInvariants() {
        precondition(numbers.count == flights.count, "\(numbers.count) keys lead to \(flights.count) flights.")
        for (number, flight) in flights {
            precondition(numbers[flight.key] == number, "A flight that its key does not lead to.")
            precondition(flight.isKept || !flight.waiters.isEmpty, "A flight that nobody waits for.")
            for waiter in flight.waiters { precondition(destinations[waiter] == number, "A waiter for another flight.") }
        }
        precondition(destinations.count == flights.values.reduce(0) { $0 + $1.waiters.count }, "Waiters without a flight.")
    }
}
