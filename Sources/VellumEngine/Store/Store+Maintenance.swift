package import Foundation
package import VellumCore

extension Store {
    /// Removes everything that was last used before `date`: recorded or accessed.
    ///
    /// Works in small transactions, so that others can write meanwhile.
    ///
    /// - Returns: How many entries left.
    /// - Complexity: O(removed × log n).
    @discardableResult
    package func removeUnused(since date: Date) throws(VellumError) -> Int {
        let stamp = UseStamp(startOf: WallInstant(date))
        var removed = 0
        while case let keys = try disk.removeUnused(before: stamp, limit: 256), !keys.isEmpty {
            removed += keys.count
            for key in keys { release(memory.remove(key)) }
            didRemove(keys, .unused)
        }
        let memoryOnly = memory.newest(.max).filter { $0.item.row == 0 && $0.item.stamp < stamp }.map(\.key)
        for key in memoryOnly { release(memory.remove(key)) }
        didRemove(memoryOnly, .unused)
        return removed + memoryOnly.count
    }

    /// Says for how long a reader takes entries that have no age of their own: those that no reader takes any more, within a week
    /// of its last opening the store, are removed by and by, a few at a time, without anyone reading them.
    ///
    /// A reader that says nothing may find that others' entries are gone. Without any claim an entry stays that has no age of its
    /// own.
    ///
    /// Blocks for the disk where the file does not know of the claim since today.
    ///
    /// - Parameter grace: For how long beyond its end an old entry may still be asked for.
    /// - Complexity: O(claims of the store).
    /// - Throws: ``VellumError`` if the disk fails; then the claim holds for as long as this process has the store.
    package func setRetention(_ expiration: Expiration, staleWindow: Duration = .zero) throws(VellumError) {
        try disk.setRetention(expiration, staleWindow: Expiration.milliseconds(staleWindow))
    }

    /// Gives memory back until at most `size` is held there. What left is still on disk.
    ///
    /// - Complexity: O(entries that leave).
    package func trimMemory(to size: DataSize) {
        release(memory.trim(toBytes: size.bytes))
    }

    /// What the store did since it was opened, and what it holds.
    ///
    /// - Complexity: O(1).
    package func statistics() throws(VellumError) -> StoreStatistics {
        var statistics = StoreStatistics()
        statistics.disk = try disk.totals()
        statistics.memory = memory.totals()
        statistics.memoryHits = memory.hits
        owner.counters.withLock { counters in
            statistics.diskHits = counters.diskHits
            statistics.misses = counters.misses
            statistics.memoryEvictions = counters.memoryEvictions
            statistics.removals = counters.removals
            statistics.failures = counters.failures
        }
        return statistics
    }

    /// Makes everything acknowledged before it survive power loss, the order of use included. Blocks for the disk.
    package func flush() throws(VellumError) {
        try disk.flush()
    }

    /// Flushes and lets go of the file; every later call throws ``VellumError/Code/closed``. Closing twice is closing once.
    package func close() throws(VellumError) {
        try closeDisk()
        finishClosing()
    }

    /// The part of closing that may fail, and runs no code of a user's.
    package func closeDisk() throws(VellumError) { try disk.close() }

    /// The rest, which releases values: where no lock is held.
    package func finishClosing() {
        release(memory.removeAll())
        events.finish()
    }

    /// Whether the disk was let go of; then the store must be made anew.
    package var isClosed: Bool { disk.isClosed }

    /// Tells observers of a failure of which no caller was told.
    package func report(_ error: VellumError) {
        owner.archiveDidReport(.failure(error))
    }
}
