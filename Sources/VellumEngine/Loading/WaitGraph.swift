internal import Synchronization
internal import VellumCore

/// Which loads wait for which, so that one that would wait for itself is told instead.
///
/// A pure value; ``shared`` is the one of the process, because a loader of one store may ask another. Only waits from
/// inside a loader stand in it: other callers are waited for by no one.
struct WaitGraph: Sendable {
    /// The graph of this process. Its lock is taken last of all.
    static let shared = Locked(WaitGraph())

    // Whoever waits, whom for, and how many times: a loader may have child tasks that ask for the same key.
    private var waits: [UInt64: [UInt64: Int]] = [:]

    init() {}

    /// Notes that the load waits for another. Returns `false`, and notes nothing, if that one waits for it, directly or not.
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
        while let flight = open.popLast() {
            if flight == goal { return true }
            guard seen.insert(flight).inserted else { continue }
            open += waits[flight, default: [:]].keys
        }
        return false
    }
}

/// The load that a task runs in, and numbers for loads and those who wait.
enum CurrentFlight {
    /// Passed on to child tasks and to `Task { }`, but not to `Task.detached`: what that asks for is not known to be asked for
    /// by a loader, and if the loader waits for it, a circle is not found.
    @TaskLocal static var number: UInt64?

    private static let last = Atomic<UInt64>(0)

    /// A number that no other flight or waiter of this process has.
    static func newNumber() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
