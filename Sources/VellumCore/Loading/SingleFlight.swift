/// Tracks which waiters wait for which load, with at most one load for each key: *single-flight*,
/// as in Go's `singleflight` package.
///
/// A value type without a lock, task or clock; ``LoadCoordinator`` is its thread-safe wrapper. The
/// caller numbers loads and waiters, and never reuses a number. At most one load of each key can be
/// joined, and at most one other runs, which was detached: when a second one is detached and
/// another starts, the elder ends, and its waiters wait for the newest.
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
    /// Loads that nobody can join: at most one of each key.
    private var unjoinable: [Key: Number] = [:]
    /// The loads of a key that were detached, the eldest first.
    private var detached: [Key: [Number]] = [:]
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
    ///   - keepsRunning: Whether the load continues when no waiter is left. `true` from one waiter
    ///     is enough.
    ///   - load: The number of the load, if it is new.
    /// - Returns: The load that it waits for. If that is the new one, the caller must start the
    ///   loader: it is the first waiter.
    mutating func join(
        _ key: Key,
        waiter: Number,
        keepsRunning: Bool,
        newLoad load: Number
    ) -> Number {
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
    ///
    /// - Parameter isJoinable: Whether callers may join it. If not, they start another, which
    ///   counts as the only one that can be joined.
    mutating func refresh(_ key: Key, newLoad load: Number, isJoinable: Bool = true) -> Bool {
        guard numbers[key] == nil, unjoinable[key] == nil else { return false }
        loads[load] = Load(key: key, waiters: [], keepsRunning: true)
        if isJoinable { numbers[key] = load } else { unjoinable[key] = load }
        return true
    }

    /// Ends the detached loads of the key but for the newest, because that load has started. Their
    /// waiters wait for it.
    ///
    /// - Returns: The loads that ended, whose loaders must be cancelled, each with its waiters.
    mutating func endElders(
        of key: Key,
        startedBy new: Number
    ) -> [(
        load: Number, waiters: Set<Number>
    )] {
        guard let others = detached[key], others.count > 1 else { return [] }
        detached[key] = others.suffix(1)
        return others.dropLast().compactMap { number in
            guard let elder = loads.removeValue(forKey: number) else { return nil }
            for waiter in elder.waiters { loadOfWaiter[waiter] = new }
            loads[new]?.waiters.formUnion(elder.waiters)
            if elder.keepsRunning, !elder.waiters.isEmpty { loads[new]?.keepsRunning = true }
            return (number, elder.waiters)
        }
    }

    /// Removes one waiter.
    ///
    /// - Parameter keepsRunning: Whether the load continues when no waiter is left.
    /// - Returns: The load if nobody waits for it any more and it does not continue: its loader
    ///   must be cancelled. The next caller starts another.
    mutating func leave(waiter: Number, keepsRunning: Bool = false) -> Number? {
        guard let number = loadOfWaiter.removeValue(forKey: waiter),
            var load = loads.removeValue(forKey: number)
        else { return nil }
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

    /// Prevents callers from joining the load of the key; the next caller starts another. Current
    /// waiters keep waiting.
    ///
    /// - Parameter only: The load that is meant, if another may have started.
    mutating func detach(_ key: Key, only: Number? = nil) {
        guard let index = numbers.index(forKey: key), only == nil || numbers.values[index] == only
        else { return }
        detached[key, default: []].append(numbers.values[index])
        numbers.remove(at: index)
    }

    /// Prevents callers from joining any running load. O(n).
    mutating func detachAll() {
        for key in numbers.keys { detach(key) }
    }

    private mutating func forget(_ number: Number, of key: Key) {
        if let index = numbers.index(forKey: key), numbers.values[index] == number {
            numbers.remove(at: index)
        }
        if unjoinable[key] == number { unjoinable[key] = nil }
        guard let others = detached[key] else { return }
        let left = others.filter { $0 != number }
        detached[key] = left.isEmpty ? nil : left
    }

    /// Stops the process if the tables are inconsistent. For tests. O(n).
    func checkInvariants() {
        for (key, number) in numbers {
            precondition(loads[number]?.key == key, "A key leads to a load of another key.")
        }
        for (key, others) in detached {
            precondition(
                others.allSatisfy { loads[$0]?.key == key },
                "A detached load is of another key, or has ended."
            )
        }
        for (number, load) in loads {
            precondition(
                load.keepsRunning || !load.waiters.isEmpty,
                "A load that nobody waits for goes on."
            )
            for waiter in load.waiters {
                precondition(loadOfWaiter[waiter] == number, "A waiter waits for another load.")
            }
        }
        precondition(
            loadOfWaiter.count == loads.values.reduce(0) { $0 + $1.waiters.count },
            "Waiters without a load."
        )
    }
}
