/// A graph of loads that wait for other loads, which detects a load that would wait for itself.
///
/// A value type. ``shared`` is the one of this process, because a loader of one store may call
/// another store. Only waits from inside a loader are recorded; no load waits for other callers.
struct WaitGraph: Sendable {
    /// The graph of this process. Its lock is the innermost: no other lock is taken inside it.
    static let shared = Locked(WaitGraph())

    // How many times each load waits for another: a loader may have several child tasks that wait
    // for the same key.
    private var waits: [UInt64: [UInt64: Int]] = [:]

    /// Records that one load waits for another. Returns `false`, and records nothing, if that would
    /// close a cycle.
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

    /// Whether the other load is this one, or waits for it: then whoever runs as a part of this one
    /// must not wait for the other.
    func isPart(_ load: UInt64, of other: UInt64) -> Bool {
        leads(from: other, to: load)
    }

    var isEmpty: Bool { waits.isEmpty }

    private func leads(from start: UInt64, to goal: UInt64) -> Bool {
        var open: [UInt64] = [start]
        var seen: Set<UInt64> = []
        while let load = open.popLast() {
            if load == goal { return true }
            guard seen.insert(load).inserted else { continue }
            open += waits[load, default: [:]].keys
        }
        return false
    }
}
