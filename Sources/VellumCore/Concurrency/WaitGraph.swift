/// Which loads wait for which, so that a load that would wait for itself is told instead.
///
/// A pure value; ``shared`` is the one of the process, because a loader of one store may ask another. It holds only waits from
/// inside a loader: nobody waits for other callers.
struct WaitGraph: Sendable {
    /// The graph of this process. Its lock is the last in the order of locks.
    static let shared = Locked(WaitGraph())

    // Which load waits for which, and how many times: a loader may have child tasks that ask for the same key.
    private var waits: [UInt64: [UInt64: Int]] = [:]

    init() {}

    /// Records that the load waits for another. Returns `false`, and records nothing, if that one waits for it, directly or not.
    mutating func add(_ waiting: UInt64, waitsFor awaited: UInt64) -> Bool {
        guard !leads(from: awaited, to: waiting) else { return false }
        waits[waiting, default: [:]][awaited, default: 0] += 1
        return true
    }

    mutating func remove(_ waiting: UInt64, waitsFor awaited: UInt64) {
        guard let count = waits[waiting]?[awaited] else { return }
        waits[waiting]?[awaited] = count == 1 ? nil : count - 1
        if waits[waiting]?.isEmpty ?? false { waits[waiting] = nil }
    }

    var isEmpty: Bool { waits.isEmpty }

    private func leads(from start: UInt64, to goal: UInt64) -> Bool {
        var (open, seen): ([UInt64], Set<UInt64>) = ([start], [])
        while let load = open.popLast() {
            if load == goal { return true }
            guard seen.insert(load).inserted else { continue }
            open += waits[load, default: [:]].keys
        }
        return false
    }
}
