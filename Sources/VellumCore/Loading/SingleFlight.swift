/// Tracks which waiters wait for which load, with at most one load for each key: *single-flight*, as in Go's `singleflight` package.
///
/// A value type without a lock, task or clock; ``LoadCoordinator`` is its thread-safe wrapper. The caller numbers loads and waiters, and
/// never reuses a number. At most one load of each key can be joined; other loads of the key keep running only if they were detached.
///
/// - Complexity: O(1) for every call, except O(w log w) for ending a load with w waiters.
struct SingleFlight<Key: Hashable & Sendable>: Sendable {
    typealias Number = UInt64

    private struct Load {
        var key: Key
        var waiters: Set<Number>
        /// Whether the load continues when no waiter is left.
        var keepsRunning: Bool
    }

    private var loads: [Number: Load] = [:]
    private var numbers: [Key: Number] = [:]
    private var loadOfWaiter: [Number: Number] = [:]

    /// How many loads are running.
    var count: Int { loads.count }

    /// Returns the load of the key that can be joined.
    func load(of key: Key) -> Number? { numbers[key] }

    /// Whether the load is running: neither finished nor abandoned.
    func isRunning(_ load: Number) -> Bool { loads[load] != nil }

    /// Returns the waiters of a load.
    func waiters(of load: Number) -> Set<Number> { loads[load]?.waiters ?? [] }

    /// Adds a waiter to the running load of the key, or to a new load.
    ///
    /// - Parameters:
    ///   - keepsRunning: Whether the load continues when no waiter is left. `true` from one waiter is enough.
    ///   - load: The number of the load, if it is new.
    /// - Returns: The load that it waits for. If that is the new one, the caller must start the loader: it is the first waiter.
    mutating func join(_ key: Key, waiter: Number, keepsRunning: Bool, newLoad load: Number) -> Number {
        if let present = numbers[key] {
            loads[present]?.waiters.insert(waiter)
            if keepsRunning { loads[present]?.keepsRunning = true }
            loadOfWaiter[waiter] = present
            return present
        }
        loads[load] = Load(key: key, waiters: [waiter], keepsRunning: keepsRunning)
        numbers[key] = load
        loadOfWaiter[waiter] = load
        return load
    }

    /// Starts a load without waiters, unless one is running. Returns whether it was started.
    mutating func refresh(_ key: Key, newLoad load: Number) -> Bool {
        guard numbers[key] == nil else { return false }
        loads[load] = Load(key: key, waiters: [], keepsRunning: true)
        numbers[key] = load
        return true
    }

    /// Removes one waiter.
    ///
    /// - Parameter keepsRunning: Whether the load continues when no waiter is left.
    /// - Returns: The load if nobody waits for it any more and it does not continue: its loader must be cancelled. The next caller starts another.
    mutating func leave(waiter: Number, keepsRunning: Bool = false) -> Number? {
        guard let number = loadOfWaiter.removeValue(forKey: waiter), var load = loads.removeValue(forKey: number) else { return nil }
        load.waiters.remove(waiter)
        if keepsRunning { load.keepsRunning = true }
        guard load.waiters.isEmpty, !load.keepsRunning else {
            loads[number] = load
            return nil
        }
        forget(number, of: load.key)
        return number
    }

    /// Ends the load and returns its waiters, the lowest number first; `nil` if it was abandoned.
    mutating func finish(_ number: Number) -> [Number]? {
        guard let load = loads.removeValue(forKey: number) else { return nil }
        forget(number, of: load.key)
        for waiter in load.waiters { loadOfWaiter[waiter] = nil }
        return load.waiters.sorted()
    }

    /// Prevents callers from joining the load of the key; the next caller starts another. Current waiters keep waiting.
    mutating func detach(_ key: Key) {
        numbers[key] = nil
    }

    /// Prevents callers from joining any running load. O(n).
    mutating func detachAll() {
        numbers = [:]
    }

    private mutating func forget(_ number: Number, of key: Key) {
        guard let index = numbers.index(forKey: key), numbers.values[index] == number else { return }
        numbers.remove(at: index)
    }

    /// Stops the process if the tables are inconsistent. For tests. O(n).
    func checkInvariants() {
        for (key, number) in numbers { precondition(loads[number]?.key == key, "A key leads to a load of another key.") }
        for (number, load) in loads {
            precondition(load.keepsRunning || !load.waiters.isEmpty, "A load that nobody waits for goes on.")
            for waiter in load.waiters { precondition(loadOfWaiter[waiter] == number, "A waiter waits for another load.") }
        }
        precondition(loadOfWaiter.count == loads.values.reduce(0) { $0 + $1.waiters.count }, "Waiters without a load.")
    }
}
