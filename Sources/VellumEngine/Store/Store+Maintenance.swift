package import Foundation
package import VellumCore

extension Store {
    /// Removes every entry that was last recorded or accessed before `date`.
    ///
    /// Runs in small transactions, so that other writers are not blocked.
    ///
    /// - Returns: The number of removed entries.
    /// - Complexity: O(removed × log n).
    @discardableResult
    package func removeUnused(since date: Date) throws(VellumError) -> Int {
        guard !date.timeIntervalSince1970.isNaN else {
            throw VellumError(.invalidDuration, "The date is NaN. Give the date of a moment.")
        }
        let stamp = UseStamp(startOf: WallInstant(date))
        var removed = 0
        while case let count = try disk.removeUnused(before: stamp, limit: 256), count > 0 {
            removed += count
        }
        let memoryOnly = memory.newestMemoryOnly().filter {
            $0.item.stamp < stamp
        }.map(\.key)
        for key in memoryOnly { release(memory.remove(key)) }
        didRemove(memoryOnly, .unused)
        return removed + memoryOnly.count
    }

    /// Sets the retention policy of this reader, which applies to entries without an expiration of
    /// their own. Such an entry is reclaimed in the background once it is expired for every reader
    /// that opened the store within the last week.
    ///
    /// A reader without a policy may find that entries are gone which only it would still accept. A
    /// process without a policy removes no entry that has no expiration of its own.
    ///
    /// Blocks for the disk, unless the policy was already stored today.
    ///
    /// - Parameter staleWindow: How long after its expiry an entry may still be requested.
    /// - Complexity: O(policies of the store).
    /// - Throws: ``VellumError`` if the disk fails. The policy then applies while this process has
    ///   the store open.
    package func setRetention(
        _ expiration: Expiration,
        staleWindow: Duration = .zero
    ) throws(VellumError) {
        try disk.setRetention(expiration, staleWindow: Expiration.milliseconds(staleWindow))
    }

    /// Like ``setRetention(_:staleWindow:)``, and reports a failure: expired entries may then be
    /// gone sooner than they are requested.
    package func keepExpired(under expiration: Expiration, for window: Duration) {
        do throws(VellumError) {
            try setRetention(expiration, staleWindow: window)
        } catch {
            report(error)
        }
    }

    /// Evicts entries from memory until it holds at most `size`. Entries on disk stay there.
    ///
    /// - Complexity: O(evicted entries).
    package func trimMemory(to size: DataSize) {
        release(memory.trim(toBytes: size.bytes))
    }

    /// Evicts from memory what the disk has, because the system is short of memory.
    package func release(under pressure: MemoryPressure) {
        guard forkGuard.isThisProcess else { return }
        release(memory.trim(toFraction: pressure == .critical ? 0 : 0.5))
    }

    /// Returns counters since the store was opened, and its present size.
    ///
    /// - Complexity: O(1).
    package func statistics() throws(VellumError) -> StoreStatistics {
        var statistics = counters
        statistics.disk = try disk.totals()
        statistics.waitingCalls = Lane.allWaiting
        statistics.waitingWrites = disk.file.writes.waiting
        let limit = disk.capacity.bytes
        statistics.sizing = state.sizing(ofDisk: limit == .max ? statistics.disk.bytes : limit)
        return statistics
    }

    /// Samples uses of entries as far apart as the greatest limit that is shown.
    func sampleUses() {
        let (memory, disk) = capacities
        let (distance, isTooLarge) = max(memory.bytes, disk.bytes).multipliedReportingOverflow(
            by: 8
        )
        self.memory.sampleUses(at: clock.now(), upTo: isTooLarge ? .max : distance)
    }

    /// The counters, and the present size of memory. Does not read the disk.
    package var counters: StoreStatistics {
        var statistics = StoreStatistics()
        statistics.memory = memory.totals()
        statistics.memoryHits = memory.hits
        statistics.puts = memory.stores
        statistics.evictedSize = disk.evictedSize
        statistics.loading = loads.statistics.withLock { $0 }
        state.counters.withLock { counters in
            statistics.diskHits = counters.diskHits
            statistics.misses = counters.misses
            statistics.memoryEvictions = counters.memoryEvictions
            statistics.removals = counters.removals
            statistics.failures = counters.failures
        }
        return statistics
    }

    /// Makes every write acknowledged before, and the order of use, survive power loss. Blocks for
    /// the disk.
    package func flush() throws(VellumError) {
        try disk.flush()
    }

    /// Flushes and releases the file. Every later call throws ``VellumError/Code/closed``. Closing
    /// again has no effect.
    package func close() throws(VellumError) {
        try closeDisk()
        finishClosing()
    }

    /// Closes the disk. May fail, and runs no user-supplied code.
    func closeDisk() throws(VellumError) { try disk.close() }

    /// Releases the values in memory. Must be called without holding a lock.
    func finishClosing() {
        release(memory.removeAll())
        events.finish()
    }

    /// Whether the archive was closed; the store must be opened again then.
    package var isClosed: Bool { disk.isClosed }

    /// Reports to observers a failure that was not thrown to any caller.
    package func report(_ error: VellumError) {
        state.archiveDidReport(.failure(error))
    }

    // MARK: Another form of a value

    /// Replaces what memory holds under the key with another form of the same value. Affects
    /// neither the eviction order nor the disk.
    ///
    /// - Parameter isStill: Whether the value in memory is the one from which the new form was
    ///   made. Runs inside the memory's lock: it may compare identities, and must not run
    ///   user-supplied code. The caller still retains the replaced value, and releases it.
    package func refine(_ key: EntryKey, to value: Value, where isStill: (Value) -> Bool) {
        guard keepsValues else { return }
        memory.exchange(key) { present in
            if case .value(let old) = present, isStill(old) {
                .value(value)
            } else {
                nil
            }
        }
    }
}
