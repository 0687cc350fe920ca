internal import Synchronization
public import VellumCore

extension LRUStorage: MemoryHolder {
    /// Says which part of the values stays when the system, or the container of the process, is
    /// short of memory (`MemoryPressure`): the most recently used. Otherwise half of them do, and
    /// an eighth if that is critical.
    ///
    /// Evicts nothing itself. Values are evicted, and released, on the thread that waits for the
    /// system, or by `MemoryPressure.announce(_:)` on its caller's: O(evicted).
    ///
    /// - Parameter fraction: From 0, none, to 1, all.
    public func trimsUnderMemoryPressure(toFraction fraction: Double) {
        keptFraction.store(min(max(fraction, 0), 1).bitPattern, ordering: .relaxed)
    }

    /// Evicts the least recently used values.
    package func release(under pressure: MemoryPressure) {
        let fraction = Double(bitPattern: keptFraction.load(ordering: .relaxed))
        let part = fraction.isNaN ? pressure.keptFraction : fraction
        trim(toCount: Int(Double(totals.entries) * part))
    }
}
